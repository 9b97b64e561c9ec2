import { callApi, ConnectionError } from '../../api/client.ts'
import { withRetries } from '../../api/retry.ts'
import type { Operations } from '../../api/schema.ts'
import { tabStorage } from '../../base/browser-storage.ts'
import { fetchBulk } from '../domains/changes.ts'

type Listed<Name extends 'GET /api/v1/domainwatch/bulk' | 'GET /api/v1/domainwatch/imports'> = NonNullable<
  Operations[Name]['answer']['data']
>[number]

/** Long work of the account that the service does, whether or not this page is open. */
export type ImportJob = Listed<'GET /api/v1/domainwatch/imports'>
export type BulkJob = Listed<'GET /api/v1/domainwatch/bulk'>
type Job = ImportJob | BulkJob

/** How often a job is asked for its progress. */
const ASK_MS = 1_000

export const isOpen = ({ state }: Job): boolean => state === 'receiving' || state === 'running'

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

export async function listBulk(signal?: AbortSignal): Promise<readonly BulkJob[]> {
  return (await callApi('GET /api/v1/domainwatch/bulk', { signal })).data.data ?? []
}

export async function listImports(signal?: AbortSignal): Promise<readonly ImportJob[]> {
  return (await callApi('GET /api/v1/domainwatch/imports', { signal })).data.data ?? []
}

export async function readBulk(id: string): Promise<BulkJob> {
  const { data } = await callApi('GET /api/v1/domainwatch/bulk', { query: { id } })
  return whole<BulkJob>(data)
}

export async function readImport(id: string): Promise<ImportJob> {
  const { data } = await callApi('GET /api/v1/domainwatch/imports', { query: { id } })
  return whole<ImportJob>(data)
}

export const stopBulk = (id: string) =>
  withRetries(() => callApi('DELETE /api/v1/domainwatch/bulk', { query: { id } }))

export const stopImport = (id: string) =>
  withRetries(() => callApi('DELETE /api/v1/domainwatch/imports', { query: { id } }))

/** An answer to a request with an id has all fields of that job. */
function whole<J extends Job>(found: Partial<J>): J {
  const isWhole = (job: Partial<J>): job is J => job.id !== undefined
  if (!isWhole(found)) throw new Error()
  return found
}

/** Resolves to a job once it has ended. Breaks of the connection are waited for. */
export async function untilEnded<J extends Job>(
  read: () => Promise<J>,
  tell: (job: J) => void,
  signal?: AbortSignal,
): Promise<J> {
  for (;;) {
    const job = await withRetries(read, signal)
    tell(job)
    if (!isOpen(job)) return job
    await new Promise((resolve) => setTimeout(resolve, ASK_MS))
  }
}

/**
 * Requests a job, and after a lost answer looks whether the service has it.
 * @param find finds it among the jobs of the account
 */
export async function requestOnce(
  request: () => Promise<string>,
  find: () => Promise<string | undefined>,
  onWait: () => void,
  signal?: AbortSignal,
): Promise<string> {
  let isUnknown = false
  return withRetries(
    async () => {
      const found = isUnknown ? await find() : undefined
      if (found !== undefined) return found
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
}

/** Shows the jobs of the account that the service continues, as after a reload, and changes that ended during it. */
export async function resumeJobs(signal: AbortSignal): Promise<void> {
  const list = () => Promise.all([listBulk(signal), listImports(signal)])
  const [changes, imports] = await withRetries(list, signal)
  const [openChanges, openImports] = [
    changes.filter((job) => isOpen(job) || isUnreported(job)),
    imports.filter(isOpen),
  ]
  if (openChanges.length > 0) (await fetchBulk()).resumeBulk(openChanges)
  if (openImports.length > 0) (await import('../import/imports.ts')).resumeImports(openImports)
}
