import { fetchChunk } from '../design/chunk.tsx'
import { withRetries } from '../api/retry.ts'
import { keyFor } from '../api/session.ts'
import { bulk } from '../features/domains/chunks.ts'
import { isOpen, isUnreported, listBulk, listImports } from '../features/work/jobs.ts'

/** Shows the jobs of the account that the service continues, as after a reload, and changes that ended during it. */
export async function resumeJobs(signal: AbortSignal): Promise<void> {
  const key = keyFor('domainwatch')
  const list = () => Promise.all([listBulk(key, signal), listImports(key, signal)])
  const [changes, imports] = await withRetries(list, signal)
  const [openChanges, openImports] = [
    changes.filter((job) => isOpen(job) || isUnreported(job)),
    imports.filter(isOpen),
  ]
  if (openChanges.length > 0) (await fetchChunk(bulk)).resumeBulk(openChanges, key)
  if (openImports.length > 0) (await import('../features/import/imports.ts')).resumeImports(openImports, key)
}
