import { randomBytes } from 'node:crypto'
import type { LRUCache } from 'lru-cache'
import { type Client, accountClient } from '../../lib/client.ts'
import { Gate, SharedGate } from '../../lib/gate.ts'
import { POOLS } from '../../lib/limits.ts'
import { lruCache } from '../../lib/lru-cache.ts'
import type { ChangeLog } from './changes/change-log.ts'
import type { Topic } from './changes/change.ts'
import type { Dialect } from './dialect.ts'
import type { StorageFault } from './faults.ts'
import { assertUpgradable, newerThan, nextMigration, SCHEMA, type Migration } from './migrations/index.ts'
import type { Reader, Transaction } from './sql.ts'

export type { Reader, Transaction }

/** The database as the features see it, whether in this process or behind a socket. */
export interface Database extends Reader, AsyncDisposable {
  readonly dialect: Dialect
  /** For reads of the service itself that may visit many rows: they do not delay other requests. */
  readonly scanner: Reader
  /**
   * The same on behalf of an account: accounts and the service share the scanning connections fairly.
   * @param signal after it aborts no further read starts; reads that have not started reject with its reason
   */
  scannerOf(account: number | undefined, signal?: AbortSignal): Reader
  /**
   * For small reads on behalf of a client: clients take turns, and all addresses together are one of them. Other small reads are
   * those of the service itself.
   */
  readerOf(client: Client): Reader
  /**
   * Runs `work` in one read-write transaction. When it resolves, everything is on stable storage; when it rejects,
   * nothing was stored, except that after an OverloadError it may have been: a commit was not answered in time. With several nodes, `work` is retried
   * after a conflict, and each statement sees what was committed before it: rows that a decision depends on are read
   * with `dialect.forUpdate`.
   * @param author the account that the changes are attributed to; authors share the writer fairly
   * @throws OverloadError if too many transactions wait, or one waited too long
   */
  transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    author?: number,
    options?: TransactionOptions,
  ): Promise<T>
  /**
   * Runs reads on one snapshot of everything, taken when this is called, for as long as `work` runs. The engine keeps
   * replaced rows until then, so it is for minutes, and for pages of rows.
   */
  snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T>
  /**
   * Returns a number that changes whenever any process commits a change of that topic, for caches. A commit of this
   * process counts before its transaction resolves, one of another process on the same machine (SQLite) immediately,
   * one of another node (PostgreSQL) within milliseconds, within a second if that node dies, and within 3 seconds in
   * any network failure.
   */
  version(topic: Topic): number
  /**
   * Everything that was committed, record by record. A follower is notified within 0.1 s as a rule, on PostgreSQL
   * within the limits of `version`; there it also waits for concurrent transactions of anyone on that server.
   */
  readonly changes: ChangeLog
  /** Returns the faults that the engine finds in itself, one line each. SQLite reads the whole file. */
  check(): Promise<readonly string[]>
  /** Rejects when the engine does not answer. */
  ping(): Promise<void>
  stats(): DatabaseStats
  /** Waits for the running transaction. Closing again does nothing. */
  close(): Promise<void>
}

export interface TransactionOptions {
  /**
   * `free-space`: it frees disk space, so it may use the reserve. `fill`: it fills a database that no service uses, so its
   * statements may take an hour.
   */
  readonly purpose?: 'free-space' | 'fill'
  /** Rows that it stores, if they may be many. */
  readonly rows?: number
}

export interface DatabaseStats {
  /** Transactions waiting for the writer. */
  readonly waitingWrites: number
  /** Scans waiting for the scanning connection. */
  readonly waitingScans: number
}

/** Called with the duration of each operation, for the metrics. */
export type ObserveDatabase = (operation: 'read' | 'scan' | 'write', seconds: number) => void

/** Options of both engines. */
export interface OpenOptions {
  /** Migrate up to this version of the schema only. */
  readonly schema?: number | undefined
  /** The steps of the schema, by default those of this version. Tests of upgrades add theirs. */
  readonly migrations?: readonly Migration[]
  /** Reserves disk space for deletions (SQLite only). */
  readonly reserve?: boolean
  /** Opens only an existing database with the current schema: creates and migrates nothing. */
  readonly existing?: boolean
  /** Called before an existing database is migrated, with the version of its schema. Nothing is migrated if it rejects. */
  readonly beforeMigration?: (from: number) => Promise<void>
  /** Called after migrations of an existing database, with the versions of its schema. */
  readonly onMigrated?: (from: number, to: number) => void
  /** Called for every operation that failed because of the storage. */
  readonly onFault?: (fault: StorageFault) => void
}

/**
 * Calls `beforeMigration` if an existing database is about to be migrated.
 * @param version of its schema; 0 if there is none
 * @throws if no step leads from it to this program's
 */
export async function announceMigration(
  { beforeMigration, migrations, schema = Infinity }: OpenOptions,
  version: number,
): Promise<void> {
  if (version > 0 && nextMigration(version, schema, migrations) !== undefined)
    await beforeMigration?.(version)
}

/**
 * @param name of the database, for messages
 * @param absence message if it has no schema
 * @throws unless a database that must exist is of this version's schema
 */
export function assertCurrentSchema(version: number | undefined, name: string, absence: string): void {
  if (version === undefined || version === 0) throw new Error(absence)
  assertUpgradable(version)
  if (version > SCHEMA) throw new Error(newerThan(version))
  if (version < SCHEMA) {
    throw new Error(
      `${name} is at schema ${version}, this version needs ${SCHEMA}: ` +
        'catalejo serve brings it up to date',
    )
  }
}

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

/**
 * Caches what was read from the database until any process commits a change of its topics. Values may be as old as
 * `Database.version`; writes of this process are seen immediately.
 */
export class VersionedCache<V extends {}> {
  readonly #database: Database
  readonly #topics: readonly Topic[]
  readonly #max: number
  #entries: LRUCache<string, V>
  #version: number

  /**
   * @param topics everything that the values are read from must belong to one of them
   * @param max entries kept
   */
  constructor(database: Database, topics: Topic | readonly Topic[], max: number) {
    this.#database = database
    this.#topics = [topics].flat()
    this.#max = max
    this.#entries = lruCache(max)
    this.#version = this.version
  }

  /** Changes with each change of the topics. The versions of topics only grow, so their sum cannot repeat. */
  get version(): number {
    let sum = 0
    for (const topic of this.#topics) sum += this.#database.version(topic)
    return sum
  }

  /** Returns the cached value if it is current. */
  peek(key: string): V | undefined {
    return this.version === this.#version ? this.#entries.get(key) : undefined
  }

  /** Returns the cached value, or reads it with `read`. Undefined is not cached. */
  async get<R extends V | undefined>(key: string, read: () => Promise<R>): Promise<V | R> {
    const { version } = this
    if (version !== this.#version) {
      // Clearing it would visit each entry.
      this.#entries = lruCache(this.#max)
      this.#version = version
    }
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const value = await read()
    // A commit during the read may have made it stale.
    if (value !== undefined && this.version === version) this.#entries.set(key, value)
    return value
  }
}

/** Returns an id for a row, of 12 characters (72 bits) that nobody can guess: letters, digits, `-` and `_`. */
export const randomId = (): string => randomBytes(9).toString('base64url')
