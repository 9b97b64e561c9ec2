import { keyFor } from '../api/session.ts'
import { perform, type Gesture, type Handle } from '../app/operations.ts'
import { t } from '../i18n/index.ts'
import { storeChanges } from './changes.ts'
import { showAnew, subjectOf } from './marks.ts'
import { currentOf, layOver, nextLayer, noteSent, noteStored, takeOff } from './overlay.ts'
import { readRecord } from './read-records.ts'
import type { DomainRecord } from './records.ts'

/** A note or tags. */
type Annotation = { readonly note: string } | { readonly tags: string[] }

/**
 * Replaces the note of a record, unless a colleague has changed it.
 * @param from the note that the user saw before editing it
 */
export const setNote = (record: DomainRecord, from: string, note: string): Handle | undefined =>
  annotate(record, { note: from }, { note: note.trim() })

/** Replaces the tags of a record, unless a colleague has changed them. */
export const setTags = (record: DomainRecord, tags: string[]): Handle | undefined =>
  annotate(record, { tags: record.tags ?? [] }, { tags })

function annotate(record: DomainRecord, from: Annotation, to: Annotation): Handle | undefined {
  if (JSON.stringify(from) === JSON.stringify(to)) return undefined
  return perform({ ...annotating(record, from, to), undo: () => annotating(record, to, from) })
}

function annotating(record: DomainRecord, from: Annotation, to: Annotation): Gesture {
  const { name } = record
  const key = keyFor('domainwatch')
  const layer = nextLayer()
  const what = t('note' in to ? 'note.ofNote' : 'note.ofTags', { name: `${name}.cl` })
  layOver(layer, [currentOf(record)], () => to)
  return {
    subjects: [subjectOf(name)],
    pending: t('note.saving', { what }),
    failed: (reason) => t('note.failed', { what, reason }),
    onFailed: () => takeOff(layer, [name]),
    async run() {
      const now = await readRecord(name, undefined, key)
      if (now === null) throw new Error(t('sheet.gone'))
      const present = 'note' in to ? { note: now.note ?? '' } : { tags: now.tags ?? [] }
      if (JSON.stringify(present) !== JSON.stringify(from)) {
        showAnew(now)
        throw new Error(t('note.changed', { text: textOf(present) }))
      }
      noteSent(new Map([[name, to]]))
      // It must not change between reading and storing, either.
      const refused = await storeChanges([{ domain: name, set: to, expect: { date_mod: now.date_mod } }], key)
      const [refusal] = refused.values()
      if (refusal !== undefined) {
        showAnew(refusal.record)
        throw new Error(refusal.reason)
      }
      noteStored(layer, new Map([[name, to]]))
      return { text: t('note.saved', { what }) }
    },
  }
}

function textOf(annotation: Annotation): string {
  const text = 'note' in annotation ? annotation.note : annotation.tags.join(', ')
  return text === '' ? '–' : `«${text}»`
}
