import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { TOPICS, type Topic } from '../changes/change.ts'
import type { ChangeSource } from '../changes/change-log.ts'
import { closedFault, DatabaseFault } from './faults.ts'
import { connectionSettings, type Report } from './pool.ts'

/** Announcements follow commits and carry the node's name. */
const CHANNEL = 'catalejo_changes'

/** How often a node polls without announcements: a node may have died between commit and announcement. */
const POLL_MS = 1_000
/** Time between two polls, and between two announcements, unless a commit, an announcement or a reader comes meanwhile. */
const MIN_INTERVAL_MS = 25
/** How long a commit on another node may go unnoticed if the server does not answer; usually milliseconds. */
const MAX_SILENCE_MS = 3_000
const RETRY_MS = 500
/** Ids that wait until they are stable. Later ones wait for one of these. */
const MAX_UNSTABLE = 1_000
/** How long a new node waits for the transactions that were running on the server when it started. */
const FIRST_STABLE_MS = 5_000

/**
 * Finds what was committed since the snapshot `$1`: by transactions that are visible in the new snapshot and not in the
 * old one. This misses nothing, whatever the order of ids and transactions.
 * All transactions before `xmin` have ended. `next` is the number of the next one: its lower half is 3, the first number
 * there is, plus `age`. The end of a snapshot cannot replace it: it comes after the last transaction that ended, and later
 * ones may be running.
 */
const POLL = `
  SELECT snapshot::text AS snapshot, xmin,
    xmax + mod(mod(3 - xmax + age('3'::xid), ${2 ** 32}) + ${2 ** 32}, ${2 ** 32}) AS next,
    COALESCE((SELECT max(id) FROM changes), 0) AS newest,
    ARRAY(
      SELECT DISTINCT topic FROM changes
      WHERE tx >= pg_snapshot_xmin($1::pg_snapshot) AND NOT pg_visible_in_snapshot(tx, $1::pg_snapshot)
    ) AS topics
  FROM pg_current_snapshot() AS snapshot, LATERAL (
    SELECT pg_snapshot_xmin(snapshot)::text::bigint AS xmin, pg_snapshot_xmax(snapshot)::text::bigint AS xmax
  ) AS horizons`

interface Poll {
  readonly snapshot: string
  readonly xmin: number
  readonly next: number
  readonly newest: number
  readonly topics: readonly string[]
}

/**
 * Follows the commits of all nodes and announces those of this one. The version of a topic changes with every commit
 * that concerns it, on any node. While commits may be missed it changes at every call, so that no cache relies on it.
 */
export class CommitWatch implements ChangeSource {
  readonly #node = randomBytes(9).toString('base64url')
  readonly #url: string
  readonly #report: Report
  readonly #versions = new Map<Topic, number>()
  readonly #watchers = new Set<() => void>()
  #client: pg.Client | undefined
  #loop: Promise<void> | undefined
  #closed = false

  /** When the last successful poll began, and its result. */
  #polledAt = -Infinity
  #polled: Poll | undefined
  /** Whether something was committed since the last poll began. */
  #stale = true
  #unannounced = false
  #waiting: PromiseWithResolvers<void>[] = []
  #wakeup = Promise.withResolvers<void>()

  /** Undefined until the transactions that were running at the first poll have ended. */
  #stableId: number | undefined
  /** Until when readers wait for that; set by the first one. */
  #firstStableEnd: number | undefined
  /** Ids up to `newest` are stable when every transaction before `until` has ended. Both grow. */
  readonly #unstable: { readonly newest: number; readonly until: number }[] = []

  constructor(url: string, report: Report) {
    this.#url = url
    this.#report = report
  }

  version(topic: Topic): number {
    if (!this.isCurrent) this.#count([topic])
    return this.#versions.get(topic) ?? 0
  }

  /** Whether commits of other nodes are known to be noticed in time. */
  get isCurrent(): boolean {
    return performance.now() - this.#polledAt < MAX_SILENCE_MS
  }

  /** Counts a commit of this node immediately, and schedules its announcement. */
  committed(topics: readonly string[]): void {
    if (!this.#count(topics)) return
    this.#stale = true
    this.#unannounced = true
    this.#wake()
  }

  async stableId(atLeast = Infinity): Promise<number> {
    if (this.#stableId !== undefined && this.#stableId >= atLeast) return this.#stableId
    if (this.#stale || performance.now() - this.#polledAt > POLL_MS) await this.#nextPoll()
    this.#firstStableEnd ??= performance.now() + FIRST_STABLE_MS
    while (this.#stableId === undefined && performance.now() < this.#firstStableEnd) await this.#nextPoll()
    return this.#stableId ?? 0
  }

  #nextPoll(): Promise<void> {
    if (this.#closed) return Promise.reject(closedFault())
    const polled = Promise.withResolvers<void>()
    this.#waiting.push(polled)
    this.#wake()
    return polled.promise
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
    // No cache may rely on it any more.
    this.#polledAt = -Infinity
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const began = performance.now()
      const waiting = this.#waiting.splice(0)
      let next = POLL_MS
      try {
        const client = await this.#connected()
        await this.#announce(client)
        await this.#poll(client, began)
        for (const one of waiting) one.resolve()
        if (this.#unstable.length > 0 && this.#watchers.size > 0) next = MIN_INTERVAL_MS
      } catch (error) {
        const fault = error instanceof DatabaseFault ? error : new DatabaseFault(error, 'lost')
        if (!this.#closed) this.#report(fault)
        for (const one of waiting) one.reject(fault.translated())
        await this.#drop()
        next = RETRY_MS * (1 + Math.random())
      }
      await this.#pause(next)
      this.#wakeup = Promise.withResolvers()
      await this.#pause(MIN_INTERVAL_MS - (performance.now() - began))
    }
    for (const one of this.#waiting) one.reject(closedFault())
    // For short commands: the other nodes would find out a second later.
    if (this.#client !== undefined) await this.#announce(this.#client).catch(() => {})
    await this.#drop()
  }

  /** Waits until woken, for `ms` at most. */
  async #pause(ms: number): Promise<void> {
    if (ms <= 0 || this.#closed) return
    const timer = setTimeout(() => this.#wake(), ms)
    await this.#wakeup.promise
    clearTimeout(timer)
  }

  #wake(): void {
    this.#wakeup.resolve()
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

  /**
   * Runs after commits and never in them: NOTIFY takes a lock that all announcing transactions of the database hold
   * until they have committed.
   */
  async #announce(client: pg.Client): Promise<void> {
    if (!this.#unannounced) return
    this.#unannounced = false
    await client.query('SELECT pg_notify($1, $2)', [CHANNEL, this.#node])
  }

  async #poll(client: pg.Client, began: number): Promise<void> {
    this.#stale = false
    const [poll] = (await client.query<Poll>(POLL, [this.#polled?.snapshot])).rows
    if (poll === undefined) throw new Error('the poll returned no row')
    // A counter that fell is that of another server: the database was moved, so everything may have changed.
    const isContinued = this.#polled !== undefined && this.#polled.xmin <= poll.xmin
    this.#count(isContinued ? poll.topics : TOPICS)
    this.#polled = poll
    this.#polledAt = began
    this.#advanceStableId(poll)
  }

  /**
   * An id below the newest visible one was drawn before this poll, by a transaction whose number is below the next one.
   * When all those have ended, no lower id can appear.
   */
  #advanceStableId({ newest, xmin, next }: Poll): void {
    const before = this.#stableId ?? -1
    let stable = before
    while (this.#unstable[0] !== undefined && this.#unstable[0].until <= xmin)
      stable = Math.max(stable, this.#unstable.shift()?.newest ?? stable)
    if (next <= xmin) stable = Math.max(stable, newest)
    else if (newest > (this.#unstable.at(-1)?.newest ?? stable) && this.#unstable.length < MAX_UNSTABLE)
      this.#unstable.push({ newest, until: next })
    if (stable === before) return
    this.#stableId = stable
    for (const callback of this.#watchers) callback()
  }

  /** @returns whether any is known */
  #count(topics: readonly string[]): boolean {
    const known = TOPICS.filter((topic) => topics.includes(topic))
    for (const topic of known) this.#versions.set(topic, (this.#versions.get(topic) ?? 0) + 1)
    return known.length > 0
  }

  async #drop(client = this.#client): Promise<void> {
    if (client === undefined) return
    if (client === this.#client) this.#client = undefined
    await client.end().catch(() => {})
  }
}
