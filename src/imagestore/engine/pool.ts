import { MemoryBudget } from './budget.ts'
import { DecoderProcess, type Ending } from './child-process.ts'
import type { JobOutcome, Task } from './messages.ts'
import type { EngineStats } from './types.ts'

export interface PoolOptions {
  readonly workers: number
  readonly maxPixels: number
  readonly timeoutMs: number
  readonly memoryBudget: number
  readonly memoryLimit: number
  readonly queue: number
}

export type PoolOutcome<Outcome = JobOutcome> =
  Outcome | { readonly kind: 'busy' } | { readonly kind: 'aborted' }

interface Job {
  readonly path: string
  readonly task: Task
  readonly settle: (outcome: PoolOutcome) => void
  retried: boolean
  aborted: boolean
  /** Set while the job waits for memory: gives up the wait. */
  stopWaiting: (() => void) | undefined
}

/** Granted to a job beforehand: an image of a few megapixels then starts without asking. */
const STANDING_GRANT = 96 * 1024 * 1024

/** Child processes that decode, the queue before them and the memory they share. */
export class DecoderPool {
  readonly #options: PoolOptions
  readonly #budget: MemoryBudget
  readonly #idle: DecoderProcess[] = []
  readonly #children = new Set<DecoderProcess>()
  readonly #waiting: Job[] = []
  readonly #running = new Set<Job>()
  #restarts = 0
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#budget = new MemoryBudget(options.memoryBudget)
  }

  stats(): EngineStats {
    return {
      running: this.#running.size,
      waiting: this.#waiting.length,
      restarts: this.#restarts,
      pids: [...this.#children].flatMap((child) => child.pid ?? []),
      memory: this.#budget.used,
    }
  }

  run(path: string, task: Task, signal: AbortSignal | undefined): Promise<PoolOutcome> {
    if (this.#closed || signal?.aborted === true) return Promise.resolve({ kind: 'aborted' })
    if (this.#running.size >= this.#options.workers && this.#waiting.length >= this.#options.queue) {
      return Promise.resolve({ kind: 'busy' })
    }
    return new Promise((resolve) => {
      const abort = (): void => this.#abort(job)
      const settle = (outcome: PoolOutcome): void => {
        signal?.removeEventListener('abort', abort)
        resolve(outcome)
      }
      const job: Job = { path, task, settle, retried: false, aborted: false, stopWaiting: undefined }
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.push(job)
      this.#dispatch()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const job of [...this.#waiting, ...this.#running]) this.#abort(job)
    await Promise.all([...this.#children].map((child) => child.kill()))
  }

  /** The caller hears at once. A job under way goes on to its end: killing its process would cost more than it saves. */
  #abort(job: Job): void {
    job.aborted = true
    const at = this.#waiting.indexOf(job)
    if (at >= 0) this.#waiting.splice(at, 1)
    job.stopWaiting?.()
    job.settle({ kind: 'aborted' })
  }

  #dispatch(): void {
    while (!this.#closed && this.#running.size < this.#options.workers) {
      const job = this.#waiting.shift()
      if (job === undefined) return
      this.#start(this.#idle.pop() ?? this.#fork(), job)
    }
  }

  #fork(): DecoderProcess {
    const child = new DecoderProcess((ended) => {
      this.#children.delete(ended)
      const at = this.#idle.indexOf(ended)
      if (at >= 0) this.#idle.splice(at, 1)
      this.#restarts++
      this.#dispatch()
    })
    this.#children.add(child)
    return child
  }

  #start(child: DecoderProcess, job: Job): void {
    this.#running.add(job)
    let held = this.#budget.tryTake(STANDING_GRANT) ? STANDING_GRANT : 0
    const { path, task } = job
    const { maxPixels, timeoutMs, memoryLimit } = this.#options
    child.start({
      job: { type: 'job', path, task, maxPixels, granted: held },
      timeoutMs,
      onCost: (bytes) => {
        this.#budget.release(held)
        held = 0
        if (job.aborted || bytes > memoryLimit) {
          child.verdict(false)
          return
        }
        const leave = this.#budget.take(bytes, () => {
          held = bytes
          job.stopWaiting = undefined
          child.verdict(true)
        })
        if (held > 0) return
        job.stopWaiting = () => {
          job.stopWaiting = undefined
          leave()
          child.verdict(false)
        }
      },
      onEnd: (ending) => {
        job.stopWaiting?.()
        this.#budget.release(held)
        this.#running.delete(job)
        if (ending.type === 'done') this.#idle.push(child)
        this.#end(job, ending)
        this.#dispatch()
      },
    })
  }

  #end(job: Job, ending: Ending): void {
    if (ending.type === 'done') {
      job.settle(ending.outcome)
    } else if (ending.type === 'crash' && !job.retried && !job.aborted && !this.#closed) {
      job.retried = true
      this.#waiting.unshift(job)
    } else if (ending.type === 'crash' && !ending.started) {
      job.settle({ kind: 'busy' })
    } else {
      job.settle({
        kind: 'damaged',
        reason: ending.type === 'timeout' ? 'took too long' : 'crashed the decoder',
      })
    }
  }
}
