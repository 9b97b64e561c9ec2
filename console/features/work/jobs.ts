import { callApi, ConnectionError } from '../../api/client.ts'
import { withRetries } from '../../api/retry.ts'
import type { Operations } from '../../../clients/js/schema.ts'
import { tabStorage } from '../../base/browser-storage.ts'
import { localTime, serverNow } from '../../base/server.ts'
import { fetchBulk } from '../domains/changes.ts'
import { removeTask, updateTask, type Task } from './background-tasks.ts'

type Listed<Name extends 'GET /api/v1/domainwatch/bulk' | 'GET /api/v1/domainwatch/imports'> = NonNullable<
  Operations[Name]['answer']['data']
>[number]

/** Long work of the account that the service does, whether or not this page is open. */
export type ImportJob = Listed<'GET /api/v1/domainwatch/imports'>
export type BulkJob = Listed<'GET /api/v1/domainwatch/bulk'>
type Job = ImportJob | BulkJob

/** How the service is asked about one kind of jobs. */
interface JobKind<J extends Job> {
  /** The screen that shows them. */
  readonly to: string
  readonly list: (signal?: AbortSignal) => Promise<readonly J[]>
  readonly read: (id: string) => Promise<J>
  readonly stop: (id: string) => Promise<unknown>
  /** Whether a job is one that this page has requested, and does not know by its id yet. */
  readonly requested: Set<(job: J) => boolean>
}

export const BULK: JobKind<BulkJob> = {
  to: 'dominios',
  list: async (signal) => (await callApi('GET /api/v1/domainwatch/bulk', { signal })).data.data ?? [],
  read: async (id) => whole<BulkJob>((await callApi('GET /api/v1/domainwatch/bulk', { query: { id } })).data),
  stop: (id) => withRetries(() => callApi('DELETE /api/v1/domainwatch/bulk', { query: { id } })),
  requested: new Set(),
}

export const IMPORTS: JobKind<ImportJob> = {
  to: 'importar',
  list: async (signal) => (await callApi('GET /api/v1/domainwatch/imports', { signal })).data.data ?? [],
  read: async (id) =>
    whole<ImportJob>((await callApi('GET /api/v1/domainwatch/imports', { query: { id } })).data),
  stop: (id) => withRetries(() => callApi('DELETE /api/v1/domainwatch/imports', { query: { id } })),
  requested: new Set(),
}

/** An answer to a request with an id has all fields of that job. */
function whole<J extends Job>(found: Partial<J>): J {
  const isWhole = (job: Partial<J>): job is J => job.id !== undefined
  if (!isWhole(found)) throw new Error()
  return found
}

/** How often a job is asked for its progress. */
const ASK_MS = 1_000
/** A job may be created a moment before this page says that it was requested, by the clocks of both. */
const SLACK_MS = 3_000

export const isOpen = ({ state }: Job): boolean => state === 'receiving' || state === 'running'

/** The jobs that this page follows or has followed to their ends. */
const followed = new Set<string>()

export const isFollowed = (id: string): boolean => followed.has(id)

/** Whether this page will follow a job once its request is answered. */
export const isRequested = <J extends Job>({ requested }: JobKind<J>, job: J): boolean =>
  [...requested].some((isIt) => isIt(job))

const UNREPORTED_KEY = 'catalejo.jobs'
const unreported = (): readonly string[] => tabStorage.read(UNREPORTED_KEY)?.split(' ') ?? []

/** Whether this tab followed a job before it was reloaded, and has not shown how it ended. */
const isUnreported = ({ id }: Job): boolean => unreported().includes(id)

/** Remembers in this tab that the end of a job is to be shown. Returns a function that forgets it. */
export function rememberJob(id: string): () => void {
  const others = () => unreported().filter((one) => one !== id)
  tabStorage.write(UNREPORTED_KEY, [...others(), id].join(' '))
  return () => void tabStorage.write(UNREPORTED_KEY, others().join(' '))
}

/**
 * Requests a job, and after a lost answer looks whether the service has it.
 * @param isLike whether a new job of the account is like the requested one
 */
export async function requestOnce<J extends Job>(
  { list, requested }: JobKind<J>,
  request: () => Promise<string>,
  isLike: (job: J) => boolean,
  onWait: () => void,
  signal?: AbortSignal,
): Promise<string> {
  const since = localTime(serverNow() - SLACK_MS)
  const isIt = (job: J) => !followed.has(job.id) && job.created_at >= since && isLike(job)
  requested.add(isIt)
  let isUnknown = false
  try {
    return await withRetries(
      async () => {
        const found = isUnknown ? (await list()).find(isIt) : undefined
        if (found !== undefined) return found.id
        try {
          return await request()
        } catch (error) {
          isUnknown ||= error instanceof ConnectionError
          throw error
        }
      },
      signal,
      onWait,
    )
  } finally {
    requested.delete(isIt)
  }
}

/** Shows a job in the bar, and resolves to it once it has ended. Breaks of the connection are waited for. */
export async function followJob<J extends Job>(
  { to, read, stop }: JobKind<J>,
  id: string,
  describe: (job: J) => Pick<Task, 'label' | 'progress'>,
): Promise<J> {
  followed.add(id)
  const task = { id: `job-${id}`, to, isHandedOver: true, stop: () => void stop(id).catch(() => undefined) }
  try {
    for (;;) {
      const job = await withRetries(() => read(id))
      updateTask({ ...task, ...describe(job) })
      if (!isOpen(job)) return job
      await new Promise((resolve) => setTimeout(resolve, ASK_MS))
    }
  } catch (error) {
    // To be followed again, as with another key.
    followed.delete(id)
    throw error
  } finally {
    removeTask(task.id)
  }
}

/** Shows the jobs of the account that the service continues, as after a reload, and changes that ended during it. */
export async function resumeJobs(signal: AbortSignal): Promise<void> {
  const list = () => Promise.all([BULK.list(signal), IMPORTS.list(signal)])
  const [changes, imports] = await withRetries(list, signal)
  const openChanges = changes.filter((job) => isOpen(job) || isUnreported(job))
  const openImports = imports.filter(isOpen)
  if (openChanges.length > 0) (await fetchBulk()).resumeBulk(openChanges)
  if (openImports.length > 0) (await import('../import/imports.ts')).resumeImports(openImports)
}
