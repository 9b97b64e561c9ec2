const MIB = 1024 * 1024
/** A job may be this much dearer than its estimate before its process dies. */
const TOLERANCE = 1.5
const HEADROOM = 160 * MIB
const SAMPLE_MS = 20

export interface MemoryGuard {
  /** From now on the process dies once it has grown by well over `bytes`. */
  allow(bytes: number): void
  /** Nothing runs that could grow: nobody looks. */
  rest(): void
}

/**
 * Watches this process's resident set: decoders allocate outside the heap, where Node sets no limit. From the main thread, which has
 * nothing else to do while they work in threads of the library; a thread of its own would take 14 MB for each process. What
 * the main thread does itself, hashes above all, takes memory that is known beforehand.
 */
export function startMemoryGuard(): MemoryGuard {
  let limit = Infinity
  let timer: NodeJS.Timeout | undefined
  const look = (): void => {
    if (process.memoryUsage.rss() > limit) process.kill(process.pid, 'SIGKILL')
  }
  return {
    allow(bytes) {
      limit = process.memoryUsage.rss() + bytes * TOLERANCE + HEADROOM
      timer ??= setInterval(look, SAMPLE_MS)
    },
    rest() {
      clearInterval(timer)
      timer = undefined
    },
  }
}
