import { HttpError } from './errors.ts'
import { withTimeout } from './with-timeout.ts'

/** How long a check waits for a probe before it returns the last known state. All times in milliseconds. */
const PROBE_WAIT_MS = 500
const REPORT_EVERY_MS = 60_000
/** While the component fails, a slow probe is repeated after this many times its duration. */
const PAUSE_PER_PROBE = 10

interface ComponentHealthOptions {
  /** Rejects if the component fails. A `HttpError`, such as an overload, says nothing about the component. */
  readonly probe: () => Promise<unknown>
  /** Minimum interval of probes while it works; Infinity for never. */
  readonly everyMs: number
  /** Minimum interval of probes while it fails. */
  readonly retryMs: number
  /** How long it counts as failing after a failed request, even if a probe succeeds. */
  readonly holdMs: number
  /** Called with the fault, at most once a minute, and with undefined when it works again. */
  readonly report: (fault: Error | undefined) => void
}

/** The health of a component, from recent failures of requests and from probes. */
export class ComponentHealth {
  readonly #options: ComponentHealthOptions
  #fault: Error | undefined
  #failedAt = -Infinity
  #probedAt = -Infinity
  #probeMs = 0
  #reportedAt = -Infinity
  #probing: Promise<void> | undefined

  constructor(options: ComponentHealthOptions) {
    this.#options = options
  }

  /** Records that a request failed because of this component. */
  failed(fault: Error): void {
    const now = performance.now()
    this.#fault = fault
    this.#failedAt = now
    if (now - this.#reportedAt < REPORT_EVERY_MS) return
    this.#reportedAt = now
    this.#options.report(fault)
  }

  /** Rejects with the fault if the component fails. Probes it if a probe is due. */
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
