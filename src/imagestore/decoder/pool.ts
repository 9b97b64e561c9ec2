import { CpuTimer } from './process-limits.ts'
import { DecoderProcess, type Ending } from './decoder-process.ts'
import { FairQueue, makeRoom, type Requesters } from './fair-queue.ts'
import { MemoryBudget, type JobClass } from './memory-budget.ts'
import type { EngineOptions, EngineStats, PoolOutcome, Task } from './protocol.ts'

/** Granted to a light job in advance: images of a few megapixels then start without asking. */
const ADVANCE_GRANT = 96 * 1024 * 1024
/** A job that runs for this long is heavy, whatever was expected. */
const MAX_LIGHT_MS = 1_500

class Job {
  readonly path: string
  readonly task: Task
  readonly requesters: Requesters
  readonly #settle: (outcome: PoolOutcome) => void
  jobClass: JobClass = 'light'
  /** The client in whose turn it runs, which is charged for its run time. */
  client = ''
  /** By `performance.now()`, moved by the length of each wait for memory. */
  startedAt = 0
  isRetried = false
  isAborted = false
  /** It has waited for too long. */
  isExpired = false
  /** It leaves its process, to wait in the heavy queue. */
  isDeferred = false
  /** Bytes of memory granted to it. */
  granted = 0
  /** Set while it waits for memory: gives up. */
  stopWaiting: (() => void) | undefined
  /** Set while it runs: kills its process. */
  kill: (() => void) | undefined
  waitTimer: NodeJS.Timeout | undefined
  /** Limits the run time of a light job. */
  readonly runTimer = new CpuTimer()

  constructor(path: string, task: Task, requesters: Requesters, settle: (outcome: PoolOutcome) => void) {
    this.path = path
    this.task = task
    this.requesters = requesters
    this.#settle = settle
  }

  settle(outcome: PoolOutcome): void {
    clearTimeout(this.waitTimer)
    this.#settle(outcome)
  }
}

/**
 * Decoder processes, the queues in front of them and the memory that they share. Heavy jobs have a few processes of their
 * own: whatever is sent, light jobs wait at most for the first moments of a slow one. In both queues clients take turns: a
 * job waits for running jobs, not for the queues of other clients.
 */
export class DecoderPool {
  readonly #options: EngineOptions
  readonly #limits: Readonly<Record<JobClass, number>>
  readonly #queues = { light: new FairQueue<Job>(), heavy: new FairQueue<Job>() }
  readonly #budget: MemoryBudget
  readonly #running = new Set<Job>()
  readonly #processes = new Set<DecoderProcess>()
  readonly #idle: DecoderProcess[] = []
  /** Ended because there was nothing to do. */
  readonly #dismissed = new WeakSet<DecoderProcess>()
  #idleTimer: NodeJS.Timeout | undefined
  #restarts = 0
  #isClosed = false

  constructor(options: EngineOptions) {
    this.#options = options
    this.#limits = { light: options.workers, heavy: Math.max(1, Math.floor(options.workers / 2)) }
    this.#budget = new MemoryBudget(options.memoryBudget)
  }

  stats(): EngineStats {
    return {
      running: this.#running.size,
      waiting: this.#queues.light.length + this.#queues.heavy.length,
      restarts: this.#restarts,
      pids: [...this.#processes].flatMap((process) => process.pid ?? []),
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
    if (this.#isClosed || signal?.aborted === true) return Promise.resolve({ kind: 'aborted' })
    const isFree = this.#queues.light.running < this.#limits.light
    if (!isFree && !this.#makeRoom(requesters)) return Promise.resolve({ kind: 'busy' })
    return new Promise((resolve) => {
      const abort = (): void => this.#abort(job)
      const job = new Job(path, task, requesters, (outcome) => {
        signal?.removeEventListener('abort', abort)
        resolve(outcome)
      })
      signal?.addEventListener('abort', abort, { once: true })
      this.#enqueue(job, 'light')
      this.#dispatch()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idleTimer)
    for (const job of [...this.#queues.light, ...this.#queues.heavy, ...this.#running]) this.#abort(job)
    await Promise.all([...this.#processes].map((process) => process.kill()))
  }

  #makeRoom(requesters: Requesters): boolean {
    const { light, heavy } = this.#queues
    const { hasRoom, displaced } = makeRoom([light, heavy], requesters, this.#options)
    displaced?.settle({ kind: 'busy' })
    return hasRoom
  }

  #enqueue(job: Job, jobClass: JobClass, isFirst = false): void {
    this.#queues[jobClass].push(job, isFirst)
    this.#limitWait(job)
  }

  #dequeue(job: Job): boolean {
    return this.#queues.light.remove(job) || this.#queues.heavy.remove(job)
  }

  /** Rejects the job if it waits for too long. One that waits for memory leaves its process first. */
  #limitWait(job: Job): void {
    clearTimeout(job.waitTimer)
    job.waitTimer = setTimeout(() => {
      job.isExpired = true
      if (this.#dequeue(job)) job.settle({ kind: 'busy' })
      else job.stopWaiting?.()
    }, this.#options.waitMs).unref()
  }

  /**
   * Settles the job immediately. A light job that runs is left to end, because killing its process would cost more than it
   * saves; a heavy one is killed.
   */
  #abort(job: Job): void {
    job.isAborted = true
    this.#dequeue(job)
    job.stopWaiting?.()
    if (job.jobClass === 'heavy') job.kill?.()
    job.settle({ kind: 'aborted' })
  }

  #dispatch(): void {
    if (this.#isClosed) return
    for (const jobClass of ['light', 'heavy'] as const) {
      const queue = this.#queues[jobClass]
      while (queue.running < this.#limits[jobClass]) {
        const next = queue.next()
        if (next === undefined) break
        clearTimeout(next.job.waitTimer)
        next.job.client = next.client
        next.job.jobClass = jobClass
        this.#start(this.#idle.pop() ?? this.#fork(), next.job)
      }
    }
  }

  #fork(): DecoderProcess {
    const process = new DecoderProcess((exited) => {
      this.#processes.delete(exited)
      const at = this.#idle.indexOf(exited)
      if (at >= 0) this.#idle.splice(at, 1)
      if (!this.#dismissed.has(exited)) this.#restarts++
      this.#dispatch()
    })
    this.#processes.add(process)
    return process
  }

  #start(process: DecoderProcess, job: Job): void {
    clearTimeout(this.#idleTimer)
    this.#running.add(job)
    job.startedAt = performance.now()
    job.granted = job.jobClass === 'light' && this.#budget.tryTake(ADVANCE_GRANT) ? ADVANCE_GRANT : 0
    job.kill = () => void process.kill()
    const { path, task, granted } = job
    const { maxPixels, timeoutMs } = this.#options
    let endTurn: (() => Promise<void>) | undefined
    process.start({
      job: { type: 'job', path, task, maxPixels, timeoutMs, granted },
      onBegin: () => {
        job.startedAt = performance.now()
        this.#limitLightRun(process, job)
      },
      onCost: (bytes, isHeavy) => {
        this.#releaseMemory(job)
        if (isHeavy && !this.#makeHeavy(job)) job.isDeferred = true
        if (job.isAborted || job.isDeferred || bytes > this.#options.largestJob) process.admit(false)
        else
          this.#awaitMemory(process, job, bytes, (end) => {
            endTurn = end
          })
      },
      onEnd: (ending) => {
        job.runTimer.stop()
        job.kill = undefined
        job.stopWaiting?.()
        this.#queues[job.jobClass].done(job.client, performance.now() - job.startedAt)
        this.#releaseMemory(job)
        void endTurn?.()
        this.#running.delete(job)
        if (ending.type === 'done' && ending.isBloated) void process.kill()
        else if (ending.type === 'done') this.#idle.push(process)
        this.#finish(job, ending)
        this.#dispatch()
        if (this.#running.size === 0) this.#scheduleDismissal()
      },
    })
  }

  /** Admits the job when its memory is free; one that exceeds the whole budget takes a turn among all processes of the machine. */
  #awaitMemory(
    process: DecoderProcess,
    job: Job,
    bytes: number,
    onTurn: (end: () => Promise<void>) => void,
  ): void {
    const wait = new AbortController()
    const waitStart = performance.now()
    const admit = (): void => {
      clearTimeout(job.waitTimer)
      job.stopWaiting = undefined
      job.startedAt += performance.now() - waitStart
      process.admit(true)
    }
    this.#limitWait(job)
    job.stopWaiting = () => {
      job.stopWaiting = undefined
      wait.abort()
      process.admit(false)
    }
    if (bytes <= this.#options.memoryBudget)
      this.#budget.take(job.jobClass, bytes, wait.signal, () => {
        job.granted = bytes
        admit()
      })
    else
      void this.#options.acquireTurn(wait.signal).then((end) => {
        if (end === undefined) return
        if (wait.signal.aborted) return end()
        onTurn(end)
        return admit()
      })
  }

  #releaseMemory(job: Job): void {
    const { granted, jobClass } = job
    job.granted = 0
    if (granted > 0) this.#budget.release(jobClass, granted)
  }

  /** Makes a running job heavy if a heavy job may start. */
  #makeHeavy(job: Job): boolean {
    if (job.jobClass === 'heavy') return true
    const { light, heavy } = this.#queues
    if (heavy.length > 0 || heavy.running >= this.#limits.heavy) return false
    light.done(job.client, performance.now() - job.startedAt)
    heavy.adopt(job.client)
    job.startedAt = performance.now()
    job.jobClass = 'heavy'
    this.#budget.makeHeavy(job.granted)
    this.#dispatch()
    return true
  }

  /** Makes a slow job heavy. If others wait and no heavy job may start, it starts again from the heavy queue. */
  #limitLightRun(process: DecoderProcess, job: Job): void {
    job.runTimer.start(process.pid, MAX_LIGHT_MS, () => {
      const doOthersWait = this.#queues.light.length > 0 || this.#budget.waiting('light') > 0
      const isRunning = job.stopWaiting === undefined
      if (isRunning && !this.#makeHeavy(job) && doOthersWait) {
        job.isDeferred = true
        job.kill?.()
      } else if (job.jobClass === 'light') this.#limitLightRun(process, job)
    })
  }

  /** Ends idle processes after a while: each takes some ninety megabytes. */
  #scheduleDismissal(): void {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => {
      for (const process of this.#idle.splice(0)) {
        this.#dismissed.add(process)
        void process.kill()
      }
    }, this.#options.idleMs).unref()
  }

  #finish(job: Job, ending: Ending): void {
    const isWanted = !job.isAborted && !this.#isClosed
    if (job.isDeferred && isWanted) {
      job.isDeferred = false
      if (this.#makeRoom(job.requesters)) this.#enqueue(job, 'heavy')
      else job.settle({ kind: 'busy' })
    } else if (ending.type === 'done') {
      // The outcome of an expired job says nothing about the image.
      job.settle(job.isExpired ? { kind: 'busy' } : ending.outcome)
    } else if (ending.type === 'crash' && !job.isRetried && isWanted) {
      job.isRetried = true
      this.#enqueue(job, job.jobClass, true)
    } else if (ending.type === 'crash' && !ending.started) {
      job.settle({ kind: 'busy' })
    } else if (ending.type === 'timeout') {
      job.settle({ kind: 'too-slow' })
    } else {
      job.settle({ kind: 'damaged', reason: 'crashed the decoder' })
    }
  }
}
