const MIB = 1024 * 1024
/** A job may take this many times its estimate before its process is killed. */
const TOLERANCE = 1.5
const HEADROOM = 160 * MIB
const SAMPLE_MS = 20

export interface MemoryGuard {
  /** Starts to watch: kills the process once it has grown by well over `bytes`. */
  allow(bytes: number): void
  /** Stops watching. */
  stop(): void
}

/**
 * Watches the resident set of this process, because decoders allocate outside the heap, where Node sets no limit. Runs on
 * the main thread, which is free while the library's threads decode; a thread of its own would take 14 MB per process. What
 * the main thread itself computes, such as hashes, takes a known amount of memory.
 */
export function startMemoryGuard(): MemoryGuard {
  let limit = Infinity
  let timer: NodeJS.Timeout | undefined
  return {
    allow(bytes) {
      limit = process.memoryUsage.rss() + bytes * TOLERANCE + HEADROOM
      timer ??= setInterval(() => {
        if (process.memoryUsage.rss() > limit) process.kill(process.pid, 'SIGKILL')
      }, SAMPLE_MS)
    },
    stop() {
      clearInterval(timer)
      timer = undefined
    },
  }
}
