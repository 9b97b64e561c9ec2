import { availableParallelism } from 'node:os'
import { SERVICE, type Caller } from '../../lib/client.ts'
import { OverloadError } from '../../lib/errors.ts'
import { SharedGate } from '../../lib/gate.ts'
import type { ResolvedTransformation } from '../modifiers/index.ts'
import {
  DecoderProcess,
  type Derivation,
  type Inspection,
  type Job,
  type Needs,
  type PoolOutcome,
  type Task,
  type WatermarkFile,
} from './decoder-process.ts'

export type * from './decoder-process.ts'

/** Memory that each job may take at first: enough for images of a few megapixels. */
const FIRST_BYTES = 96 * 1024 * 1024
/** How long an abandoned job may continue. Most jobs end sooner, and a new process takes as long. */
const ABANDONED_MS = 500

export interface EngineOptions {
  /** Processes of one client; twice as many of all. By default the number of cores. */
  readonly workers: number
  /** Limit on the pixels of all frames. */
  readonly maxPixels: number
  /** Limit on the duration of a job, in milliseconds. */
  readonly timeoutMs: number
  /** Bytes of memory for one job; more expensive images are rejected. The system enforces it. */
  readonly largestJob: number
  /** Bytes of memory for all running jobs, by default `largestJob`. A job that needs more runs alone. */
  readonly memory: number
  /** Jobs that may wait, half of them of one client. */
  readonly queue: number
  /** Limit on one wait of a job, in milliseconds. */
  readonly waitMs: number
  /** Time without a job after which idle processes end, in milliseconds. */
  readonly idleMs: number
}

const DEFAULTS = {
  maxPixels: 64_000_000,
  timeoutMs: 60_000,
  largestJob: 1200 * 1024 * 1024,
  queue: 64,
  waitMs: 30_000,
  idleMs: 300_000,
}

/**
 * Decoder processes behind a gate in which clients take turns. The weight of a job is its memory, of which its process learns from
 * the header: a job that needs more than it was given gives up its turn, and waits for one with as much as it needs.
 * Processes start with the first job. While idle, they do not keep this one alive.
 */
export class ImageEngine {
  readonly #options: EngineOptions
  readonly #gate: SharedGate
  readonly #processes = new Set<DecoderProcess>()
  readonly #idle: DecoderProcess[] = []
  readonly #closing = new AbortController()
  #idleTimer: NodeJS.Timeout | undefined
  #restarts = 0

  constructor(options: Partial<EngineOptions> = {}) {
    const { largestJob } = { ...DEFAULTS, ...options }
    this.#options = { ...DEFAULTS, workers: availableParallelism(), memory: largestJob, ...options }
    const { workers, memory, queue, waitMs } = this.#options
    this.#gate = new SharedGate({
      // One client can use all processors, and there is room for another one, whose first job starts immediately.
      running: 2 * workers,
      perClient: workers,
      waiting: queue,
      waitingPerClient: Math.ceil(queue / 2),
      waitMs,
      weight: memory,
    })
  }

  stats() {
    return {
      running: this.#gate.running,
      waiting: this.#gate.waiting,
      /** Processes that crashed or were killed because of their job. */
      restarts: this.#restarts,
      pids: [...this.#processes].flatMap((process) => process.pid ?? []),
    }
  }

  /** Decodes the whole file at `path`. Never rejects because of the file's content. */
  async inspect(path: string, caller = SERVICE): Promise<Inspection> {
    const outcome = await this.#run(path, { operation: 'inspect' }, caller)
    if (outcome.kind === 'too-slow')
      return { kind: 'damaged', fault: 'too_many_pixels', reason: 'took too long' }
    if (outcome.kind === 'crashed')
      return { kind: 'damaged', fault: 'damaged', reason: 'crashed the decoder' }
    if (outcome.kind === 'too-heavy')
      return { kind: 'damaged', fault: 'too_many_pixels', reason: outcome.reason }
    if (outcome.kind === 'image' && !('dhash' in outcome)) throw new Error('derived instead of inspected')
    return outcome
  }

  /** Renders the derivative that `plan` describes from the file at `path`. */
  async derive(
    path: string,
    plan: ResolvedTransformation,
    caller = SERVICE,
    watermark?: WatermarkFile,
  ): Promise<Derivation> {
    const outcome = await this.#run(path, { operation: 'derive', plan, watermark }, caller)
    if (outcome.kind === 'image' && !('bytes' in outcome)) throw new Error('inspected instead of derived')
    return outcome
  }

  /** Runs a job in a turn of its caller, and stops it soon after the caller has left. */
  async #run(path: string, task: Task, { client, signal }: Caller): Promise<PoolOutcome> {
    const { maxPixels, timeoutMs, largestJob } = this.#options
    const end = AbortSignal.any([this.#closing.signal, signal])
    try {
      for (let granted = FIRST_BYTES; ;) {
        const job = { path, task, maxPixels, timeoutMs, granted, largestJob }
        const outcome = await this.#gate.run(client, () => this.#complete(job, end), end, granted)
        if (outcome.kind !== 'needs') return outcome
        granted = outcome.bytes
      }
    } catch (error) {
      if (end.aborted) return { kind: 'aborted' }
      if (error instanceof OverloadError) return { kind: 'busy' }
      throw error
    }
  }

  /** Ends all processes within about a second. Running jobs resolve to `aborted`. */
  async close(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#idleTimer)
    await Promise.all([...this.#processes].map((process) => process.kill()))
  }

  async #complete(job: Job, end: AbortSignal): Promise<PoolOutcome | Needs> {
    // The abort may have come while the turn was handed over: a closed pool must start no process.
    end.throwIfAborted()
    let outcome = await this.#attempt(job, end, this.#idle.pop() ?? this.#fork())
    if (!end.aborted && mayBeOfProcess(outcome)) outcome = await this.#attempt(job, end, this.#fork())
    // What a process reports that was stopped says nothing about the image.
    end.throwIfAborted()
    return outcome
  }

  async #attempt(job: Job, end: AbortSignal, process: DecoderProcess): Promise<PoolOutcome | Needs> {
    let abandoned: NodeJS.Timeout | undefined
    const onAbort = () => (abandoned = setTimeout(() => void process.kill(), ABANDONED_MS))
    end.addEventListener('abort', onAbort)
    const outcome = await process.run(job)
    end.removeEventListener('abort', onAbort)
    clearTimeout(abandoned)
    if (process.isReusable) this.#idle.push(process)
    else void process.kill()
    this.#scheduleDismissal()
    return outcome
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

  /** Ends idle processes after a while: each takes some eighty megabytes. */
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

/** Whether the process may be to blame, because of an earlier image: then a fresh one tries again. */
const mayBeOfProcess = (outcome: PoolOutcome | Needs): boolean =>
  outcome.kind === 'crashed' ||
  outcome.kind === 'busy' ||
  (outcome.kind === 'too-heavy' && outcome.isOutOfMemory === true)
