import type { BulkProgress, BulkRequest, JobRow, UndoRequest } from '../jobs/job.ts'

const MARKS = ['seen', 'revision', 'discarded', 'reserved', 'note'] as const

/** Fields that change along with others. */
const DERIVED = ['date_mod', 'deleted_at', 'discarded_at', 'deleted_after']

/**
 * Returns a predicate on changes of an account: whether one was made by these jobs of it. The log does not name the job, but
 * each job has a range of ids, and fields that it sets. A change of the same fields while it ran counts as its own.
 */
export function madeByJobs(jobs: readonly JobRow[]): (id: number, fields: readonly string[]) => boolean {
  const requests = new Map(jobs.map((job) => [job.id, job.request]))
  const ranges = jobs.flatMap((job) => {
    const { first, last }: BulkProgress = JSON.parse(job.progress)
    if (first === undefined || last === undefined) return []
    if (job.kind === 'import') return [{ first, last, sets: isListed }]
    const undone: UndoRequest | undefined = job.kind === 'undo' ? JSON.parse(job.request) : undefined
    const request = undone === undefined ? job.request : requests.get(undone.of)
    const fields = request === undefined ? undefined : fieldsSetBy(JSON.parse(request))
    return [{ first, last, sets: (field: string) => fields === undefined || fields.includes(field) }]
  })
  return (id, fields) => {
    const own = fields.filter((field) => !DERIVED.includes(field))
    return ranges.some(({ first, last, sets }) => id > first && id <= last && own.every(sets))
  }
}

/** Whether lists of the registry change a field: members decide on the others. */
const isListed = (field: string): boolean => ![...MARKS, 'tags'].includes(field)

/** Returns the fields that a bulk change sets, as the history names them. */
function fieldsSetBy({ set }: BulkRequest): readonly string[] {
  const hasTags = set.addTags.length + set.removeTags.length > 0
  return [...MARKS.filter((mark) => set[mark] !== null), ...(hasTags ? ['tags'] : [])]
}
