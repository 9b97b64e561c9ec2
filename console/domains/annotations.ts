import { untilAnswered } from '../api/retry.ts'
import { keyFor, onKeyRemoved } from '../api/session.ts'
import { runOperation, type OperationSpec, type OperationHandle } from '../app/operations.ts'
import { createStore } from '../app/store.ts'
import { guardWork } from '../app/unsaved-work.ts'
import { t } from '../i18n/index.ts'
import { storeChanges } from './changes.ts'
import { showCurrent, subjectOf } from './marks.ts'
import {
  currentRecord,
  applyPending,
  nextUpdateId,
  recordSent,
  recordStored,
  revertPending,
} from './optimistic-updates.ts'
import { readRecord } from './read-record.ts'
import type { DomainRecord } from './records.ts'
import '../i18n/texts/sheet.ts'

/** A note or tags. */
type Annotation = { readonly note: string } | { readonly tags: string[] }

/** Attempts while others change the record in other ways. */
const MAX_ATTEMPTS = 5
/** Maximum number of texts that are kept; the oldest are dropped. */
const MAX_DRAFTS = 50

/** Notes that could not be saved, by name, so that no text is lost. */
export const unsavedNotes = createStore<ReadonlyMap<string, string>>(new Map())

guardWork(() => unsavedNotes.get().size > 0)

onKeyRemoved(() => unsavedNotes.set(new Map()))

/** Keeps a text that could not be saved; undefined drops it. */
export function keepNote(name: string, text: string | undefined): void {
  const others = [...unsavedNotes.get()].filter(([one]) => one !== name)
  const kept = text === undefined ? others : [...others, [name, text] as const]
  if (kept.length > 0 || unsavedNotes.get().size > 0) unsavedNotes.set(new Map(kept.slice(-MAX_DRAFTS)))
}

/**
 * Replaces the note of a record, unless a colleague has changed it.
 * @param from the note that the user saw before editing it
 */
export function setNote(record: DomainRecord, from: string, note: string): OperationHandle | undefined {
  const { name } = record
  const text = note.trim()
  keepNote(name, undefined)
  if (text === from) return undefined
  const handle = annotate(record, { note: from }, { note: text })
  if (handle === undefined) keepNote(name, text)
  // A newer text is not replaced by an older one.
  void handle?.settled.then((state) => {
    if (state === 'failed' && !unsavedNotes.get().has(name)) keepNote(name, text)
  })
  return handle
}

/** Replaces the tags of a record, unless a colleague has changed them. */
export const setTags = (record: DomainRecord, tags: string[]): OperationHandle | undefined =>
  annotate(record, { tags: record.tags ?? [] }, { tags })

function annotate(record: DomainRecord, from: Annotation, to: Annotation): OperationHandle | undefined {
  if (JSON.stringify(from) === JSON.stringify(to)) return undefined
  return runOperation({ ...annotating(record, from, to), undo: () => annotating(record, to, from) })
}

function annotating(record: DomainRecord, from: Annotation, to: Annotation): OperationSpec {
  const { name } = record
  const key = keyFor('domainwatch')
  const updateId = nextUpdateId()
  const what = t('note' in to ? 'note.ofNote' : 'note.ofTags', { name: `${name}.cl` })
  const doing = t('note.saving', { what })
  applyPending(updateId, [currentRecord(record)], () => to)
  return {
    subjects: [subjectOf(name)],
    pending: doing,
    failed: (reason) => t('note.failed', { what, reason }),
    onFailed: () => revertPending(updateId, [name]),
    async run(tell) {
      recordSent(updateId, new Map([[name, to]]))
      await untilAnswered(
        () => store(name, key, from, to),
        () => tell(t('operation.held', { text: doing })),
      )
      recordStored(updateId, new Map([[name, to]]))
      return { text: t('note.saved', { what }) }
    },
  }
}

/** Safe to repeat: what an earlier attempt stored is left as it is. */
async function store(name: string, key: string | undefined, from: Annotation, to: Annotation): Promise<void> {
  let now = await readRecord(name, undefined, key)
  for (let attempt = 1; ; attempt++) {
    if (now === null) throw new Error(t('domains.gone'))
    const present = 'note' in to ? { note: now.note ?? '' } : { tags: now.tags ?? [] }
    if (JSON.stringify(present) === JSON.stringify(to)) return
    if (JSON.stringify(present) !== JSON.stringify(from)) {
      showCurrent(now)
      throw new Error(t('note.changed', { text: textOf(present) }))
    }
    // It must not change between reading and storing, either.
    const refused = await storeChanges([{ domain: name, set: to, expect: { date_mod: now.date_mod } }], key)
    const [refusal] = refused.values()
    if (refusal === undefined) return
    showCurrent(refusal.record)
    if (refusal.record === undefined || attempt === MAX_ATTEMPTS) throw new Error(refusal.reason)
    // Perhaps only something else of it has changed.
    now = refusal.record
  }
}

function textOf(annotation: Annotation): string {
  const text = 'note' in annotation ? annotation.note : annotation.tags.join(', ')
  return text === '' ? '–' : `«${text}»`
}
