import { randomBytes } from 'node:crypto'
import { inBatches } from '../../../lib/concurrency.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Dialect } from '../dialect.ts'
import { empty, type Reader, type Transaction, type Sql, limit, raw, sql } from '../sql.ts'
import { toChange, toCursor, DOMAIN_FIELDS, parseCursor, type Change, type Cursor } from './change.ts'

/** Changes per page: the most that one reader holds in memory. */
const PAGE = 500

/** `gap`: changes after the cursor were removed, or it belongs to another database. The follower has to start over. */
export type ChangePage =
  | { readonly kind: 'page'; readonly changes: readonly Change[]; readonly cursor: Cursor }
  | { readonly kind: 'gap' }

/** What was visible of the log at one moment. Only valid in the process that read it. */
export interface LogView {
  readonly epoch: string
  /** The highest id. */
  readonly newest: number
  /** In the form of the engine. On an engine with one writer, the number of the last change. */
  readonly visible: string
}

/** Changes to follow, and the JSON that a follower gets of each. */
export interface ChangeSelection {
  /** A condition on rows of `changes` after others, or empty. */
  readonly where: Sql
  /** NULL for changes that are left out. */
  readonly json: Sql
}

/** Changes that were not visible in an earlier view, as one text. */
export interface UnseenChanges {
  /** The JSON of each change, commas between them. The changes of one record are in their order. */
  readonly text: string
  /** Changes in this page, and in all pages; those that are left out of the text count, too. */
  readonly count: number
  readonly total: number
  /** The highest id in this page: the next one begins after it. */
  readonly last: number
  /** What this page was read from. */
  readonly view: LogView
}

/** How an engine reports commits. */
export interface ChangeSource {
  /**
   * Returns an id up to which all changes can be read that will ever exist: no running transaction can still commit one
   * with a lower id. It never falls.
   * @param atLeast if the last one known is as high, it is returned without asking for a newer one
   */
  stableId(atLeast?: number): Promise<number>
  /** Calls back whenever `stableId` may have risen. Returns a function that ends it. */
  watch(callback: () => void): () => void
}

/** The changes of all writers, complete and in the same order for every reader. */
export class ChangeLog {
  readonly #reader: Reader
  readonly #source: ChangeSource
  readonly #dialect: Dialect

  constructor(reader: Reader, source: ChangeSource, dialect: Dialect) {
    this.#reader = reader
    this.#source = source
    this.#dialect = dialect
  }

  /**
   * Returns the position of a follower that wants what is committed from now on. Changes of running transactions come
   * after it.
   */
  async head(): Promise<Cursor> {
    const stableId = await this.#source.stableId()
    const log = await this.#log()
    return toCursor(log.epoch, Math.max(stableId, log.floor))
  }

  /** Returns the oldest position after which nothing is missing. */
  async start(): Promise<Cursor> {
    const log = await this.#log()
    return toCursor(log.epoch, log.floor)
  }

  /** Calls back whenever there may be more changes. Returns a function that ends it. */
  watch(callback: () => void): () => void {
    return this.#source.watch(callback)
  }

  /** Returns at most `count` changes after `cursor`. An empty page means that there are no more yet. */
  async since(cursor: string, count: number): Promise<ChangePage> {
    const place = parseCursor(cursor)
    if (place === undefined) return { kind: 'gap' }
    const read = (upTo: number) => this.#reader.values(changesBetween(place.id, upTo, count))
    // A follower that is behind does not wait for the newest changes before it reads the next ones.
    const atLeast = place.id + count
    const upTo = await this.#source.stableId(atLeast)
    let rows = await read(upTo)
    // Transactions that were rolled back have left ids without changes.
    if (upTo >= atLeast && rows.length < count) rows = await read(await this.#source.stableId())
    // Read after the changes: if some had been removed before, the floor would show it now.
    const { epoch, floor, newest } = await this.#log()
    const isContinued = place.epoch === epoch && place.id >= floor && place.id <= Math.max(newest, floor)
    if (!isContinued) return { kind: 'gap' }
    const changes = rows.map((row) => toChange(row, epoch)).filter((change) => change !== undefined)
    return { kind: 'page', changes, cursor: toCursor(epoch, Number(rows.at(-1)?.[0] ?? place.id)) }
  }

  /** Yields the newest changes, newest first. Not for followers: a running transaction may still add one. */
  async *newest(count: number): AsyncGenerator<readonly Change[]> {
    const { epoch, floor } = await this.#log()
    let upTo = Number.MAX_SAFE_INTEGER
    for (let left = count; left > 0; left -= PAGE) {
      const rows = await this.#reader.values(changesBefore(floor, upTo, Math.min(PAGE, left)))
      if (rows.length === 0) return
      upTo = Number(rows.at(-1)?.[0]) - 1
      yield rows.map((row) => toChange(row, epoch)).filter((change) => change !== undefined)
    }
  }

  /** Returns what is visible of the log now. */
  async view(): Promise<LogView> {
    const row = await this.#reader.first(viewOfLog(this.#dialect))
    if (row === undefined) throw new Error('the table change_log is empty')
    return row
  }

  /**
   * Returns changes that are visible now and were not in a view: whatever is committed, without waiting for running
   * transactions, which may still commit changes with lower ids.
   * @param after the id after which this page begins, and the most changes in it
   * @returns undefined if the log is not the one of the view any more, or changes may have been removed since
   */
  async unseen(
    view: LogView,
    selection: ChangeSelection,
    { after, count }: { readonly after: number; readonly count: number },
    reader = this.#reader,
  ): Promise<UnseenChanges | undefined> {
    const row = await reader.first(unseenAsText(this.#dialect, view, selection, after, count))
    if (row === undefined) throw new Error('the table change_log is empty')
    const { epoch, floor, newest, visible, text, total, last } = row
    if (epoch !== view.epoch || newest < view.newest || floor > view.newest) return undefined
    return {
      text: text ?? '',
      count: row.count,
      total,
      last: last ?? after,
      view: { epoch, newest, visible },
    }
  }

  async #log() {
    const log = await this.#reader.first(logState())
    if (log === undefined) throw new Error('the table change_log is empty')
    return log
  }
}

/** The ids that the table spans. `newest` is 0 while it is empty. */
export const logState = () => sql<{ epoch: string; floor: number; newest: number }>`
  SELECT epoch, floor, COALESCE((SELECT max(id) FROM changes), 0) AS newest FROM change_log`

/** Changes after one id up to another, as arrays: `toChange`. */
const changesBetween = (after: number, upTo: number, count: number) => sql`
  SELECT id, at, topic, kind, key, account_id, before, after FROM changes
  WHERE id > ${after} AND id <= ${upTo} ORDER BY id ${limit(count)}`

/** Changes from one id downwards, the newest first. */
const changesBefore = (floor: number, upTo: number, count: number) => sql`
  SELECT id, at, topic, kind, key, account_id, before, after FROM changes
  WHERE id > ${floor} AND id <= ${upTo} ORDER BY id DESC ${limit(count)}`

/** Bytes of a state without a note, and most of those with a short one. */
const LONG_STATE_BYTES = 256
const NOTE = DOMAIN_FIELDS.indexOf('note')

/** Removing a note costs the engine less than it costs all that follow to read it: it may have 1,000 characters. */
const withoutNote = (dialect: Dialect, state: Sql) =>
  sql`CASE WHEN octet_length(${state}) > ${LONG_STATE_BYTES} THEN ${dialect.withoutElement(state, NOTE)} ELSE ${state} END`

/**
 * Changes of domains as `[key, before, after]`, before and after as the triggers write them, but long ones without the note. Rows of
 * other topics are visited as well: an index by topic would cost more.
 */
export const domainChanges = (dialect: Dialect): ChangeSelection => ({
  where: empty,
  json: sql`CASE WHEN topic = 'domain' THEN
    '[' || ${dialect.quoted(sql`key`)} || ',' || COALESCE(${withoutNote(dialect, raw('before'))}, 'null') ||
    ',' || COALESCE(${withoutNote(dialect, raw('after'))}, 'null') || ']' END`,
})

/** The columns of a view, read from `change_log`. */
const viewColumns = ({ visibleChanges }: Dialect): Sql => sql`
  epoch, COALESCE((SELECT max(id) FROM changes), 0) AS newest, ${visibleChanges} AS visible`

const viewOfLog = (dialect: Dialect) => sql<LogView>`SELECT ${viewColumns(dialect)} FROM change_log`

/** The page as one text, which costs a tenth of reading rows. One statement, so that it is of one moment on any engine. */
const unseenAsText = (
  dialect: Dialect,
  { visible }: LogView,
  { where, json }: ChangeSelection,
  after: number,
  count: number,
) => sql<
  LogView & {
    readonly floor: number
    readonly text: string | null
    readonly count: number
    readonly total: number
    readonly last: number | null
  }
>`
  WITH unseen AS MATERIALIZED (SELECT id FROM changes WHERE ${dialect.isUnseen(visible)} AND id > ${after} ${where})
  SELECT ${viewColumns(dialect)}, floor, (SELECT count(*) FROM unseen) AS total, page.* FROM change_log, (
    SELECT max(id) AS last, count(*) AS count, string_agg(${json}, ',' ORDER BY id) AS text
    FROM changes WHERE id IN (SELECT id FROM unseen ORDER BY id ${limit(count)})
  ) AS page`

export async function getNewest(reader: Reader): Promise<number> {
  const newest = await reader.first(sql<{ id: number }>`SELECT COALESCE(max(id), 0) AS id FROM changes`)
  return newest?.id ?? 0
}

/** Changes removed in one transaction, so that other writers can run in between. */
const BATCH = 2_000

/** The part of a database that the upkeep of its log needs. */
interface Store extends Reader {
  readonly scanner: Reader
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
}

export interface Retention {
  readonly maxAgeMs: number
  readonly maxCount: number
}

/**
 * Removes changes that are too old or too many for followers. Changes of domains stay, as their history. The newest
 * change always stays, because ids continue from it.
 * @returns how many were removed
 */
export async function sweepChanges(database: Store, clock: Clock, keep: Retention): Promise<number> {
  const log = await database.first(logState())
  if (log === undefined) throw new Error('the table change_log is empty')
  const tooMany = Math.max(log.floor, log.newest - keep.maxCount)
  // Reads no more than `maxCount` changes, however many there are.
  const staying = await database.scanner.first(firstSince(tooMany, clock.now() - keep.maxAgeMs))
  const tooOld = staying === undefined ? log.newest : staying.id - 1
  const floor = Math.min(Math.max(tooMany, tooOld), log.newest - 1)
  // Before the changes are removed, so that a reader that misses them finds out.
  if (floor > log.floor) await database.transaction((tx) => tx.run(raiseFloor(floor)))
  return inBatches(BATCH, undefined, () => database.transaction((tx) => tx.run(removeChanges(floor, BATCH))))
}

/**
 * Gives the change log of a copy a new identity, before it has followers. Cursors issued by the source are invalid in the copy,
 * which lacks the later changes of the source.
 */
export async function renewLog(database: Pick<Store, 'transaction'>): Promise<void> {
  await database.transaction((tx) => tx.run(renew(randomBytes(6).toString('hex'))))
}

/** The first change after an id that is young enough to keep. */
const firstSince = (after: number, time: number) => sql<{ id: number }>`
  SELECT id FROM changes WHERE id > ${after} AND at >= ${time} ORDER BY id ${limit(1)}`

const raiseFloor = (floor: number) => sql`UPDATE change_log SET floor = ${floor} WHERE floor < ${floor}`

/**
 * Changes of domains stay, as their history. The unary plus keeps the planner from walking through all of them by id:
 * the other changes have an index of their own.
 */
const removeChanges = (upTo: number, count: number) => sql`
  DELETE FROM changes WHERE id IN (
    SELECT id FROM changes WHERE topic <> 'domain' AND +id <= ${upTo} ${limit(count)}
  )`

/** Invalidates all cursors of the database that this one was copied from; the copied changes become history. */
const renew = (epoch: string) => sql`
  UPDATE change_log SET epoch = ${epoch}, floor = COALESCE((SELECT max(id) FROM changes), 0)`
