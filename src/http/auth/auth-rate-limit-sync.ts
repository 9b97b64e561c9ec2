import type { Database } from '../../storage/database/database.ts'
import type { FailedKeys } from './auth-rate-limit.ts'
import {
  addFailures,
  anyOverFailures,
  deleteOverFailures,
  sharedFailures,
} from './queries-auth-rate-limit.ts'

/**
 * How often a process tells of wrong keys and hears of the others', and of how many addresses at a time: whoever sends wrong
 * keys can make it write no more than that.
 */
const INTERVAL_MS = 1_000
const MAX_TOLD = 512

/**
 * Shares the counts of wrong keys among all processes and nodes, through the database. Only who sees a wrong key writes; an
 * address that is told to wait already is not told of again. Until it has exchanged counts, each process lets through what
 * it would alone.
 * @returns stops it, once what is under way is done
 */
export function exchangeFailures(database: Database, failures: FailedKeys): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isStopped = false

  function schedule(): void {
    if (timer !== undefined || running !== undefined || isStopped) return
    timer = setTimeout(() => {
      timer = undefined
      running = exchange().finally(() => {
        running = undefined
        if (failures.hasUntold) schedule()
      })
    }, INTERVAL_MS).unref()
  }

  async function exchange(): Promise<void> {
    const taken = failures.takeUntold(MAX_TOLD)
    if (taken.length === 0) return
    const addresses = taken.map(({ address }) => address)
    const rows = new TextEncoder().encode(JSON.stringify(taken.map(({ address, count }) => [address, count])))
    try {
      const sums = await database.transaction(async (tx) => {
        // A copy: the bytes move to another thread, and this may run again.
        await tx.runMany(addFailures(database.dialect), [], rows.slice())
        return tx.all(sharedFailures(database.dialect, addresses))
      })
      failures.learn(taken, sums)
    } catch {
      // Counted here in any case; the others hear of it when the database is back.
      failures.putBack(taken)
    }
  }

  failures.onUntold(schedule)
  return async () => {
    isStopped = true
    clearTimeout(timer)
    await running
  }
}

export async function hasOverFailures(database: Database): Promise<boolean> {
  return (await database.first(anyOverFailures(database.dialect))) !== undefined
}

/** Removes counts whose minute is over. */
export function sweepFailures(database: Database): Promise<number> {
  return database.transaction((tx) => tx.run(deleteOverFailures(database.dialect)))
}
