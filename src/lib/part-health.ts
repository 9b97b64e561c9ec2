import { HttpError } from './errors.ts'
import { withTimeout } from './with-timeout.ts'

/** Whoever asks waits this long for a probe, and is then told what is known. Milliseconds, as all times here. */
const PROBE_WAIT_MS = 500
const REPORT_EVERY_MS = 60_000
/** A probe that takes long comes no more often than this many times its duration. */
const PAUSE_PER_PROBE = 10

interface PartHealthOptions {
  /** Rejects with what is wrong. A `HttpError`, such as an overload, says nothing about the part. */
  readonly probe: () => Promise<unknown>
  /** How often it is probed while it works, if somebody asks; Infinity for never. */
  readonly everyMs: number
  /** How often it is probed while it fails, if somebody asks. */
  readonly retryMs: number
  /** How long it counts as failing after the last failure, whatever a probe says. */
  readonly holdMs: number
  /** Called when it fails, at most once a minute, and with undefined when it works again. */
  readonly report: (fault: Error | undefined) => void
}

/** Whether a part of the service works: as far as requests have shown lately, and by a probe now and then. */
export class PartHealth {
  readonly #options: PartHealthOptions
  #fault: Error | undefined
  #failedAt = -Infinity
  #probedAt = -Infinity
  #probeMs = 0
  #reportedAt = -Infinity
  #probing: Promise<void> | undefined

  constructor(options: PartHealthOptions) {
    this.#options = options
  }

  /** A request met a failure of this part. */
  failed(fault: Error): void {
    const now = performance.now()
    this.#fault = fault
    this.#failedAt = now
    if (now - this.#reportedAt < REPORT_EVERY_MS) return
    this.#reportedAt = now
    this.#options.report(fault)
  }

  /** Rejects with the fault if the part fails. */
  async check(): Promise<void> {
    const { everyMs, retryMs } = this.#options
    const pause = this.#fault === undefined ? everyMs : Math.max(retryMs, PAUSE_PER_PROBE * this.#probeMs)
    const isDue = performance.now() - this.#probedAt >= pause
    if (isDue) this.#probing ??= this.#probe()
    if (this.#probing !== undefined) await withTimeout(this.#probing, PROBE_WAIT_MS)
    if (this.#fault !== undefined) throw this.#fault
  }

  async #probe(): Promise<void> {
    this.#probedAt = performance.now()
    try {
      await this.#options.probe()
      if (performance.now() - this.#failedAt < this.#options.holdMs || this.#fault === undefined) return
      this.#fault = undefined
      this.#reportedAt = -Infinity
      this.#options.report(undefined)
    } catch (error) {
      if (!(error instanceof HttpError))
        this.failed(error instanceof Error ? error : new Error(String(error)))
    } finally {
      this.#probeMs = performance.now() - this.#probedAt
      this.#probing = undefined
    }
  }
}
