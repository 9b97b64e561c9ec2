import { FairSlots, groupBefore } from '../../lib/fair-slots.ts'

/** Waiting callers; one client may have half of them. */
const MAX_WAITING = { read: 4_096, write: 1_000, scan: 256 }
const WAIT_MS = { read: 5_000, write: 15_000, scan: 15_000 }

/** The service itself: background jobs, and work without an account. */
const SERVICE = 'service'

export const clientOf = (account: number | undefined): string =>
  account === undefined ? SERVICE : `account ${account}`

/** What a commit costs, in rows that are stored in the same time. */
const ROWS_OF_A_COMMIT = 100

/**
 * Runs a transaction in its turn. Accounts get equal shares of the time, and so do small and large transactions of one account:
 * a small one waits for one large one at most, however many there are.
 */
export function runWrite<T>(
  slots: FairSlots,
  author: number | undefined,
  rows: number,
  work: () => Promise<T>,
) {
  const cost = ROWS_OF_A_COMMIT + rows
  const size = Math.floor(Math.log2(cost))
  return slots.run(`${author ?? SERVICE} ${size}`, work, undefined, cost)
}

/**
 * Shares the connections of an engine for one kind of operation among clients. One client gets all but one of them, in all sizes of
 * its transactions. Among reads are those of clients without a key, who are a group: anyone can have many addresses.
 */
export function connectionSlots(operation: keyof typeof MAX_WAITING, connections: number): FairSlots {
  const maxWaiting = MAX_WAITING[operation]
  const slotsPerClient = Math.max(1, connections - 1)
  return new FairSlots({
    slots: connections,
    slotsPerClient,
    maxWaiting,
    maxWaitingPerClient: maxWaiting / 2,
    timeoutMs: WAIT_MS[operation],
    ...(operation === 'scan' ? {} : { groupOf: groupBefore }),
    ...(operation === 'write' ? { slotsPerGroup: slotsPerClient } : {}),
  })
}
