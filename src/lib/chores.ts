import { Alarm } from './alarm.ts'

/** A chore that runs again and again beside the requests. */
export interface Chore {
  readonly name: string
  readonly everyMs: number
  /** Rings when its next turn should come at once. */
  readonly alarm?: Alarm
  /** Ends soon after `stop` says so. */
  readonly run: (stop: AbortSignal) => Promise<unknown>
}

/**
 * Runs each chore at its interval, never twice at once.
 * @param failed told of a chore that threw; it is tried again at its next turn
 * @returns stops them and waits for those that are running
 */
export function startChores(chores: readonly Chore[], failed: (name: string, error: unknown) => void) {
  const stopping = new AbortController()
  const loops = chores.map(async (chore) => {
    const { alarm = new Alarm() } = chore
    while (!stopping.signal.aborted) {
      await chore.run(stopping.signal).catch((error: unknown) => failed(chore.name, error))
      await alarm.wait(chore.everyMs, stopping.signal)
    }
  })
  return async () => {
    stopping.abort()
    await Promise.all(loops)
  }
}
