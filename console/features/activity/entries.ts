import { isOpen, type BulkJob } from '../work/jobs.ts'
import { undoableFields, type Change } from './undo.ts'

/** A change, or a bulk change, and whether the account has undone it. */
export type Entry = {
  readonly key: string
  readonly date: string
  readonly isUndone: boolean
} & ({ readonly change: Change } | { readonly job: BulkJob })

/**
 * Returns changes and ended jobs, newest first.
 * @param since the time of the oldest entry, in the time zone of the service
 */
export function toEntries(changes: readonly Change[], jobs: readonly BulkJob[], since: string): Entry[] {
  // An undo that found all records changed since has undone nothing.
  const undone = new Set(jobs.filter((job) => isOpen(job) || job.done > 0).map(({ undo_of }) => undo_of))
  const ended = jobs.filter((job) => job.undo_of === null && !isOpen(job) && job.created_at >= since)
  const ofJobs = ended.map((job): Entry => ({
    key: job.id,
    date: job.created_at,
    isUndone: undone.has(job.id),
    job,
  }))
  // Stable: changes of the same second keep the order of the service.
  return [...withoutUndoing(changes), ...ofJobs].sort((a, b) =>
    a.date < b.date ? 1 : a.date > b.date ? -1 : 0,
  )
}

/** A change that gives back what an earlier one took is shown as a mark of the earlier one. */
function withoutUndoing(changes: readonly Change[]): Entry[] {
  /** Changes that may undo an earlier one, by what such a change did. */
  const undoing = new Map<string, number[]>()
  const hidden = new Set<number>()
  const undone = new Set<number>()
  for (const [i, change] of changes.entries()) {
    const fields = undoableFields(change) ?? []
    const pick = (side: Change['from']) => fields.map((field) => [field, side?.[field]])
    const key = (before: Change['from'], after: Change['from']) =>
      JSON.stringify([change.name, pick(before), pick(after)])
    const by = undoing.get(key(change.from, change.to))?.pop()
    if (by !== undefined) {
      hidden.add(by)
      undone.add(i)
      continue
    }
    const inverse = key(change.to, change.from)
    undoing.set(inverse, [...(undoing.get(inverse) ?? []), i])
  }
  return changes.flatMap((change, i): Entry[] => {
    if (hidden.has(i)) return []
    // Counted from the oldest, it stays the same when newer ones come.
    const key = `${change.name} ${changes.length - i}`
    return [{ key, date: change.date, isUndone: undone.has(i), change }]
  })
}
