import { MemoryBudget } from './budget.ts'
import { DecoderProcess, type Ending } from './child-process.ts'
import { DecodeJob, type PoolOutcome } from './job.ts'
import type { Task } from './messages.ts'
import { inTurn, type GiveUp, type Turn } from './turn.ts'
import type { EngineStats } from './types.ts'

export type { PoolOutcome } from './job.ts'

export interface PoolOptions {
  readonly workers: number
  readonly maxPixels: number
  readonly timeoutMs: number
  readonly memoryBudget: number
  readonly largestJob: number
  readonly turn: Turn
  readonly queue: number
  readonly restMs: number
}

/** Granted to a job beforehand: an image of a few megapixels then starts without asking. */
const STANDING_GRANT = 96 * 1024 * 1024
/** Who works for so long is heavy, whatever it looked like. */
const SLOW_MS = 1_500

/**
 * Child processes that decode, the queue before them and the memory they share. Heavy jobs have processes of their own, few
 * of them: whatever is sent, usual images never wait for more than a slow one's first moments.
 */
export class DecoderPool {
  readonly #options: PoolOptions
  readonly #heavyWorkers: number
  readonly #budget: MemoryBudget
  readonly #idle: DecoderProcess[] = []
  readonly #children = new Set<DecoderProcess>()
  readonly #waiting: DecodeJob[] = []
  readonly #waitingHeavy: DecodeJob[] = []
  readonly #running = new Set<DecodeJob>()
  /** Their end is no fault of theirs. */
  readonly #dismissed = new WeakSet<DecoderProcess>()
  #restTimer: NodeJS.Timeout | undefined
  #restarts = 0
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#heavyWorkers = Math.max(1, Math.floor(options.workers / 2))
    this.#budget = new MemoryBudget(options.memoryBudget)
  }

  stats(): EngineStats {
    return {
      running: this.#running.size,
      waiting: this.#waiting.length + this.#waitingHeavy.length,
      restarts: this.#restarts,
      pids: [...this.#children].flatMap((child) => child.pid ?? []),
      memory: this.#budget.used,
    }
  }

  run(path: string, task: Task, signal: AbortSignal | undefined): Promise<PoolOutcome> {
    if (this.#closed || signal?.aborted === true) return Promise.resolve({ kind: 'aborted' })
    const isFull = this.#waiting.length + this.#waitingHeavy.length >= this.#options.queue
    if (isFull && this.#count(false) >= this.#options.workers) return Promise.resolve({ kind: 'busy' })
    return new Promise((resolve) => {
      const abort = (): void => this.#abort(job)
      const job = new DecodeJob(path, task, (outcome) => {
        signal?.removeEventListener('abort', abort)
        resolve(outcome)
      })
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.push(job)
      this.#dispatch()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#restTimer)
    for (const job of [...this.#waiting, ...this.#waitingHeavy, ...this.#running]) this.#abort(job)
    await Promise.all([...this.#children].map((child) => child.kill()))
  }

  #count(heavy: boolean): number {
    let count = 0
    for (const job of this.#running) if (job.heavy === heavy) count++
    return count
  }

  /**
   * The caller hears at once. A usual job under way goes on to its end, since killing its process would cost more than it
   * saves; a heavy one does not.
   */
  #abort(job: DecodeJob): void {
    job.aborted = true
    for (const queue of [this.#waiting, this.#waitingHeavy]) {
      const at = queue.indexOf(job)
      if (at >= 0) queue.splice(at, 1)
    }
    job.stopWaiting?.()
    if (job.heavy) job.kill?.()
    job.settle({ kind: 'aborted' })
  }

  #dispatch(): void {
    if (this.#closed) return
    this.#fill(this.#waiting, false, this.#options.workers)
    this.#fill(this.#waitingHeavy, true, this.#heavyWorkers)
  }

  #fill(queue: DecodeJob[], heavy: boolean, most: number): void {
    while (this.#count(heavy) < most) {
      const job = queue.shift()
      if (job === undefined) return
      job.heavy = heavy
      this.#start(this.#idle.pop() ?? this.#fork(), job)
    }
  }

  #fork(): DecoderProcess {
    const child = new DecoderProcess((ended) => {
      this.#children.delete(ended)
      const at = this.#idle.indexOf(ended)
      if (at >= 0) this.#idle.splice(at, 1)
      if (!this.#dismissed.has(ended)) this.#restarts++
      this.#dispatch()
    })
    this.#children.add(child)
    return child
  }

  #start(child: DecoderProcess, job: DecodeJob): void {
    clearTimeout(this.#restTimer)
    this.#running.add(job)
    let held = this.#budget.tryTake(STANDING_GRANT) ? STANDING_GRANT : 0
    const { path, task } = job
    const { maxPixels, timeoutMs, memoryBudget, largestJob, turn } = this.#options
    let giveUpTurn: GiveUp | undefined
    let admitted = false
    const admit = (): void => {
      admitted = true
      job.stopWaiting = undefined
      child.verdict(true)
    }
    job.kill = () => void child.kill()
    child.start({
      job: { type: 'job', path, task, maxPixels, timeoutMs, granted: held },
      timeoutMs,
      onBegin: () => this.#watch(child, job),
      onCost: (bytes, heavy) => {
        this.#budget.release(held)
        held = 0
        if (heavy && !this.#makeHeavy(job)) job.deferred = true
        if (job.aborted || job.deferred || bytes > largestJob) {
          child.verdict(false)
          return
        }
        const leave =
          bytes > memoryBudget
            ? inTurn(turn, (giveUp) => {
                giveUpTurn = giveUp
                admit()
              })
            : this.#budget.take(bytes, () => {
                held = bytes
                admit()
              })
        if (admitted) return
        job.stopWaiting = () => {
          job.stopWaiting = undefined
          leave()
          child.verdict(false)
        }
      },
      onEnd: (ending) => {
        job.timer.stop()
        job.kill = undefined
        job.stopWaiting?.()
        this.#budget.release(held)
        void giveUpTurn?.()
        this.#running.delete(job)
        if (ending.type === 'done' && ending.swollen) void child.kill()
        else if (ending.type === 'done') this.#idle.push(child)
        this.#end(job, ending)
        this.#dispatch()
        if (this.#running.size === 0) this.#rest()
      },
    })
  }

  /** Lets a job under way become a heavy one, where there is room for another. */
  #makeHeavy(job: DecodeJob): boolean {
    if (job.heavy) return true
    if (this.#waitingHeavy.length > 0 || this.#count(true) >= this.#heavyWorkers) return false
    job.heavy = true
    this.#dispatch()
    return true
  }

  #watch(child: DecoderProcess, job: DecodeJob): void {
    job.timer.start(child.pid, SLOW_MS, () => this.#tooSlow(child, job))
  }

  /** Others wait, so it begins anew among the heavy ones. What waits for memory does not run. */
  #tooSlow(child: DecoderProcess, job: DecodeJob): void {
    if (job.stopWaiting === undefined && !this.#makeHeavy(job) && this.#waiting.length > 0) {
      job.deferred = true
      job.kill?.()
    } else if (!job.heavy) this.#watch(child, job)
  }

  /** Processes that have nothing to do for long end: each holds some ninety megabytes. */
  #rest(): void {
    clearTimeout(this.#restTimer)
    this.#restTimer = setTimeout(() => {
      for (const child of this.#idle.splice(0)) {
        this.#dismissed.add(child)
        void child.kill()
      }
    }, this.#options.restMs).unref()
  }

  #end(job: DecodeJob, ending: Ending): void {
    if (job.deferred && !job.aborted && !this.#closed) {
      job.deferred = false
      this.#waitingHeavy.push(job)
    } else if (ending.type === 'done') {
      job.settle(ending.outcome)
    } else if (ending.type === 'crash' && !job.retried && !job.aborted && !this.#closed) {
      job.retried = true
      ;(job.heavy ? this.#waitingHeavy : this.#waiting).unshift(job)
    } else if (ending.type === 'crash' && !ending.started) {
      job.settle({ kind: 'busy' })
    } else if (ending.type === 'timeout') {
      job.settle({ kind: 'too-slow' })
    } else {
      job.settle({ kind: 'damaged', reason: 'crashed the decoder' })
    }
  }
}
