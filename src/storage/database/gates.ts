import { accountClient } from '../../lib/client.ts'
import { Gate, SharedGate } from '../../lib/gate.ts'
import { POOLS } from '../../lib/pools.ts'

/** Rows that are stored in some 50 ms. */
const MAX_SMALL_ROWS = 1_000

/** One client has all connections but one, so that others need not wait for it. */
const shared = (connections: number) => ({
  running: connections,
  perClient: Math.max(1, connections - 1),
})

/** The connections for small reads. */
export const readGate = (connections: number): SharedGate =>
  new SharedGate({ ...POOLS.reads, ...shared(connections) })

/** The connections for reads that may visit many rows. */
export const scanGate = (connections: number): Gate => new Gate({ ...POOLS.scans, ...shared(connections) })

/**
 * The connections for transactions. Small ones take turns with large ones, of which a turn is one, and accounts take turns at each:
 * so a small one waits for one large one at most, and for none if there are several connections.
 */
export class WriteGate {
  readonly #all: Gate<'small' | 'large'>
  readonly #small: Gate
  readonly #large: Gate

  constructor(connections: number) {
    const { turnMs, ...queue } = POOLS.writes
    this.#all = new Gate({ ...queue, running: connections, turnMs })
    // The turn of small ones continues as long as another one waits behind the one that runs.
    const small = connections === 1 ? { running: 2, perClient: 2 } : shared(connections)
    this.#small = new Gate({ ...queue, ...small })
    this.#large = new Gate({ ...queue, running: shared(connections).perClient })
  }

  get waiting(): number {
    return this.#all.waiting + this.#small.waiting + this.#large.waiting
  }

  /** Runs a transaction in the turn of its author. */
  run<T>(author: number | undefined, rows: number, work: () => Promise<T>): Promise<T> {
    const client = accountClient(author)
    if (rows > MAX_SMALL_ROWS) return this.#large.run(client, () => this.#all.run('large', work))
    return this.#small.run(client, () => this.#all.run('small', work))
  }
}
