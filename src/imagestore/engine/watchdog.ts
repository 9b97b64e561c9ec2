/** A worker thread: kills its process when the resident set passes the limit. The main thread may be busy for seconds. */
import { workerData } from 'node:worker_threads'

const SAMPLE_MS = 20
const MIB = 1024 * 1024

if (!(workerData instanceof Int32Array)) throw new TypeError('workerData must hold the limit in MiB')
const limit = workerData

setInterval(() => {
  if (process.memoryUsage.rss() / MIB > Atomics.load(limit, 0)) process.kill(process.pid, 'SIGKILL')
}, SAMPLE_MS)
