import type { JobOutcome, Task } from './messages.ts'
import type { Requesters } from './requesters.ts'
import { WorkTimer } from './work-timer.ts'

export type PoolOutcome<Outcome = JobOutcome> =
  Outcome | { readonly kind: 'too-slow' } | { readonly kind: 'busy' } | { readonly kind: 'aborted' }

/** Something to be decoded, and where it stands. */
export class DecodeJob {
  readonly path: string
  readonly task: Task
  readonly requesters: Requesters
  readonly settle: (outcome: PoolOutcome) => void
  /** Called when the job has waited for too long. */
  readonly #onExpired: () => void
  /** The client in whose turn it runs: its run time is charged to it. */
  client = ''
  /** When it began to run, by `performance.now()`. Waits for memory do not count. */
  begunAt = 0
  retried = false
  aborted = false
  /** It has waited for too long. */
  expired = false
  /** It has, or waits for, a process for heavy ones. */
  heavy = false
  /** Its process is to leave it; then it waits among the heavy ones. */
  deferred = false
  /** Bytes of memory promised to it. */
  held = 0
  /** Set while the job waits for memory: gives up the wait. */
  stopWaiting: (() => void) | undefined
  /** Set while it runs: ends its process. */
  kill: (() => void) | undefined
  /** Of how long it has run. */
  readonly timer = new WorkTimer()
  #waitTimer: NodeJS.Timeout | undefined

  constructor(
    path: string,
    task: Task,
    requesters: Requesters,
    settle: (outcome: PoolOutcome) => void,
    onExpired: () => void,
  ) {
    this.path = path
    this.task = task
    this.requesters = requesters
    this.settle = settle
    this.#onExpired = onExpired
  }

  /** Starts to limit the wait for a process, or for memory. */
  startWait(ms: number): void {
    this.endWait()
    this.#waitTimer = setTimeout(() => {
      this.expired = true
      this.#onExpired()
    }, ms).unref()
  }

  endWait(): void {
    clearTimeout(this.#waitTimer)
  }
}
