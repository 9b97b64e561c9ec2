/**
 * Loaded ahead of each test file. The runner waits without limit for a process that a test has left something open in: it
 * is ended here once all tests are done, and counts as failed.
 */
import { isMainThread } from 'node:worker_threads'

/** Sockets and children that are being closed end without help. */
const GRACE_MS = 10_000

// Threads load this file as well. The test runner in the threads of a service would be a tenth of the work to start it.
if (isMainThread) {
  const { after } = await import('node:test')
  after(() => {
    setTimeout(() => {
      console.error(`tests left open: ${process.getActiveResourcesInfo().join(', ')}`)
      process.exit(1)
    }, GRACE_MS).unref()
  })
}
