import { isStorable } from '../../lib/text.ts'
import type { ListPosition, ListRange, SortKey, Source } from './queries.ts'
import { STAGE_NAMES, type Stage, type StageName } from './order.ts'

/** Where the next page of a list begins. */
export interface ListCursor {
  readonly after: ListPosition
  /** The stage of the list that the position is in. */
  readonly stage?: StageName | undefined
  /** Under `last_register` and `last_deleted`: the range of the records as the first page found it. */
  readonly registered?: ListRange | undefined
  readonly deleted?: ListRange | undefined
}

/** Returns the cursor after a record of a stage. @param sources of all stages, with their ranges */
function cursorOf(sources: readonly Source[], after: ListPosition, { name }: Stage): ListCursor {
  const ranges: { registered?: ListRange; deleted?: ListRange } = {}
  for (const source of sources) {
    if (source.kind !== 'all' && source.range !== undefined) ranges[source.kind] = source.range
  }
  return { after, stage: name, ...ranges }
}

/** A page of a list. */
export interface ListPage<Item> {
  readonly items: readonly Item[]
  /** Where the next page begins; undefined on the last one. */
  readonly next: ListCursor | undefined
}

/** Collects the records of a page from the stages of its list. */
export class PageBuilder<Item> {
  readonly #limit: number
  readonly #sources: readonly Source[]
  readonly #positionOf: (item: Item, key: SortKey) => ListPosition
  readonly #items: Item[] = []
  /** The last record of the page. */
  #last: { readonly item: Item; readonly stage: Stage } | undefined
  #hasNext = false

  /** @param sources with the ranges that later pages need */
  constructor(
    limit: number,
    sources: readonly Source[],
    positionOf: (item: Item, key: SortKey) => ListPosition,
  ) {
    this.#limit = limit
    this.#sources = sources
    this.#positionOf = positionOf
  }

  /** How many records to look for: one more than fit shows whether there is a next page. */
  get wanted(): number {
    return this.#limit + 1 - this.#items.length
  }

  /** Adds the matches of a stage. @returns whether the page is full, and it is known that there is another */
  add(stage: Stage, found: readonly Item[]): boolean {
    const taken = found.slice(0, this.wanted - 1)
    const item = taken.at(-1)
    if (item !== undefined) this.#last = { item, stage }
    this.#items.push(...taken)
    this.#hasNext = found.length > taken.length
    return this.#hasNext
  }

  build(): ListPage<Item> {
    const last = this.#hasNext ? this.#last : undefined
    const after = last && this.#positionOf(last.item, last.stage.sortKey)
    return { items: this.#items, next: after && last && cursorOf(this.#sources, after, last.stage) }
  }
}

const KEY_LENGTH = 'YYYY-MM-DD HH:MM:SS'.length

/** Splits a key and a name that are joined. */
export function splitPosition(joined: string, keyLength = KEY_LENGTH): ListPosition {
  return { key: joined.slice(0, keyLength), name: joined.slice(keyLength) }
}

/** Digits of a length in a cursor. */
export const LENGTH_DIGITS = 2

function keyLengthOf(stage: StageName | undefined): number {
  if (stage === 'name') return 0
  return stage === 'length' ? LENGTH_DIGITS : KEY_LENGTH
}

/** Encodes a cursor; opaque to clients. */
export function encodeCursor({ after, stage, registered, deleted }: ListCursor): string {
  const parts = [after, registered?.low, registered?.high, deleted?.low, deleted?.high]
  const texts = parts.map((part) => (part === undefined ? '' : part.key + part.name))
  return Buffer.from([...texts, ...(stage === undefined ? [] : [stage])].join('|')).toString('base64url')
}

/** The ends of the ranges of two lists. */
const RANGE_ENDS = 4

/** Undefined if `encodeCursor` did not make it. */
export function decodeCursor(cursor: string): ListCursor | undefined {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [start = '', ...ends] = text.split('|')
  const [stageName, ...superfluous] = ends.splice(RANGE_ENDS)
  const stage = STAGE_NAMES.find((one) => one === stageName)
  const keyLength = keyLengthOf(stage)
  if (
    // Decoding ignores foreign characters and unused bits: only the exact text that was issued is a cursor.
    Buffer.from(text).toString('base64url') !== cursor ||
    !isStorable(text) ||
    ends.length !== RANGE_ENDS ||
    stage !== stageName ||
    superfluous.length > 0 ||
    start.length <= keyLength ||
    (stage === 'length' && !/^\d\d/.test(start)) ||
    !ends.every((part) => part === '' || part.length > KEY_LENGTH)
  )
    return undefined
  const after = splitPosition(start, keyLength)
  const [registeredLow, registeredHigh, deletedLow, deletedHigh] = ends.map((part) =>
    part === '' ? undefined : splitPosition(part),
  )
  return {
    after,
    stage,
    registered: rangeOf(registeredLow, registeredHigh),
    deleted: rangeOf(deletedLow, deletedHigh),
  }
}

function rangeOf(low: ListPosition | undefined, high: ListPosition | undefined): ListRange | undefined {
  return low === undefined || high === undefined ? undefined : { low, high }
}
