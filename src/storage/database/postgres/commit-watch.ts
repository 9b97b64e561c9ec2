import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { TOPICS, type Topic } from '../changes/change.ts'
import type { ChangeSource } from '../changes/change-log.ts'
import { DatabaseFault } from './faults.ts'
import { connectionSettings, type Report } from './pool.ts'

/** Announced after commits, with the node's name. Older versions announce in their transactions, on the same channel. */
const CHANNEL = 'catalejo_changes'

/** Without any announcement a node looks this often: a committer may have died before it announced. */
const BEAT_MS = 1_000
/** However many commits there are, a node looks and announces at most this often. */
const SPACING_MS = 25
/**
 * The longest time for which a commit on another node may go unnoticed. As a rule it is noticed within milliseconds, and
 * within a beat when an announcement is lost; this is for a server that does not answer.
 */
const MAX_SILENCE_MS = 3_000
const RETRY_MS = 500

/**
 * Tells what was committed since the snapshot `$1`, by whomever: by transactions that the old snapshot does not see and
 * the new one does. Nothing that commits between two looks escapes, whatever order ids and transactions have.
 *
 * `age` is how far the counter of transactions is from number 3, the first there is. A snapshot's own end is no
 * substitute: it comes after the last that ended, and some that began later may run.
 */
const LOOK = `
  SELECT pg_current_snapshot()::text AS snapshot, age('3'::xid) AS age,
    COALESCE((SELECT max(id) FROM changes), 0) AS newest,
    ARRAY(
      SELECT DISTINCT topic FROM changes
      WHERE tx >= pg_snapshot_xmin($1::pg_snapshot) AND NOT pg_visible_in_snapshot(tx, $1::pg_snapshot)
    ) AS topics`

interface Look {
  readonly snapshot: string
  readonly age: number
  readonly newest: number
  readonly topics: readonly string[]
}

/**
 * Follows the commits of all nodes, and announces this one's. Each topic has a number that changes at every commit of it,
 * here or on another node. While commits may be missed it changes at every call, so that no cache built on it answers.
 */
export class CommitWatch implements ChangeSource {
  readonly #node = randomBytes(9).toString('base64url')
  readonly #url: string
  readonly #report: Report
  readonly #versions: Record<Topic, number> = { domain: 0, image: 0, key: 0, account: 0 }
  readonly #watchers = new Set<() => void>()
  #client: pg.Client | undefined
  #loop: Promise<void> | undefined
  #closed = false

  /** When the last look that succeeded began, and what it saw. */
  #lookedAt = -Infinity
  #snapshot: string | undefined
  /** Something was committed since the last look began. */
  #stale = true
  #unannounced = false
  #waiting: PromiseWithResolvers<void>[] = []
  #nudge = Promise.withResolvers<void>()

  #settled = 0
  /** Ids up to `newest` are settled once every transaction before `until` has ended. */
  #settling: { readonly newest: number; readonly until: bigint } | undefined

  constructor(url: string, report: Report) {
    this.#url = url
    this.#report = report
  }

  version(topic: Topic): number {
    if (!this.believed) this.#versions[topic]++
    return this.#versions[topic]
  }

  /** Whether commits of other nodes are known to be noticed in time. */
  get believed(): boolean {
    return performance.now() - this.#lookedAt < MAX_SILENCE_MS
  }

  /** Counts a commit of this node at once, and sees that the others hear of it. */
  committed(topics: Iterable<string>): void {
    if (!this.#count(topics)) return
    this.#stale = true
    this.#unannounced = true
    this.#wake()
  }

  async settled(): Promise<number> {
    if (this.#stale || performance.now() - this.#lookedAt > BEAT_MS) {
      const look = Promise.withResolvers<void>()
      this.#waiting.push(look)
      this.#wake()
      await look.promise
    }
    return this.#settled
  }

  watch(callback: () => void): () => void {
    this.#watchers.add(callback)
    this.#wake()
    return () => this.#watchers.delete(callback)
  }

  start(): void {
    this.#loop ??= this.#run()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#wake()
    await this.#loop
    // Nobody looks any more.
    this.#lookedAt = -Infinity
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const began = performance.now()
      const waiting = this.#waiting.splice(0)
      let next = BEAT_MS
      try {
        const client = await this.#connected()
        await this.#announce(client)
        await this.#look(client, began)
        for (const one of waiting) one.resolve()
        if (this.#settling !== undefined && this.#watchers.size > 0) next = SPACING_MS
      } catch (error) {
        const fault = error instanceof DatabaseFault ? error : new DatabaseFault(error, 'lost')
        if (!this.#closed) this.#report(fault)
        for (const one of waiting) one.reject(fault.translated())
        await this.#drop()
        next = RETRY_MS * (1 + Math.random())
      }
      await this.#pause(next)
      this.#nudge = Promise.withResolvers()
      await this.#pause(SPACING_MS - (performance.now() - began))
    }
    for (const one of this.#waiting)
      one.reject(new DatabaseFault(new Error('the database was closed'), 'fault'))
    // Of a command that is done: the others would find out a beat later.
    if (this.#client !== undefined) await this.#announce(this.#client).catch(() => {})
    await this.#drop()
  }

  /** Until woken. */
  async #pause(ms: number): Promise<void> {
    if (ms <= 0 || this.#closed) return
    const timer = setTimeout(() => this.#wake(), ms)
    await this.#nudge.promise
    clearTimeout(timer)
  }

  #wake(): void {
    this.#nudge.resolve()
  }

  async #connected(): Promise<pg.Client> {
    if (this.#client !== undefined) return this.#client
    const client = new pg.Client({ ...connectionSettings(this.#url), query_timeout: MAX_SILENCE_MS })
    client.on('error', (error) => {
      if (this.#client === client) this.#report(new DatabaseFault(error))
      void this.#drop(client)
    })
    client.on('end', () => void this.#drop(client))
    client.on('notification', ({ payload }) => {
      if (payload === this.#node) return
      this.#stale = true
      this.#wake()
    })
    this.#client = client
    await client.connect()
    await client.query(`LISTEN ${CHANNEL}`)
    return client
  }

  /** After commits, never in them: it takes a lock that all who announce in that database share until they have committed. */
  async #announce(client: pg.Client): Promise<void> {
    if (!this.#unannounced) return
    this.#unannounced = false
    await client.query('SELECT pg_notify($1, $2)', [CHANNEL, this.#node])
  }

  async #look(client: pg.Client, began: number): Promise<void> {
    this.#stale = false
    const [look] = (await client.query<Look>(LOOK, [this.#snapshot])).rows
    if (look === undefined) throw new Error('a look saw nothing')
    const { xmin, xmax } = horizonsOf(look.snapshot)
    const next = nextTransaction(look.age, xmax)
    // Another server's count: the database has moved, nothing known of it holds.
    const isContinued = this.#snapshot !== undefined && horizonsOf(this.#snapshot).xmin <= xmin
    this.#count(isContinued ? look.topics : TOPICS)
    this.#snapshot = look.snapshot
    this.#lookedAt = began
    this.#settle(look.newest, xmin, next)
  }

  /**
   * An id below the newest one in sight was drawn before this look, by a transaction that had a number already: one below
   * the next to be given. When all of those have ended, no lower id can appear any more.
   */
  #settle(newest: number, xmin: bigint, next: bigint): void {
    const before = this.#settled
    if (this.#settling !== undefined && this.#settling.until <= xmin) {
      this.#settled = Math.max(this.#settled, this.#settling.newest)
      this.#settling = undefined
    }
    if (next <= xmin) this.#settled = Math.max(this.#settled, newest)
    else if (newest > this.#settled) this.#settling ??= { newest, until: next }
    if (this.#settled > before) for (const callback of this.#watchers) callback()
  }

  #count(topics: Iterable<string>): boolean {
    let any = false
    for (const topic of TOPICS) {
      for (const one of topics) {
        if (one !== topic) continue
        this.#versions[topic]++
        any = true
      }
    }
    return any
  }

  async #drop(client = this.#client): Promise<void> {
    if (client === undefined) return
    if (client === this.#client) this.#client = undefined
    await client.end().catch(() => {})
  }
}

/** `xmin:xmax:running`: all transactions before the first have ended, none from the second on had. */
function horizonsOf(snapshot: string): { readonly xmin: bigint; readonly xmax: bigint } {
  const [xmin = '0', xmax = '0'] = snapshot.split(':')
  return { xmin: BigInt(xmin), xmax: BigInt(xmax) }
}

const NUMBERS = 2n ** 32n

/** The number that the next transaction will have, from the lower half of it, which `age` counts: at least `xmax`, and soon after. */
function nextTransaction(age: number, xmax: bigint): bigint {
  return xmax + ((((BigInt(age) + 3n - xmax) % NUMBERS) + NUMBERS) % NUMBERS)
}
