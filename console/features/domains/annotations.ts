import { useMemo } from 'react'
import { useApi } from '../../api/query-client.ts'
import { untilAnswered } from '../../api/retry.ts'
import { runOperation, type OperationSpec, type OperationHandle } from '../work/operations.ts'
import { createStore, useStore } from '../../base/store.ts'
import { guardWork } from '../../base/unsaved-work.ts'
import { MAX_TAG_CHARACTERS } from '../../base/constants.ts'
import { t } from '../../i18n/index.ts'
import { toSubject, replaceValues } from './marks.ts'
import {
  currentRecord,
  applyPending,
  nextUpdateId,
  patches,
  recordSent,
  recordStored,
  revertPending,
} from './optimistic-updates.ts'
import type { DomainRecord } from './records.ts'
import '../../i18n/texts/sheet.ts'

/** A note or tags. */
type Annotation = { readonly note: string } | { readonly tags: string[] }

/** Maximum number of texts that are kept; the oldest are dropped. */
const MAX_DRAFTS = 50

/** Texts of notes that could not be saved, by the name of the record. Oldest first. */
const unsavedNotes = createStore<ReadonlyMap<string, string>>(new Map())

guardWork(() => unsavedNotes.get().size > 0)

/** The text of the user for the note of a record that could not be saved. */
export const useUnsavedNote = (name: string): string | undefined => useStore(unsavedNotes).get(name)

/** Keeps a text that could not be saved; undefined drops it. */
export function keepNote(name: string, text: string | undefined): void {
  const others = [...unsavedNotes.get()].filter(([other]) => other !== name)
  const notes = text === undefined ? others : [...others, [name, text] as const].slice(-MAX_DRAFTS)
  unsavedNotes.set(new Map(notes))
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
  void handle?.settled.then((state) => {
    // A newer text is not replaced by an older one.
    if (state === 'failed' && !unsavedNotes.get().has(name)) keepNote(name, text)
  })
  return handle
}

/** Replaces the tags of a record, unless a colleague has changed them. */
export const setTags = (record: DomainRecord, tags: string[]): OperationHandle | undefined =>
  annotate(record, { tags: record.tags ?? [] }, { tags })

function annotate(record: DomainRecord, from: Annotation, to: Annotation): OperationHandle | undefined {
  if (JSON.stringify(from) === JSON.stringify(to)) return undefined
  return runOperation({
    ...annotating(record, from, to),
    undo: () => annotating(record, to, from),
  })
}

function annotating(record: DomainRecord, from: Annotation, to: Annotation): OperationSpec {
  const { name } = record
  const updateId = nextUpdateId()
  const what = t('note' in to ? 'note.ofNote' : 'note.ofTags', { name: `${name}.cl` })
  applyPending(updateId, [currentRecord(record)], () => to)
  return {
    subjects: [toSubject(name)],
    pending: t('note.saving', { what }),
    failed: (reason) => t('note.failed', { what, reason }),
    onFailed: () => revertPending(updateId, [name]),
    async run({ onWait }) {
      recordSent(updateId, new Map([[name, to]]))
      await untilAnswered(() => store(name, from, to), onWait)
      recordStored(updateId, new Map([[name, to]]))
      return { text: t('note.saved', { what }) }
    },
  }
}

function store(name: string, from: Annotation, to: Annotation): Promise<void> {
  return replaceValues(name, to, (now) => {
    const present = 'note' in to ? { note: now.note ?? '' } : { tags: now.tags ?? [] }
    if (JSON.stringify(present) === JSON.stringify(to)) return 'done'
    if (JSON.stringify(present) === JSON.stringify(from)) return 'expected'
    return { conflict: t('note.changed', { text: textOf(present) }) }
  })
}

function textOf(annotation: Annotation): string {
  const text = 'note' in annotation ? annotation.note : annotation.tags.join(', ')
  return text === '' ? '–' : `«${text}»`
}

const TAG = new RegExp(`^[\\p{L}\\p{N}-]{1,${MAX_TAG_CHARACTERS}}$`, 'u')

export const isTag = (text: string): boolean => TAG.test(text)

const FRESH_MS = 5 * 60_000
const MAX_USED_TAGS = 1_000

/** The tags in use, the most frequent first, and those that were set here. */
export function useUsedTags(isWanted: boolean): readonly string[] {
  const { data } = useApi(['tags'], 'GET /api/v1/domainwatch/stats', {
    query: { tags: MAX_USED_TAGS, agents: 1 },
    enabled: isWanted,
    staleTime: FRESH_MS,
    select: ({ tags }) => tags?.tag ?? [],
  })
  const own = useStore(patches)
  return useMemo(() => {
    if (!isWanted) return []
    return [...new Set([...(data ?? []), ...[...own.values()].flatMap(({ tags = [] }) => tags)])]
  }, [data, own, isWanted])
}
