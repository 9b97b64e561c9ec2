/**
 * Loaded ahead of each test file. The runner waits without limit for a process that a test has left something open in: it
 * is ended here once all tests are done, and counts as failed.
 */
import { after } from 'node:test'

/** Sockets and children that are being closed end without help. */
const GRACE_MS = 10_000

after(() => {
  setTimeout(() => {
    console.error(`tests left open: ${process.getActiveResourcesInfo().join(', ')}`)
    process.exit(1)
  }, GRACE_MS).unref()
})
