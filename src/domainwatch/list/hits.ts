import {
  formatTimestamp,
  toWords,
  type Hit,
  type Segment,
  parseTimestamp,
  TIMESTAMP_LENGTH,
  type BuildOptions,
  type IndexedRecord,
  type Order,
} from '../../lib/name-index/index.ts'
import { LAYOUT, type FilteredRecord } from '../filters.ts'
import { BOUGHT, DATED, DISCARDED, DROPS, RESERVED, REVISION, type RecordTrait } from '../filtered-record.ts'
import { formatNumbers, parseNumbers } from '../numbers/numbers.ts'
import { toColumn, splitTags } from '../tags.ts'
import { toALabel } from '../../lib/domain-names.ts'

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
    return toColumn(toWords(segment, position))
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
  toALabel,
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
