import {
  formatTimestamp,
  type Hit,
  type Segment,
  parseTimestamp,
  TIMESTAMP_LENGTH,
  type BuildOptions,
  type IndexedRecord,
  type Order,
  writeTimestamp,
  type Columns,
} from '../../lib/name-index/index.ts'
import { LAYOUT } from '../filters.ts'
import {
  BOUGHT,
  DATED,
  DISCARDED,
  DROPS,
  RESERVED,
  REVISION,
  type RecordTrait,
  toColumn,
  splitTags,
  type FilteredRecord,
} from '../filtered-record.ts'
import { formatNumbers, parseNumbers } from '../numbers.ts'

export function nameOfHit({ segment, position }: Hit): string {
  const { starts } = segment.columns
  return segment.textOf(starts[position] ?? 0, starts[position + 1] ?? 0)
}

/** What the index has of a record, read when it is asked for. */
export class RecordOfHit implements FilteredRecord {
  readonly #hit: Hit

  constructor(hit: Hit) {
    this.#hit = hit
  }

  get name() {
    return nameOfHit(this.#hit)
  }

  get agent() {
    const { agent, agents } = this.#columns
    return agents[agent[this.#hit.position] ?? 0] ?? ''
  }

  get status() {
    return getTrait(this.#hit, BOUGHT)
  }

  get reserved() {
    return getTrait(this.#hit, RESERVED)
  }

  get revision() {
    return getTrait(this.#hit, REVISION)
  }

  get discarded_at() {
    const { segment, position } = this.#hit
    const at = segment.discardedAt(position)
    return Number.isNaN(at) ? null : at
  }

  get date_reg() {
    return formatTimestamp(this.#columns.registered[this.#hit.position] ?? NaN)
  }

  get date_reg_known() {
    return getTrait(this.#hit, DATED)
  }

  get date_mod() {
    return formatTimestamp(this.#columns.modified[this.#hit.position] ?? NaN)
  }

  get deleted_at() {
    const { segment, position } = this.#hit
    const deleted = segment.deletedAt(position)
    return Number.isNaN(deleted) ? null : formatTimestamp(deleted)
  }

  get past_drops() {
    return getTrait(this.#hit, DROPS) - 1 + this.status
  }

  get hidden() {
    const { segment, position } = this.#hit
    return ((segment.marked[position >>> 5] ?? 0) >>> (position & 31)) & 1
  }

  get status_at() {
    const at = this.#columns.statusAt[this.#hit.position] ?? NaN
    return Number.isNaN(at) ? null : formatTimestamp(at)
  }

  get seen_at(): never {
    throw new Error('the index does not hold when a record was seen')
  }

  get tags() {
    const { segment, position } = this.#hit
    return segment.toTags(position) || null
  }

  get words() {
    const { segment, position } = this.#hit
    return toColumn(segment.toWords(position))
  }

  get numbers() {
    const { segment, position } = this.#hit
    return formatNumbers(segment.numbersOf(position))
  }

  get #columns() {
    return this.#hit.segment.columns
  }
}

function getTrait({ segment, position }: Hit, trait: RecordTrait): number {
  return segment.toNumber(LAYOUT.toPlanes(trait), position)
}

/** The marks of every answer, in its order. */
export const MARKS = ['status', 'reserved', 'revision', 'discarded'] as const
const MARK_PLANES = [BOUGHT, RESERVED, REVISION, DISCARDED].flatMap((mark) => LAYOUT.toPlanes(mark))

/** A bit for each of `MARKS`, from the lowest on. */
export function toMarks(segment: Segment, position: number): number {
  return segment.toNumber(MARK_PLANES, position)
}

export const optionsFor = (order: Order): BuildOptions => ({
  order,
  layout: LAYOUT,
  firstTwins: BOUGHT,
})

/** Returns what the index holds of a record. */
export function indexedRecord(record: FilteredRecord): IndexedRecord {
  const { name, agent, date_reg, date_mod, status_at, deleted_at, discarded_at, tags, words, numbers } =
    record
  return {
    name,
    words: splitTags(words),
    agent,
    discardedAt: discarded_at ?? NaN,
    registered: toTimestamp(date_reg),
    modified: toTimestamp(date_mod),
    statusAt: status_at === null ? NaN : toTimestamp(status_at),
    deleted: deleted_at === null ? NaN : toTimestamp(deleted_at),
    tags: tags ?? '',
    numbers: parseNumbers(numbers),
    traits: LAYOUT.traits.map(({ of }) => of(record)),
  }
}

/** A date as the index has it; NaN if it is none. */
export const toTimestamp = (text: string): number =>
  text.length === TIMESTAMP_LENGTH ? parseTimestamp(text) : NaN

const EMPTY_ARRAY = Buffer.from('[]')
const ARRAY_START = Buffer.from('[{"name":"')
/** The end of a record from its `date_reg` on, and the beginning of the next one. */
const DATES = 'YYYY-MM-DD HH:MM:SS","date_mod":"YYYY-MM-DD HH:MM:SS"},{"name":"'
const MODIFIED_AT = DATES.lastIndexOf('YYYY')
/** The length of the part that is omitted after the last record. */
const AFTER_LAST = DATES.length - DATES.indexOf('}') - 1

/**
 * Serialises records of the index as a JSON array, between two texts, straight from the columns: building a thousand objects only
 * to serialise them takes four times as long. Names and dates contain no character that JSON escapes.
 */
export function hitsToJson(hits: readonly Hit[], before: Uint8Array, after: Uint8Array): Buffer {
  let maxBytes = 0
  let columns: Columns | undefined
  let known: Middles = new Map()
  const middlesOfHits = hits.map((hit) => {
    if (hit.segment.columns !== columns) {
      columns = hit.segment.columns
      known = getMiddles(columns)
    }
    const middle = getMiddle(hit, known)
    // A letter of Latin-1 takes two bytes of UTF-8 at most.
    maxBytes += 2 * hit.segment.getLength(hit.position) + middle.length
    return middle
  })
  const out = Buffer.allocUnsafe(before.length + ARRAY_START.length + maxBytes + after.length)
  out.set(before)
  let at = before.length
  const start = hits.length === 0 ? EMPTY_ARRAY : ARRAY_START
  out.set(start, at)
  at += start.length
  for (const [i, { segment, position }] of hits.entries()) {
    const { names, starts, registered, modified } = segment.columns
    const middle = middlesOfHits[i] ?? EMPTY_ARRAY
    at = writeName(out, at, names, starts[position] ?? 0, starts[position + 1] ?? 0)
    out.set(middle, at)
    at += middle.length
    const dates = at - DATES.length
    writeTimestamp(out, dates, registered[position] ?? 0)
    writeTimestamp(out, dates + MODIFIED_AT, modified[position] ?? 0)
  }
  if (hits.length > 0) {
    at -= AFTER_LAST
    out[at++] = 0x5d
  }
  out.set(after, at)
  return out.subarray(0, at + after.length)
}

/** Writes a name in UTF-8. */
function writeName(out: Uint8Array, start: number, names: Uint8Array, first: number, end: number): number {
  let at = start
  for (let from = first; from < end; from++) {
    const code = names[from] ?? 0
    if (code < 0x80) out[at++] = code
    else {
      out[at++] = 0xc0 | (code >>> 6)
      out[at++] = 0x80 | (code & 0x3f)
    }
  }
  return at
}

/** Texts cached per segment, of some 200 bytes each; beyond that, all are dropped. */
const MAX_MIDDLES = 4_096
const MARK_SETS = 2 ** MARKS.length
/** By agent, length and marks: the JSON of a record between its name and its dates, with room for these. */
type Middles = Map<number, Uint8Array>
const middles = new WeakMap<Columns, Middles>()

function getMiddles(columns: Columns): Middles {
  const known = middles.get(columns)
  if (known !== undefined && known.size < MAX_MIDDLES) return known
  const none: Middles = new Map()
  middles.set(columns, none)
  return none
}

function getMiddle({ segment, position }: Hit, known: Middles): Uint8Array {
  const { agent, agents } = segment.columns
  const number = agent[position] ?? 0
  const length = segment.getLength(position)
  const marks = toMarks(segment, position)
  const kind = (number * 64 + length) * MARK_SETS + marks
  let middle = known.get(kind)
  if (middle === undefined) {
    const flags = MARKS.map((name, i) => `"${name}":${(marks >>> i) & 1}`).join(',')
    const quoted = JSON.stringify(agents[number] ?? '')
    middle = Buffer.from(`","length":${length},"agent":${quoted},${flags},"date_reg":"${DATES}`)
    known.set(kind, middle)
  }
  return middle
}
