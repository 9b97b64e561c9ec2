import { addAbortListener } from 'node:events'
import { OverloadError } from '../../lib/errors.ts'
import type { FairSlots } from '../../lib/fair-slots.ts'
import { JobQueue, queuedSlots, type TakenSlot } from '../../lib/job-queue.ts'
import type { Requesters } from '../../lib/requesters.ts'
import { CpuTimer } from './process-limits.ts'
import { DecoderProcess, type Ending } from './decoder-process.ts'
import { MemoryBudget, type JobClass, type MemoryGrant } from './memory-budget.ts'
import type { EngineOptions, EngineStats, PoolOutcome, Task } from './protocol.ts'

/** Granted to a light job in advance: images of a few megapixels then start without asking. */
const ADVANCE_GRANT = 96 * 1024 * 1024
/** A job that runs for this long is heavy, whatever was expected. */
const MAX_LIGHT_MS = 1_500

interface Job {
  readonly path: string
  readonly task: Task
  readonly requesters: Requesters
  /** Aborts when nobody wants the result any more. */
  readonly signal: AbortSignal
  jobClass: JobClass
  /** How long it may still wait. */
  remainingWaitMs: number
}

/** The right to use a process. Its client is charged for the run time. */
interface Slot extends TakenSlot {
  /** By `performance.now()`, moved by the length of each wait for a process or for memory. */
  startedAt: number
}

/** A job in a process. */
interface Run {
  readonly job: Job
  slot: Slot
  memory: MemoryGrant | undefined
  /** Set when its process is to give up: the job is heavy and has to wait for its turn, or it waited for memory for too long. */
  interruption: 'deferred' | 'expired' | undefined
}

/**
 * Decoder processes, the queues in front of them and the memory that they share. Heavy jobs have a few processes of their
 * own: whatever is sent, light jobs wait at most for the first moments of a slow one. In both queues clients get equal shares
 * of the run time: a job waits for running jobs, not for the queues of other clients.
 */
export class DecoderPool {
  readonly #options: EngineOptions
  readonly #slots: Readonly<Record<JobClass, FairSlots>>
  readonly #queue: JobQueue
  readonly #budget: MemoryBudget
  readonly #processes = new Set<DecoderProcess>()
  readonly #idle: DecoderProcess[] = []
  readonly #closing = new AbortController()
  #idleTimer: NodeJS.Timeout | undefined
  #running = 0
  #restarts = 0

  constructor(options: EngineOptions) {
    this.#options = options
    const slotsFor = (slots: number) => queuedSlots(slots, slots)
    this.#slots = {
      light: slotsFor(options.workers),
      heavy: slotsFor(Math.max(1, Math.floor(options.workers / 2))),
    }
    // For both classes together.
    this.#queue = new JobQueue(options.queue, options.queuePerClient)
    this.#budget = new MemoryBudget(options.memoryBudget)
  }

  stats(): EngineStats {
    return {
      running: this.#running,
      waiting: this.#queue.length,
      restarts: this.#restarts,
      pids: [...this.#processes].flatMap((process) => process.pid ?? []),
      memory: this.#budget.used,
    }
  }

  /**
   * Resolves to `aborted` as soon as `signal` aborts. A light job that runs then is left to end, because killing its process
   * would cost more than it saves; a heavy one is killed.
   * @param requesters they may join and leave while the job waits
   */
  async run(
    path: string,
    task: Task,
    signal: AbortSignal | undefined,
    requesters: Requesters,
  ): Promise<PoolOutcome> {
    const end = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])])
    if (end.aborted) return { kind: 'aborted' }
    const aborted = Promise.withResolvers<PoolOutcome>()
    using _listener = addAbortListener(end, () => aborted.resolve({ kind: 'aborted' }))
    const { waitMs } = this.#options
    const job: Job = { path, task, requesters, signal: end, jobClass: 'light', remainingWaitMs: waitMs }
    return await Promise.race([this.#complete(job), aborted.promise])
  }

  async close(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#idleTimer)
    await Promise.all([...this.#processes].map((process) => process.kill()))
  }

  async #complete(job: Job): Promise<PoolOutcome> {
    const { signal } = job
    let isRetried = false
    try {
      for (;;) {
        const slot = await this.#takeSlot(job)
        const run: Run = { job, slot, memory: undefined, interruption: undefined }
        let ending: Ending
        try {
          // The abort may have come while the slot was handed over: a closed pool must start no process.
          if (signal.aborted) return { kind: 'aborted' }
          ending = await this.#attempt(run)
          const isFailed = run.interruption === undefined && mayBeOfProcess(ending)
          if (isFailed && !isRetried && !signal.aborted) {
            isRetried = true
            ending = await this.#attempt(run, this.#fork())
          }
        } finally {
          release(run.slot)
        }
        // What an interrupted process reports says nothing about the image.
        if (run.interruption === 'expired') return { kind: 'busy' }
        if (run.interruption === undefined || signal.aborted) return outcomeOf(ending)
        job.jobClass = 'heavy'
      }
    } catch (error) {
      if (error instanceof OverloadError) return { kind: 'busy' }
      throw error
    }
  }

  /** @throws OverloadError if the queue is full, or the job has waited for too long or was displaced */
  async #takeSlot(job: Job): Promise<Slot> {
    const startedAt = performance.now()
    try {
      const taken = await this.#queue.take(this.#slots[job.jobClass], job.requesters, endOfWait(job))
      return { ...taken, startedAt: performance.now() }
    } finally {
      job.remainingWaitMs -= performance.now() - startedAt
    }
  }

  async #attempt(run: Run, process = this.#idle.pop() ?? this.#fork()): Promise<Ending> {
    clearTimeout(this.#idleTimer)
    const { job } = run
    const { path, task, signal } = job
    const { maxPixels, timeoutMs } = this.#options
    const timer = new CpuTimer()
    const ended = new AbortController()
    const onAbort = () => {
      if (job.jobClass === 'heavy') void process.kill()
    }
    signal.addEventListener('abort', onAbort)
    if (job.jobClass === 'light') run.memory = this.#budget.tryTake(ADVANCE_GRANT)
    const granted = run.memory === undefined ? 0 : ADVANCE_GRANT
    this.#running++
    const startedAt = performance.now()
    const ending = await process.run(
      { type: 'job', path, task, maxPixels, timeoutMs, granted },
      {
        onBegin: () => {
          run.slot.startedAt += performance.now() - startedAt
          this.#limitLightRun(run, process, timer)
        },
        onCost: (bytes, isHeavy) => {
          timer.stop()
          void this.#admit(run, bytes, isHeavy, ended.signal).then((isAdmitted) => {
            process.admit(isAdmitted)
            if (isAdmitted) this.#limitLightRun(run, process, timer)
          })
        },
      },
    )
    timer.stop()
    ended.abort()
    signal.removeEventListener('abort', onAbort)
    releaseMemory(run)
    if (ending.type === 'done' && ending.isBloated) void process.kill()
    else if (ending.type === 'done') this.#idle.push(process)
    if (--this.#running === 0) this.#scheduleDismissal()
    return ending
  }

  /** Waits for the memory of a job, and makes it heavy if it is. Resolves to false if its process has to give up. */
  async #admit(run: Run, bytes: number, isHeavy: boolean, ended: AbortSignal): Promise<boolean> {
    const { job } = run
    const { largestJob, memoryBudget } = this.#options
    releaseMemory(run)
    if (isHeavy && !this.#makeHeavy(run)) run.interruption = 'deferred'
    if (run.interruption !== undefined || bytes > largestJob || job.signal.aborted) return false
    const startedAt = performance.now()
    const wait = AbortSignal.any([ended, endOfWait(job)])
    const memory =
      bytes <= memoryBudget ? await this.#budget.take(job.jobClass, bytes, wait) : await this.#takeTurn(wait)
    const waited = performance.now() - startedAt
    run.slot.startedAt += waited
    job.remainingWaitMs -= waited
    if (!wait.aborted) run.memory = memory
    else {
      memory?.release()
      if (!job.signal.aborted && !ended.aborted) run.interruption = 'expired'
    }
    return !wait.aborted
  }

  /** For a job that exceeds the whole budget: a turn among all processes of the machine. */
  async #takeTurn(signal: AbortSignal): Promise<MemoryGrant | undefined> {
    const end = await this.#options.acquireTurn(signal)
    return end && { release: () => void end(), makeHeavy: () => {} }
  }

  /** Makes a running job heavy if a heavy job may start. */
  #makeHeavy(run: Run): boolean {
    const { job, slot, memory } = run
    if (job.jobClass === 'heavy') return true
    const heavySlot = this.#slots.heavy.tryTake(slot.client)
    if (heavySlot === undefined) return false
    release(slot)
    run.slot = { client: slot.client, release: heavySlot, startedAt: performance.now() }
    job.jobClass = 'heavy'
    memory?.makeHeavy()
    return true
  }

  /** Makes a slow job heavy. If others wait and no heavy job may start, it starts again from the heavy queue. */
  #limitLightRun(run: Run, process: DecoderProcess, timer: CpuTimer): void {
    if (run.job.jobClass === 'heavy') return
    timer.start(process.pid, MAX_LIGHT_MS, () => {
      const doOthersWait = this.#slots.light.waiting > 0 || this.#budget.waiting('light') > 0
      if (this.#makeHeavy(run)) return
      if (!doOthersWait) return this.#limitLightRun(run, process, timer)
      run.interruption = 'deferred'
      void process.kill()
    })
  }

  #fork(): DecoderProcess {
    const process = new DecoderProcess(this.#options.largestJob, (exited) => {
      if (this.#processes.delete(exited)) this.#restarts++
      const at = this.#idle.indexOf(exited)
      if (at >= 0) this.#idle.splice(at, 1)
    })
    this.#processes.add(process)
    return process
  }

  /** Ends idle processes after a while: each takes some ninety megabytes. */
  #scheduleDismissal(): void {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => {
      for (const process of this.#idle.splice(0)) {
        this.#processes.delete(process)
        void process.kill()
      }
    }, this.#options.idleMs).unref()
  }
}

/** Aborts when nobody wants the result of a job any more, or it has waited for too long. */
const endOfWait = ({ signal, remainingWaitMs }: Job): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, Math.ceil(remainingWaitMs)))])

const release = (slot: Slot): void => slot.release(performance.now() - slot.startedAt)

function releaseMemory(run: Run): void {
  run.memory?.release()
  run.memory = undefined
}

/** Whether the process may be to blame, not the image: then it is tried in a fresh one. */
const mayBeOfProcess = (ending: Ending): boolean =>
  ending.type === 'crash' ||
  (ending.type === 'done' && ending.outcome.kind === 'too-heavy' && ending.outcome.isOutOfMemory === true)

function outcomeOf(ending: Ending): PoolOutcome {
  if (ending.type === 'done') return ending.outcome
  if (ending.type === 'timeout') return { kind: 'too-slow' }
  return ending.started ? { kind: 'crashed' } : { kind: 'busy' }
}
