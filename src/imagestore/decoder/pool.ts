import { MemoryBudget } from './budget.ts'
import { DecoderProcess, type Ending } from './child-process.ts'
import type { FairQueue } from './fair-queue.ts'
import { DecodeJob, type PoolOutcome } from './job.ts'
import { JobQueues, type QueueLimits } from './job-queues.ts'
import type { Task } from './messages.ts'
import type { Requesters } from './requesters.ts'
import { inTurn, type GiveUp, type Turn } from './turn.ts'
import type { EngineStats } from './types.ts'

export type { PoolOutcome } from './job.ts'

export interface PoolOptions extends QueueLimits {
  readonly workers: number
  readonly maxPixels: number
  readonly timeoutMs: number
  readonly memoryBudget: number
  readonly largestJob: number
  readonly turn: Turn
  readonly restMs: number
}

/** Granted to a usual job beforehand: an image of a few megapixels then starts without asking. */
const STANDING_GRANT = 96 * 1024 * 1024
/** Who works for so long is heavy, whatever it looked like. */
const SLOW_MS = 1_500

/**
 * Child processes that decode, the queues before them and the memory they share. Heavy jobs have processes of their own, few
 * of them: whatever is sent, usual images never wait for more than a slow one's first moments. In both queues clients take
 * turns: a job waits for those that run, not for the queues of other clients.
 */
export class DecoderPool {
  readonly #options: PoolOptions
  readonly #heavyWorkers: number
  readonly #budget: MemoryBudget
  readonly #idle: DecoderProcess[] = []
  readonly #children = new Set<DecoderProcess>()
  readonly #queues: JobQueues
  readonly #running = new Set<DecodeJob>()
  /** Their end is no fault of theirs. */
  readonly #dismissed = new WeakSet<DecoderProcess>()
  #restTimer: NodeJS.Timeout | undefined
  #restarts = 0
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#queues = new JobQueues(options)
    this.#heavyWorkers = Math.max(1, Math.floor(options.workers / 2))
    this.#budget = new MemoryBudget(options.memoryBudget)
  }

  stats(): EngineStats {
    return {
      running: this.#running.size,
      waiting: this.#queues.length,
      restarts: this.#restarts,
      pids: [...this.#children].flatMap((child) => child.pid ?? []),
      memory: this.#budget.used,
    }
  }

  /** @param requesters may change while the job waits */
  run(
    path: string,
    task: Task,
    signal: AbortSignal | undefined,
    requesters: Requesters,
  ): Promise<PoolOutcome> {
    if (this.#closed || signal?.aborted === true) return Promise.resolve({ kind: 'aborted' })
    const isFree = this.#queues.usual.running < this.#options.workers
    if (!isFree && !this.#queues.makeRoomFor(requesters)) return Promise.resolve({ kind: 'busy' })
    return new Promise((resolve) => {
      const abort = (): void => this.#abort(job)
      const settle = (outcome: PoolOutcome): void => {
        job.endWait()
        signal?.removeEventListener('abort', abort)
        resolve(outcome)
      }
      const job = new DecodeJob(path, task, requesters, settle, () => this.#expire(job))
      signal?.addEventListener('abort', abort, { once: true })
      this.#queues.add(job, false)
      this.#dispatch()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#restTimer)
    for (const job of [...this.#queues, ...this.#running]) this.#abort(job)
    await Promise.all([...this.#children].map((child) => child.kill()))
  }

  /** Refuses a job that has waited for too long. One that waits for memory leaves its process first. */
  #expire(job: DecodeJob): void {
    if (this.#queues.remove(job)) job.settle({ kind: 'busy' })
    else job.stopWaiting?.()
  }

  /**
   * The caller hears at once. A usual job under way goes on to its end, since killing its process would cost more than it
   * saves; a heavy one does not.
   */
  #abort(job: DecodeJob): void {
    job.aborted = true
    this.#queues.remove(job)
    job.stopWaiting?.()
    if (job.heavy) job.kill?.()
    job.settle({ kind: 'aborted' })
  }

  #dispatch(): void {
    if (this.#closed) return
    this.#fill(this.#queues.usual, false, this.#options.workers)
    this.#fill(this.#queues.heavy, true, this.#heavyWorkers)
  }

  #fill(queue: FairQueue<DecodeJob>, heavy: boolean, most: number): void {
    while (queue.running < most) {
      const next = queue.next()
      if (next === undefined) return
      const { job, client } = next
      job.endWait()
      job.client = client
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
    job.begunAt = performance.now()
    job.held = !job.heavy && this.#budget.tryTake(STANDING_GRANT) ? STANDING_GRANT : 0
    const { path, task } = job
    const { maxPixels, timeoutMs, memoryBudget, largestJob, turn, waitMs } = this.#options
    let giveUpTurn: GiveUp | undefined
    let admitted = false
    const admit = (): void => {
      admitted = true
      job.endWait()
      job.stopWaiting = undefined
      job.begunAt = performance.now()
      child.verdict(true)
    }
    job.kill = () => void child.kill()
    child.start({
      job: { type: 'job', path, task, maxPixels, timeoutMs, granted: job.held },
      timeoutMs,
      onBegin: () => {
        job.begunAt = performance.now()
        this.#watch(child, job)
      },
      onCost: (bytes, heavy) => {
        this.#releaseMemory(job)
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
            : this.#budget.take(job.heavy ? 'heavy' : 'usual', bytes, () => {
                job.held = bytes
                admit()
              })
        if (admitted) return
        job.startWait(waitMs)
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
        this.#queues.of(job.heavy).done(job.client, performance.now() - job.begunAt)
        this.#releaseMemory(job)
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

  #releaseMemory(job: DecodeJob): void {
    const { held, heavy } = job
    job.held = 0
    if (held > 0) this.#budget.release(heavy ? 'heavy' : 'usual', held)
  }

  /** Lets a job under way become a heavy one, where there is room for another. */
  #makeHeavy(job: DecodeJob): boolean {
    if (job.heavy) return true
    if (this.#queues.heavy.length > 0 || this.#queues.heavy.running >= this.#heavyWorkers) return false
    this.#queues.usual.done(job.client, performance.now() - job.begunAt)
    this.#queues.heavy.adopt(job.client)
    job.begunAt = performance.now()
    job.heavy = true
    this.#budget.makeHeavy(job.held)
    this.#dispatch()
    return true
  }

  #watch(child: DecoderProcess, job: DecodeJob): void {
    job.timer.start(child.pid, SLOW_MS, () => this.#tooSlow(child, job))
  }

  /** Others wait, so it begins anew among the heavy ones. What waits for memory does not run. */
  #tooSlow(child: DecoderProcess, job: DecodeJob): void {
    const othersWait = this.#queues.usual.length > 0 || this.#budget.waiting('usual') > 0
    if (job.stopWaiting === undefined && !this.#makeHeavy(job) && othersWait) {
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
      if (this.#queues.makeRoomFor(job.requesters)) this.#queues.add(job, true)
      else job.settle({ kind: 'busy' })
    } else if (ending.type === 'done') {
      // Its process was told to leave it: what it answered says nothing about the image.
      job.settle(job.expired ? { kind: 'busy' } : ending.outcome)
    } else if (ending.type === 'crash' && !job.retried && !job.aborted && !this.#closed) {
      job.retried = true
      this.#queues.add(job, job.heavy, true)
    } else if (ending.type === 'crash' && !ending.started) {
      job.settle({ kind: 'busy' })
    } else if (ending.type === 'timeout') {
      job.settle({ kind: 'too-slow' })
    } else {
      job.settle({ kind: 'damaged', reason: 'crashed the decoder' })
    }
  }
}
