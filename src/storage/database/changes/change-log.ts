import type { Reader } from '../database.ts'
import type { Dialect } from '../dialect.ts'
import { changeOf, cursorAt, partsOf, type Change, type Cursor, type Topic } from './change.ts'
import { changesAsText, changesBefore, changesBetween, changeUpTo, logState } from './queries.ts'

/** Changes read at a time: all that one follower holds in memory. */
const PAGE = 500

/** `gap`: changes after the cursor are gone, or it is from another database. The follower has to start anew. */
export type ChangePage =
  | { readonly kind: 'page'; readonly changes: readonly Change[]; readonly cursor: Cursor }
  | { readonly kind: 'gap' }

/**
 * Changes of one topic as one text. `isWhole`: nothing that is committed is left out, so that who has followed up to here
 * knows a state in which the database was.
 */
export type ChangeText =
  | {
      readonly kind: 'text'
      /** JSON: `[key, before, after]` of each change, commas between them; before and after as the triggers write them. */
      readonly text: string
      /** Changes read, of all topics. */
      readonly count: number
      readonly cursor: Cursor
      readonly isWhole: boolean
    }
  | { readonly kind: 'gap' }

/** What an engine tells of its changes. */
export interface ChangeSource {
  /**
   * An id up to which all changes that will ever be there can be read now: no transaction that is under way can still
   * come out with a lower one. It never falls.
   */
  settled(): Promise<number>
  /** Calls back whenever that may have risen, at the latest within the engine's stated lag. Returns what ends it. */
  watch(callback: () => void): () => void
}

/** The changes of all writers, in an order that is the same for everyone, none left out. */
export class ChangeLog {
  readonly #reader: Reader
  readonly #source: ChangeSource
  readonly #dialect: Dialect

  constructor(reader: Reader, source: ChangeSource, dialect: Dialect) {
    this.#reader = reader
    this.#source = source
    this.#dialect = dialect
  }

  /** Where a follower starts that wants what is committed from now on. Changes under way now are still to come. */
  async head(): Promise<Cursor> {
    const settled = await this.#source.settled()
    const log = await this.#log()
    return cursorAt(log.epoch, Math.max(settled, log.floor))
  }

  /** The oldest place from which nothing is missing. */
  async start(): Promise<Cursor> {
    const log = await this.#log()
    return cursorAt(log.epoch, log.floor)
  }

  /**
   * What stands at a cursor, or last before it, as an opaque text. A log that was restored from an older state and went
   * another way from there may come to have the same cursor, but something else stands there.
   */
  async witness(cursor: string): Promise<string> {
    const place = partsOf(cursor)
    const rows = place === undefined ? [] : await this.#reader.values(changeUpTo(place.id))
    return JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  }

  /** Calls back whenever there may be more, until what it returns is called. */
  watch(callback: () => void): () => void {
    return this.#source.watch(callback)
  }

  /** What came after `cursor`, at most `count` changes. An empty page says that there is no more as yet. */
  async since(cursor: string, count: number): Promise<ChangePage> {
    const place = partsOf(cursor)
    if (place === undefined) return { kind: 'gap' }
    const settled = await this.#source.settled()
    const rows = await this.#reader.values(changesBetween(place.id, settled, count))
    // After the rows: had some been removed before they were read, the floor would say so by now.
    const { epoch, floor, newest } = await this.#log()
    if (!isContinued(place, { epoch, floor, newest })) return { kind: 'gap' }
    const changes = rows.map((row) => changeOf(row, epoch)).filter((change) => change !== undefined)
    return { kind: 'page', changes, cursor: cursorAt(epoch, Number(rows.at(-1)?.[0] ?? place.id)) }
  }

  /**
   * The newest changes, up to `count` of those that are kept, the newest first. For who looks, not for who follows: some
   * that were under way may come to stand among them.
   */
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

  /**
   * The changes of a topic after `cursor`, from at most `count` changes of all topics, by a reader that may be another one
   * where they are many.
   */
  async text(cursor: string, topic: Topic, count: number, reader = this.#reader): Promise<ChangeText> {
    const place = partsOf(cursor)
    if (place === undefined) return { kind: 'gap' }
    const settled = await this.#source.settled()
    const read = await reader.first(changesAsText(this.#dialect, topic, place.id, settled, count))
    const { epoch, floor, newest } = await this.#log()
    const last = read?.last ?? place.id
    if (!isContinued(place, { epoch, floor, newest })) return { kind: 'gap' }
    return {
      kind: 'text',
      text: read?.text ?? '',
      count: read?.count ?? 0,
      cursor: cursorAt(epoch, last),
      isWhole: last >= newest,
    }
  }

  /**
   * Every change after `cursor`, then those to come, until `signal` aborts. Nothing is read ahead of whoever takes them
   * but a page. Ends with `gap` when the follower has fallen behind what is kept.
   * @throws what reading throws; resume from the last change's cursor
   */
  async *follow(cursor: string, signal: AbortSignal): AsyncGenerator<Change | 'gap', void> {
    let news = Promise.withResolvers<void>()
    const wake = () => news.resolve()
    const unwatch = this.#source.watch(wake)
    signal.addEventListener('abort', wake)
    try {
      let place = cursor
      while (!signal.aborted) {
        // Renewed before reading: what comes during the read is not missed.
        news = Promise.withResolvers<void>()
        const page = await this.since(place, PAGE)
        if (page.kind === 'gap') {
          yield 'gap'
          return
        }
        for (const change of page.changes) {
          if (signal.aborted) return
          yield change
        }
        if (page.cursor === place && !signal.aborted) await news.promise
        place = page.cursor
      }
    } finally {
      signal.removeEventListener('abort', wake)
      unwatch()
    }
  }

  async #log() {
    const log = await this.#reader.first(logState())
    if (log === undefined) throw new Error('the log of changes has lost its only row')
    return log
  }
}

interface LogState {
  readonly epoch: string
  readonly floor: number
  readonly newest: number
}

/** Whether all changes after a place are still there. */
function isContinued(place: { readonly epoch: string; readonly id: number }, log: LogState): boolean {
  return place.epoch === log.epoch && place.id >= log.floor && place.id <= Math.max(log.newest, log.floor)
}
