import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { Overload } from './errors.ts'
import { FairSlots } from './fair-slots.ts'

/** Tasks in line for a thread, and how long one may take in all. */
const MAX_WAITING = 128
const MAX_WAITING_PER_CLIENT = 64
const TASK_TIMEOUT_MS = 30_000
/** The same of one that nobody waits for: two million records take a slow machine a minute to put in order. */
export const UNHURRIED_MS = 600_000
const IDLE_MS = 60_000

/**
 * Names a module whose default export is a task: `fn(input) => output`, run in another thread. Its extension is
 * that of the caller: .ts in a checkout, .js in the packed release.
 */
export function taskModule(relative: string, importMeta: ImportMeta): string {
  return fileURLToPath(new URL(relative + extname(importMeta.url), importMeta.url))
}

/** Runs work that would hold the event loop in a bounded pool of threads. */
export interface Tasks {
  /**
   * @param module from `taskModule`
   * @param transfer buffers that move to the thread instead of being copied; the caller loses them
   * @param timeoutMs how long it may take in all, the wait for a thread included
   * @param client on whose behalf: clients share the threads fairly; undefined for the service itself
   * @throws Overload when the line is full or the time is up
   */
  run<Input, Output>(
    module: string,
    input: Input,
    transfer?: ArrayBuffer[],
    timeoutMs?: number,
    client?: string,
  ): Promise<Output>
  readonly waiting: number
  close(): Promise<void>
}

export function createTasks(threads: number): Tasks {
  const pool = new Piscina({
    minThreads: 1,
    maxThreads: threads,
    maxQueue: MAX_WAITING,
    idleTimeout: IDLE_MS,
  })
  const turns = new FairSlots({
    slots: threads,
    slotsPerClient: threads,
    maxWaiting: MAX_WAITING,
    maxWaitingPerClient: MAX_WAITING_PER_CLIENT,
    timeoutMs: TASK_TIMEOUT_MS,
  })
  return {
    async run(module, input, transfer = [], timeoutMs = TASK_TIMEOUT_MS, client) {
      const signal = AbortSignal.timeout(timeoutMs)
      const work = () => pool.run(input, { filename: module, transferList: transfer, signal })
      try {
        return await (client === undefined ? work() : turns.run(client, work))
      } catch (error) {
        if (error instanceof Error && isOverload(error)) throw new Overload()
        throw error
      }
    },
    get waiting() {
      return pool.queueSize + turns.waiting
    },
    close: () => pool.destroy(),
  }
}

/** A thread that cannot be started wants memory or files that others have at the moment. */
function isOverload(error: Error): boolean {
  const wantsThread = 'code' in error && error.code === 'ERR_WORKER_INIT_FAILED'
  return wantsThread || error.name === 'AbortError' || error.message === 'Task queue is at limit'
}
