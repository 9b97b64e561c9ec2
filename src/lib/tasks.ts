import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Piscina, move, transferableSymbol, valueSymbol } from 'piscina'
import type { Client } from './client.ts'
import { OverloadError } from './errors.ts'
import { Gate, SharedGate } from './gate.ts'
import { POOLS } from './limits.ts'

/** Tasks that wait for a thread, whose inputs are limited elsewhere, and how long a task may wait and run together. */
const { waiting: MAX_WAITING, waitMs: TASK_TIMEOUT_MS } = POOLS.parsing
/** The same for a task that no request waits for: merging two million records takes a minute on a slow machine. */
export const BACKGROUND_TASK_TIMEOUT_MS = 600_000
/** An idle thread keeps its heap, which one large body can grow by a quarter of a gigabyte: so none stays. */
const IDLE_THREAD_MS = 30_000
/** How long closing waits for running tasks. Node aborts the process if a thread is terminated while it loads a module. */
const CLOSE_TIMEOUT_MS = 1_000

/**
 * Returns the path of a module whose default export is a task, `fn(input) => output`, that runs in another thread. It gets the
 * extension of the caller: .ts in a checkout, .js in a packed release.
 */
export function taskModule(relative: string, importMeta: ImportMeta): string {
  return fileURLToPath(new URL(relative + extname(importMeta.url), importMeta.url))
}

export interface TaskOptions {
  /** Buffers to transfer to the thread instead of copying them. They are detached here. */
  readonly transfer?: ArrayBuffer[]
  /** Limit on the whole task, including the wait for a thread. */
  readonly timeoutMs?: number
  /** Whose request this serves; undefined for the service's own work. */
  readonly client?: Client
}

/** Runs work that would block the event loop in a bounded pool of threads. */
export interface Tasks {
  /**
   * @param module from `taskModule`
   * @throws OverloadError if the queue is full or the task times out
   */
  run<Input, Output>(module: string, input: Input, options?: TaskOptions): Promise<Output>
  /** Tasks that wait for a thread. */
  readonly waiting: number
  /** Rejects queued tasks, waits a moment for running ones, and ends all threads. */
  close(): Promise<void>
}

/**
 * @param threads for requests. The service's own work gets as many again, started on demand.
 * @param failed called with the error of a thread that fails while it has no task
 */
export function createTasks(
  threads: number,
  failed: (error: unknown) => void = () => {},
  idleMs = IDLE_THREAD_MS,
): Tasks {
  let started: Piscina | undefined
  let isClosing = false
  // One client may use all threads while no other one waits.
  const requests = new SharedGate({ running: threads, waiting: MAX_WAITING })
  const own = new Gate({ running: threads, waiting: MAX_WAITING })

  async function run<Input, Output>(
    module: string,
    input: Input,
    { transfer = [], timeoutMs = TASK_TIMEOUT_MS, client }: TaskOptions = {},
  ): Promise<Output> {
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const work = () => pool().run(input, { filename: module, transferList: transfer, signal })
      return await (client === undefined
        ? own.run('service', work, signal)
        : requests.run(client, work, signal))
    } catch (error) {
      if (error instanceof Error && isCapacityError(error)) throw new OverloadError()
      throw error
    }
  }

  return {
    run,
    get waiting() {
      return requests.waiting + own.waiting
    },
    async close() {
      isClosing = true
      await started?.close({ force: true })
    },
  }

  /** Started by the first task: many services have none for a long time. */
  function pool(): Piscina {
    if (started !== undefined) return started
    if (isClosing) throw new OverloadError()
    const threadPool = new Piscina({
      minThreads: 0,
      maxThreads: 2 * threads,
      maxQueue: MAX_WAITING,
      idleTimeout: idleMs,
      closeTimeout: CLOSE_TIMEOUT_MS,
    })
    threadPool.on('error', (error) => {
      // While closing, it reports tasks that are still running.
      if (isClosing) return
      failed(error)
      // A thread could not start, and the pool starts no other one for the tasks that wait for it: the next task starts a new pool.
      started = undefined
      void threadPool.destroy()
    })
    started = threadPool
    return threadPool
  }
}

/** Whether the pool refused the task or ran out of time. A thread that could not start lacks memory or file descriptors. */
function isCapacityError(error: Error): boolean {
  const isThreadMissing = 'code' in error && error.code === 'ERR_WORKER_INIT_FAILED'
  return (
    isThreadMissing ||
    ['AbortError', 'TimeoutError'].includes(error.name) ||
    ['Task queue is at limit', 'Terminating worker thread'].includes(error.message)
  )
}

/**
 * Marks a task's output so that `buffers`, which are part of it, are transferred to the calling thread instead of being copied
 * twice. The task must not use them afterwards.
 */
export function withTransfer<Output extends object>(output: Output, buffers: readonly ArrayBuffer[]): Output {
  const packed: unknown = move({ [transferableSymbol]: buffers, [valueSymbol]: output })
  // The pool unpacks this on the way: the caller receives the output itself.
  return packed as Output
}
