import { isLetter, PLANES } from './planes.ts'
import {
  CHARACTER_MARKS,
  setBits,
  BLOCK,
  MAX_LENGTH,
  MAX_WORDS,
  Plane,
  shared,
  type Columns,
  type Order,
} from './columns.ts'
import { indexNames, zonesOf } from './block-index.ts'

export interface IndexedRecord {
  readonly name: string
  /** The words of the name, in order and without hyphens; empty if it does not consist of words. */
  readonly words: readonly string[]
  readonly agent: string
  readonly status: number
  readonly reserved: number
  readonly revision: number
  /** Milliseconds since 1970; NaN if it is not discarded. */
  readonly discardedAt: number
  /** Timestamps. */
  readonly registered: number
  readonly modified: number
  /** NaN if it is bought. */
  readonly deleted: number
  readonly seen: number
  /** 1 if `registered` only serves to sort, because the registration is unknown. */
  readonly undated: number
  /** Each tag with a space before and after it; empty if there is none. */
  readonly tags: string
}

/** Whether columns can hold the record. The service itself writes no other. */
export function isIndexable({ name, status, reserved, revision, ...dates }: IndexedRecord): boolean {
  const isBit = (value: number) => value === 0 || value === 1
  const { registered, modified, deleted } = dates
  return (
    name.length > 0 &&
    name.length <= MAX_LENGTH &&
    [...name].every(isLetter) &&
    [status, reserved, revision].every(isBit) &&
    !Number.isNaN(registered) &&
    !Number.isNaN(modified) &&
    Number.isNaN(deleted) === (status === 1)
  )
}

const HYPHEN = 0x2d

/** By Latin-1 code, the marks of names with this character. */
const MARKS_OF = Uint32Array.from({ length: 256 }, (_, code) => {
  let marks = 0
  for (const { plane, characters } of Object.values(CHARACTER_MARKS))
    if (characters.includes(String.fromCharCode(code))) marks |= 1 << plane
  return marks
})

/** The A-label of a name with letters beyond ASCII. */
export type ALabelOf = (name: string) => string

/** Builds columns of the records, all indexable, that a list in this order contains. */
export function columnsOf(records: readonly IndexedRecord[], order: Order, aLabelOf: ALabelOf): Columns {
  const listed = order === 'deleted' ? records.filter(({ deleted }) => !Number.isNaN(deleted)) : records
  // Code units of these names compare as their bytes do.
  const sorted =
    order === 'deleted'
      ? listed.toSorted((one, other) => other.deleted - one.deleted || (other.name < one.name ? -1 : 1))
      : listed.toSorted((one, other) => other.registered - one.registered || (other.name < one.name ? -1 : 1))
  const nameBytes = sorted.reduce((sum, { name }) => sum + name.length, 0)
  return buildColumns(sorted, { count: sorted.length, nameBytes, order, aLabelOf })
}

interface BuildOptions {
  readonly count: number
  /** The length of all names together. */
  readonly nameBytes: number
  readonly order: Order
  readonly aLabelOf: ALabelOf
}

/** Builds columns of records that are sorted already: by key and then by name, both descending. */
export function buildColumns(
  records: Iterable<IndexedRecord>,
  { count, nameBytes, order, aLabelOf }: BuildOptions,
): Columns {
  const words = Math.ceil(count / BLOCK)
  const names = shared.u8(nameBytes)
  const starts = shared.u32(count + 1)
  const wordEnds = shared.u32(Math.ceil(nameBytes / 32))
  const planes = shared.u32(PLANES * words)
  const keys = shared.f64(count)
  const registered = order === 'registered' ? keys : shared.f64(count)
  const modified = shared.f64(count)
  const deletions = order === 'deleted' ? keys : new Float64Array(count)
  const agent = shared.u32(count)
  const agents = new NumberedTexts()
  const tagSets = new NumberedTexts()
  // The number of no tags is 0.
  tagSets.numberOf('')
  const discarded: number[] = []
  const discardedAt: number[] = []
  const idn: number[] = []
  const aLabels: string[] = []
  const tagged: number[] = []
  const tagSet: number[] = []
  const deletedAt: number[] = []
  const deletedBefore: number[] = []
  let position = 0
  let start = 0
  for (const record of records) {
    const { name } = record
    let marks = writeName(names, start, name)
    markWords(wordEnds, start, record)
    start += name.length
    starts[position + 1] = start
    keys[position] = record[order]
    registered[position] = record.registered
    modified[position] = record.modified
    deletions[position] = record.deleted
    agent[position] = agents.numberOf(record.agent)
    marks |=
      (record.status << Plane.status) |
      (record.reserved << Plane.reserved) |
      (record.revision << Plane.revision) |
      (record.seen << Plane.seen) |
      (record.undated << Plane.undated) |
      (Math.min(record.words.length, MAX_WORDS) << Plane.words1)
    if (!Number.isNaN(record.discardedAt)) {
      marks |= 1 << Plane.discarded
      discarded.push(position)
      discardedAt.push(record.discardedAt)
    }
    if ((marks & (1 << Plane.idn)) !== 0) {
      idn.push(position)
      aLabels.push(aLabelOf(name))
    }
    if (record.tags !== '') {
      marks |= 1 << Plane.tagged
      tagged.push(position)
      tagSet.push(tagSets.numberOf(record.tags))
    }
    if (order !== 'deleted') {
      if (position % BLOCK === 0) deletedBefore.push(deletedAt.length)
      if (!Number.isNaN(record.deleted)) deletedAt.push(record.deleted)
    }
    for (let plane = 0; marks !== 0; plane++, marks >>>= 1) {
      if ((marks & 1) !== 0) setBits(planes, plane * words + (position >>> 5), 1 << (position & 31))
    }
    position++
  }
  const ends = [0]
  for (const label of aLabels) ends.push((ends.at(-1) ?? 0) + label.length)
  return {
    count,
    names,
    starts,
    wordEnds,
    keys,
    registered,
    modified,
    deletions: {
      at: order === 'deleted' ? keys : sharedCopy(shared.f64, deletedAt),
      before: sharedCopy(shared.u32, deletedBefore),
    },
    agent,
    agents: agents.texts,
    planes,
    discarded: { positions: sharedCopy(shared.u32, discarded), at: sharedCopy(shared.f64, discardedAt) },
    tags: {
      positions: sharedCopy(shared.u32, tagged),
      set: sharedCopy(shared.u32, tagSet),
      sets: tagSets.texts,
    },
    aLabels: {
      positions: sharedCopy(shared.u32, idn),
      bytes: sharedCopy(shared.u8, Buffer.from(aLabels.join(''), 'latin1')),
      starts: sharedCopy(shared.u32, ends),
    },
    zones: { modified: zonesOf(modified), deleted: zonesOf(deletions) },
    ...indexNames(names, starts, planes),
  }
}

/** Writes a name in Latin-1. @returns the marks that are derived from it */
function writeName(names: Uint8Array, start: number, name: string): number {
  let marks = 0
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at)
    names[start + at] = code
    marks |= MARKS_OF[code] ?? 0
  }
  return marks
}

function markWords(wordEnds: Uint32Array, start: number, { name, words }: IndexedRecord): void {
  let at = 0
  for (const word of words) {
    while (name.charCodeAt(at) === HYPHEN) at++
    at += word.length
    const last = start + at - 1
    setBits(wordEnds, last >>> 5, 1 << (last & 31))
  }
}

/** Numbers texts that many records share, in the order in which they occur. */
class NumberedTexts {
  readonly texts: string[] = []
  readonly #numbers = new Map<string, number>()

  numberOf(text: string): number {
    let number = this.#numbers.get(text)
    if (number === undefined) {
      number = this.texts.push(text) - 1
      this.#numbers.set(text, number)
    }
    return number
  }
}

function sharedCopy<T extends Uint8Array | Uint32Array | Float64Array>(
  allocate: (length: number) => T,
  values: ArrayLike<number>,
): T {
  const array = allocate(values.length)
  array.set(values)
  return array
}
