import type { Dialect } from '../dialect.ts'
import { type Reader, type Sql, limit, raw, sql } from '../sql.ts'
import { changeOf, cursorAt, DOMAIN_FIELDS, partsOf, type Change, type Cursor } from './change.ts'

/** Changes per page: the most that one follower holds in memory. */
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

/** Changes of domains that were not visible in an earlier view, as one text. */
export interface UnseenChanges {
  /**
   * JSON: `[key, before, after]` of each change, commas between them; before and after as the triggers write them, but long
   * ones without the note. The changes of one record are in their order.
   */
  readonly text: string
  /** Changes of all topics in this page, and in all pages. */
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
   * @param enough if the last one known is as high, it is returned without asking for a newer one
   */
  settled(enough?: number): Promise<number>
  /** Calls back whenever `settled` may have risen. Returns a function that ends it. */
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
    const settled = await this.#source.settled()
    const log = await this.#log()
    return cursorAt(log.epoch, Math.max(settled, log.floor))
  }

  /** Returns the oldest position after which nothing is missing. */
  async start(): Promise<Cursor> {
    const log = await this.#log()
    return cursorAt(log.epoch, log.floor)
  }

  /** Calls back whenever there may be more changes. Returns a function that ends it. */
  watch(callback: () => void): () => void {
    return this.#source.watch(callback)
  }

  /** Returns at most `count` changes after `cursor`. An empty page means that there are no more yet. */
  async since(cursor: string, count: number): Promise<ChangePage> {
    const page = await this.#after(
      cursor,
      count,
      (id, upTo) => this.#reader.values(changesBetween(id, upTo, count)),
      (rows) => rows.length,
    )
    if (page === undefined) return { kind: 'gap' }
    const { read, id, epoch } = page
    const changes = read.map((row) => changeOf(row, epoch)).filter((change) => change !== undefined)
    return { kind: 'page', changes, cursor: cursorAt(epoch, Number(read.at(-1)?.[0] ?? id)) }
  }

  /** Reads at most `count` settled changes after a cursor. Undefined if some of them were removed. */
  async #after<T>(
    cursor: string,
    count: number,
    read: (id: number, upTo: number) => Promise<T>,
    countOf: (found: T) => number,
  ) {
    const place = partsOf(cursor)
    if (place === undefined) return undefined
    // A follower that is behind does not wait for the newest changes before it reads the next ones.
    const enough = place.id + count
    const upTo = await this.#source.settled(enough)
    let found = await read(place.id, upTo)
    // Transactions that were rolled back have left ids without changes.
    if (upTo >= enough && countOf(found) < count) found = await read(place.id, await this.#source.settled())
    // Read after the changes: if some had been removed before, the floor would show it now.
    const { epoch, floor, newest } = await this.#log()
    const isContinued = place.epoch === epoch && place.id >= floor && place.id <= Math.max(newest, floor)
    return isContinued ? { read: found, id: place.id, epoch, newest } : undefined
  }

  /** Yields the newest changes, newest first. Not for followers: a running transaction may still add one. */
  async *newest(count: number): AsyncGenerator<readonly Change[]> {
    const { epoch, floor } = await this.#log()
    let upTo = Number.MAX_SAFE_INTEGER
    for (let left = count; left > 0; left -= PAGE) {
      const rows = await this.#reader.values(changesBefore(floor, upTo, Math.min(PAGE, left)))
      if (rows.length === 0) return
      upTo = Number(rows.at(-1)?.[0]) - 1
      yield rows.map((row) => changeOf(row, epoch)).filter((change) => change !== undefined)
    }
  }

  /** Returns what is visible of the log now. */
  async view(): Promise<LogView> {
    const row = await this.#reader.first(viewOfLog(this.#dialect))
    if (row === undefined) throw new Error('the table change_log is empty')
    return row
  }

  /**
   * Returns changes of domains that are visible now and were not in a view: whatever is committed, without waiting for running
   * transactions, which may still commit changes with lower ids.
   * @param after the id after which this page begins, and the most changes in it
   * @returns undefined if the log is not the one of the view any more
   */
  async unseen(
    view: LogView,
    { after, count }: { readonly after: number; readonly count: number },
    reader = this.#reader,
  ): Promise<UnseenChanges | undefined> {
    const row = await reader.first(unseenAsText(this.#dialect, view, after, count))
    if (row === undefined) throw new Error('the table change_log is empty')
    const { epoch, newest, visible, text, total, last } = row
    if (epoch !== view.epoch || newest < view.newest) return undefined
    return {
      text: text ?? '',
      count: row.count,
      total,
      last: last ?? after,
      view: { epoch, newest, visible },
    }
  }

  /**
   * Yields every change after `cursor`, then new ones, until `signal` aborts. Reads at most one page ahead. Ends with
   * `gap` if the follower falls behind the retained changes.
   * @throws what reading throws; resume from the last change
   */
  async *follow(cursor: string, signal: AbortSignal): AsyncGenerator<Change | 'gap', void> {
    let wakeup = Promise.withResolvers<void>()
    const wake = () => wakeup.resolve()
    const unwatch = this.#source.watch(wake)
    signal.addEventListener('abort', wake)
    try {
      let place = cursor
      while (!signal.aborted) {
        // Created before reading, so that a change during the read is not missed.
        wakeup = Promise.withResolvers<void>()
        const page = await this.since(place, PAGE)
        if (page.kind === 'gap') {
          yield 'gap'
          return
        }
        for (const change of page.changes) {
          if (signal.aborted) return
          yield change
        }
        if (page.cursor === place && !signal.aborted) await wakeup.promise
        place = page.cursor
      }
    } finally {
      signal.removeEventListener('abort', wake)
      unwatch()
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

/** Changes after one id up to another, as arrays: `changeOf`. */
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

/** The columns of a view, read from `change_log`. */
const viewColumns = ({ visibleChanges }: Dialect): Sql => sql`
  epoch, COALESCE((SELECT max(id) FROM changes), 0) AS newest, ${visibleChanges} AS visible`

const viewOfLog = (dialect: Dialect) => sql<LogView>`SELECT ${viewColumns(dialect)} FROM change_log`

/** The page as one text, which costs a tenth of reading rows. One statement, so that it is of one moment on any engine. */
const unseenAsText = (dialect: Dialect, { visible }: LogView, after: number, count: number) => sql<
  LogView & {
    readonly text: string | null
    readonly count: number
    readonly total: number
    readonly last: number | null
  }
>`
  WITH unseen AS MATERIALIZED (SELECT id FROM changes WHERE ${dialect.isUnseen(visible)} AND id > ${after})
  SELECT ${viewColumns(dialect)}, (SELECT count(*) FROM unseen) AS total, page.* FROM change_log, (
    SELECT max(id) AS last, count(*) AS count, string_agg(CASE WHEN topic = 'domain' THEN
      '[' || ${dialect.quoted(sql`key`)} || ',' || COALESCE(${withoutNote(dialect, raw('before'))}, 'null') ||
      ',' || COALESCE(${withoutNote(dialect, raw('after'))}, 'null') || ']' END, ',' ORDER BY id) AS text
    FROM changes WHERE id IN (SELECT id FROM unseen ORDER BY id ${limit(count)})
  ) AS page`

export const newestChange = () => sql<{ id: number }>`SELECT COALESCE(max(id), 0) AS id FROM changes`
