import { FairSlots } from '../../lib/fair-slots.ts'

/** Waiting transactions or scans; one account may have half of them. */
const MAX_WAITING_WRITES = 1_000
const MAX_WAITING_SCANS = 256
const WAIT_MS = 15_000

/** The service itself: background jobs, and work without an account. */
const SERVICE = 'service'

export const clientOf = (account: number | undefined): string =>
  account === undefined ? SERVICE : `account ${account}`

/** Shares an engine's writing or scanning connections among accounts. One account gets all but one of them. */
export function connectionSlots(operation: 'write' | 'scan', connections: number): FairSlots {
  const maxWaiting = operation === 'write' ? MAX_WAITING_WRITES : MAX_WAITING_SCANS
  return new FairSlots({
    slots: connections,
    slotsPerClient: Math.max(1, connections - 1),
    maxWaiting,
    maxWaitingPerClient: maxWaiting / 2,
    timeoutMs: WAIT_MS,
  })
}
