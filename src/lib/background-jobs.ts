import { InterruptibleSleep } from './clock.ts'

/** A job that a process repeats for as long as it runs. */
export interface BackgroundJob {
  readonly name: string
  readonly everyMs: number
  /** Waking it starts the next run early. */
  readonly wakeup?: InterruptibleSleep
  /** Ends soon after `stop` aborts. */
  readonly run: (stop: AbortSignal) => Promise<unknown>
}

/**
 * Runs each job at its interval. Runs of one job never overlap.
 * @param failed called when a run rejects; the job runs again at its next interval
 * @returns a function that stops all jobs and waits for the current runs
 */
export function startBackgroundJobs(
  jobs: readonly BackgroundJob[],
  failed: (name: string, error: unknown) => void,
) {
  const stopping = new AbortController()
  const loops = jobs.map(async (job) => {
    const { wakeup = new InterruptibleSleep() } = job
    while (!stopping.signal.aborted) {
      await job.run(stopping.signal).catch((error: unknown) => failed(job.name, error))
      await wakeup.sleep(job.everyMs, stopping.signal)
    }
  })
  return async () => {
    stopping.abort()
    await Promise.all(loops)
  }
}

/** Delay after a failure of `repeatUntilAborted`. */
const RETRY_MS = 2_000

/**
 * Repeats `work`, which contains its own wait, until `signal` aborts. Never rejects: a failure is reported and delays the next run.
 */
export async function repeatUntilAborted(
  work: () => Promise<void>,
  signal: AbortSignal,
  failed: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work()
    } catch (error) {
      if (!signal.aborted) failed(error)
      await new InterruptibleSleep().sleep(RETRY_MS, signal)
    }
  }
}

/**
 * Repeats a transaction that changes at most `size` rows, so that other writers get their turn in between. Ends when one changes
 * fewer, or `signal` aborts.
 * @returns the total number of rows
 */
export async function inBatches(
  size: number,
  signal: AbortSignal | undefined,
  batch: () => Promise<number>,
): Promise<number> {
  let total = 0
  for (;;) {
    const changed = await batch()
    total += changed
    if (changed < size || signal?.aborted === true) return total
  }
}
