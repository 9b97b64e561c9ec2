import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

const MIB = 1024 * 1024
/** A job may be this much dearer than its estimate before its process dies. */
const TOLERANCE = 1.5
const HEADROOM = 160 * MIB

export interface MemoryGuard {
  /** From now on the process dies once it has grown by well over `bytes`. */
  allow(bytes: number): void
}

/** Starts the thread that watches this process's resident set: decoders allocate outside the heap, where Node sets no limit. */
export function startMemoryGuard(): MemoryGuard {
  const limit = new Int32Array(new SharedArrayBuffer(4))
  const set = (bytes: number): void => {
    Atomics.store(limit, 0, Math.ceil((process.memoryUsage.rss() + bytes * TOLERANCE + HEADROOM) / MIB))
  }
  set(HEADROOM)
  const file = new URL(`./watchdog${extname(import.meta.url)}`, import.meta.url)
  new Worker(file, { workerData: limit, execArgv: [] }).unref()
  return { allow: set }
}
