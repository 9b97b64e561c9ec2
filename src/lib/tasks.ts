import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { Overload } from './errors.ts'
import { FairSlots, WaitAborted } from './fair-slots.ts'

/** Tasks in line for a thread, whose memory others limit, and how long one may take in all. */
const MAX_WAITING = 1_024
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

export interface TaskOptions {
  /** Buffers that move to the thread instead of being copied; the caller loses them. */
  readonly transfer?: ArrayBuffer[]
  /** How long it may take in all, the wait for a thread included. */
  readonly timeoutMs?: number
  /** Whose request the task is for: clients take turns. Without one it is work of the service itself. */
  readonly client?: string
}

/** Runs work that would hold the event loop in a bounded pool of threads. */
export interface Tasks {
  /**
   * @param module from `taskModule`
   * @throws Overload when the line is full or the time is up
   */
  run<Input, Output>(module: string, input: Input, options?: TaskOptions): Promise<Output>
  /** Tasks that wait for a thread. */
  readonly waiting: number
  close(): Promise<void>
}

/** @param threads for requests; as many again for the service's own work, started when they are needed */
export function createTasks(threads: number): Tasks {
  const pool = new Piscina({
    minThreads: 1,
    maxThreads: 2 * threads,
    maxQueue: MAX_WAITING,
    idleTimeout: IDLE_MS,
  })
  const requests = slotsFor(threads, TASK_TIMEOUT_MS)
  const own = slotsFor(threads, UNHURRIED_MS)

  async function run<Input, Output>(
    module: string,
    input: Input,
    { transfer = [], timeoutMs = TASK_TIMEOUT_MS, client }: TaskOptions = {},
  ): Promise<Output> {
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const work = () => pool.run(input, { filename: module, transferList: transfer, signal })
      return await (client === undefined ? own.run('', work, signal) : requests.run(client, work, signal))
    } catch (error) {
      if (error instanceof Error && isOverload(error)) throw new Overload()
      throw error
    }
  }

  return {
    run,
    get waiting() {
      return requests.waiting + own.waiting
    },
    close: () => pool.destroy(),
  }
}

/** One client may use all threads while no other wants one; the queue is shared by turns. */
const slotsFor = (threads: number, timeoutMs: number) =>
  new FairSlots({
    slots: threads,
    slotsPerClient: threads,
    maxWaiting: MAX_WAITING,
    maxWaitingPerClient: MAX_WAITING,
    timeoutMs,
  })

/** A thread that cannot be started wants memory or files that others have at the moment. */
function isOverload(error: Error): boolean {
  const wantsThread = 'code' in error && error.code === 'ERR_WORKER_INIT_FAILED'
  return (
    wantsThread ||
    error instanceof WaitAborted ||
    error.name === 'AbortError' ||
    error.message === 'Task queue is at limit'
  )
}
