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
/** Rows that are stored in some 50 ms. Transactions of more leave a connection to others. */
const MAX_SMALL_ROWS = 1_000

/**
 * Shares the connections of an engine for transactions. Accounts get equal shares of the time, and so do small and large transactions
 * of one account: a small one waits for one large one at most, however many there are, and for none if there are several connections.
 */
export class WriteSlots {
  readonly #all: FairSlots
  /** Undefined if there is one connection. */
  readonly #large: FairSlots | undefined

  constructor(connections: number) {
    this.#all = connectionSlots('write', connections)
    if (connections > 1) this.#large = connectionSlots('write', connections - 1)
  }

  get waiting(): number {
    return this.#all.waiting + (this.#large?.waiting ?? 0)
  }

  /** Runs a transaction in its turn. */
  run<T>(author: number | undefined, rows: number, work: () => Promise<T>): Promise<T> {
    const cost = ROWS_OF_A_COMMIT + rows
    const client = `${author ?? SERVICE} ${Math.floor(Math.log2(cost))}`
    const run = () => this.#all.run(client, work, undefined, cost)
    return this.#large === undefined || rows <= MAX_SMALL_ROWS
      ? run()
      : this.#large.run(client, run, undefined, cost)
  }
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
