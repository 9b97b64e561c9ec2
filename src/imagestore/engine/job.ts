import type { JobOutcome, Task } from './messages.ts'
import { WorkTimer } from './work-timer.ts'

export type PoolOutcome<Outcome = JobOutcome> =
  Outcome | { readonly kind: 'too-slow' } | { readonly kind: 'busy' } | { readonly kind: 'aborted' }

/** Something to be decoded, and where it stands. */
export class DecodeJob {
  readonly path: string
  readonly task: Task
  readonly settle: (outcome: PoolOutcome) => void
  retried = false
  aborted = false
  /** It has, or waits for, a process for heavy ones. */
  heavy = false
  /** Its process is to leave it; then it waits among the heavy ones. */
  deferred = false
  /** Set while the job waits for memory: gives up the wait. */
  stopWaiting: (() => void) | undefined
  /** Set while it runs: ends its process. */
  kill: (() => void) | undefined
  /** Of how long it has run. */
  readonly timer = new WorkTimer()

  constructor(path: string, task: Task, settle: (outcome: PoolOutcome) => void) {
    this.path = path
    this.task = task
    this.settle = settle
  }
}
