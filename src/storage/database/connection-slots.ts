import { FairSlots, groupBefore } from '../../lib/fair-slots.ts'

/** Waiting callers; one client may have half of them. */
const MAX_WAITING = { read: 4_096, write: 1_000, scan: 256 }
const WAIT_MS = { read: 5_000, write: 15_000, scan: 15_000 }

/** The service itself: background jobs, and work without an account. */
const SERVICE = 'service'

export const clientOf = (account: number | undefined): string =>
  account === undefined ? SERVICE : `account ${account}`

/**
 * Shares the connections of an engine for one kind of operation among clients. One client gets all but one of them. Among reads are
 * those of clients without a key, who are a group: anyone can have many addresses.
 */
export function connectionSlots(operation: keyof typeof MAX_WAITING, connections: number): FairSlots {
  const maxWaiting = MAX_WAITING[operation]
  return new FairSlots({
    slots: connections,
    slotsPerClient: Math.max(1, connections - 1),
    maxWaiting,
    maxWaitingPerClient: maxWaiting / 2,
    timeoutMs: WAIT_MS[operation],
    ...(operation === 'read' ? { groupOf: groupBefore } : {}),
  })
}
