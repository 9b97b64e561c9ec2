import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { DatabaseFault } from './faults.ts'
import type { ConnectionPool, Report } from './pool.ts'
import { connectionSettings } from './settings.ts'

/** Announced by every transaction that wrote, with the node's name. */
const CHANNEL = 'catalejo_changes'

/** A sign of life is sent through another connection this often; when none comes back, nothing is believed to arrive. */
const BEAT_MS = 1_000
/**
 * The longest time for which a commit on another node may go unnoticed. As a rule it is noticed within milliseconds; this
 * is for announcements that stop arriving without a sign (a silent network, a pooler in between).
 */
const MAX_SILENCE_MS = 3_000
const RETRY_MS = 500

const DEAF =
  'announcements do not come back, so nothing is kept in memory: behind a pooler set CATALEJO_DATABASE_LISTEN_URL'

/**
 * A number that changes at every commit, here or on another node. While announcements may be missed it changes at every
 * call, so that no cache built on it answers.
 */
export class Changes {
  readonly #node = randomBytes(9).toString('base64url')
  readonly #url: string
  readonly #pool: ConnectionPool
  readonly #report: Report
  #version = 0
  #client: pg.Client | undefined
  /** When the last sign of life that came back was sent. */
  #provenAt = -Infinity
  #beats = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #closed = false
  /** Whether it was said that nothing is heard. */
  #told = false

  /** @param pool sends the signs of life */
  constructor(url: string, pool: ConnectionPool, report: Report) {
    this.#url = url
    this.#pool = pool
    this.#report = report
  }

  version(): number {
    if (!this.listening) this.#version++
    return this.#version
  }

  /** Whether commits of other nodes are known to arrive. */
  get listening(): boolean {
    return performance.now() - this.#provenAt < MAX_SILENCE_MS
  }

  /** Counts a commit of this node at once, before its announcement is back. */
  bump(): void {
    this.#version++
  }

  /** What a transaction that wrote runs before its COMMIT: the announcement goes out with it, or not at all. */
  get announcement(): string {
    return `SELECT pg_notify('${CHANNEL}', '${this.#node}')`
  }

  start(): void {
    void this.#tick()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#drop()
  }

  async #tick(): Promise<void> {
    let next = BEAT_MS
    try {
      if (this.#client === undefined) await this.#listen()
      else if (!this.listening && this.#beats.size > 0) {
        if (!this.#told) this.#report(new DatabaseFault(new Error(DEAF)))
        this.#told = true
        await this.#drop()
      }
      await this.#beat()
    } catch (error) {
      if (!this.#closed) this.#report(error instanceof DatabaseFault ? error : new DatabaseFault(error))
      next = RETRY_MS * (1 + Math.random())
    }
    if (this.#closed) return
    this.#timer = setTimeout(() => void this.#tick(), next)
    this.#timer.unref()
  }

  async #listen(): Promise<void> {
    const client = new pg.Client({ ...connectionSettings(this.#url), query_timeout: MAX_SILENCE_MS })
    this.#client = client
    client.on('error', (error) => {
      this.#report(new DatabaseFault(error))
      void this.#drop(client)
    })
    client.on('end', () => void this.#drop(client))
    client.on('notification', ({ channel, payload }) => this.#hear(channel, payload ?? ''))
    try {
      await client.connect()
      await client.query(`LISTEN ${CHANNEL}; LISTEN "${this.#ownChannel}"`)
    } catch (error) {
      await this.#drop(client)
      throw error
    }
  }

  async #beat(): Promise<void> {
    if (this.#closed || this.#client === undefined) return
    const token = randomBytes(6).toString('base64url')
    // At most as many as fit in the time in which one may come back.
    if (this.#beats.size > MAX_SILENCE_MS / BEAT_MS) this.#beats.clear()
    this.#beats.set(token, performance.now())
    await this.#pool.use((connection) =>
      connection.run('SELECT pg_notify($1, $2)', [this.#ownChannel, token]),
    )
  }

  #hear(channel: string, payload: string): void {
    if (channel === CHANNEL) {
      if (payload !== this.#node) this.#version++
      return
    }
    const sentAt = this.#beats.get(payload)
    if (sentAt === undefined) return
    this.#beats.clear()
    // What was announced while nobody listened is lost: whatever was kept until now is old.
    if (!this.listening) this.#version++
    this.#provenAt = sentAt
    this.#told = false
  }

  /** Signs of life are for this node alone, so that many nodes do not wake each other. */
  get #ownChannel(): string {
    return `catalejo_${this.#node}`
  }

  async #drop(client = this.#client): Promise<void> {
    if (client === undefined) return
    if (client === this.#client) {
      this.#client = undefined
      this.#provenAt = -Infinity
      this.#beats.clear()
    }
    await client.end().catch(() => {})
  }
}
