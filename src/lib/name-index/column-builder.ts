import {
  BLOCK,
  MAX_LENGTH,
  getRank,
  shared,
  setBits,
  SparseBuilder,
  type Columns,
  type NumberColumn,
  type Order,
} from './columns.ts'
import {
  GRAMS,
  HYPHEN,
  setGrams,
  type Layout,
  type Trait,
  isLetter,
  NAME_PLANES,
  setNamePlanes,
  setNumber,
} from './planes.ts'
import { twinEntry } from './twins.ts'

export interface IndexedRecord {
  readonly name: string
  /** The words of the name, in order and without hyphens; empty if it does not consist of words. */
  readonly words: readonly string[]
  readonly agent: string
  /** Milliseconds since 1970; NaN if it is not discarded. */
  readonly discardedAt: number
  /** Timestamps. */
  readonly registered: number
  readonly modified: number
  /** NaN if it is unknown. */
  readonly statusAt: number
  /** NaN if it is bought. */
  readonly deleted: number
  /** Each tag with a space before and after it; empty if there is none. */
  readonly tags: string
  readonly numbers: ReadonlyMap<string, number>
  /** In the order of the layout. */
  readonly traits: readonly number[]
}

/** Whether columns can hold the record. The service itself writes no other. */
export function isIndexable(record: IndexedRecord, { traits }: Layout): boolean {
  const { name, registered, modified } = record
  return (
    name.length > 0 &&
    name.length <= MAX_LENGTH &&
    [...name].every(isLetter) &&
    !Number.isNaN(registered) &&
    !Number.isNaN(modified) &&
    record.traits.every((value, i) => Number.isInteger(value) && value >= 0 && value <= (traits[i]?.max ?? 0))
  )
}

export interface BuildOptions {
  readonly order: Order
  readonly layout: Layout
  /** The trait of records that come first among those whose names have one key. */
  readonly firstTwins: Trait
}

/** Builds columns of the records, all indexable, that a list in this order contains. */
export function toColumns(records: readonly IndexedRecord[], options: BuildOptions): Columns {
  const { order } = options
  const listed = order === 'deleted' ? records.filter(({ deleted }) => !Number.isNaN(deleted)) : records
  // Code units of these names compare as their bytes do.
  const sorted = listed.toSorted(
    (one, other) => other[order] - one[order] || (other.name < one.name ? -1 : 1),
  )
  const nameBytes = sorted.reduce((sum, { name }) => sum + name.length, 0)
  return buildColumns(sorted, { count: sorted.length, nameBytes }, options)
}

interface Sizes {
  readonly count: number
  /** The length of all names together. */
  readonly nameBytes: number
}

/** Builds columns of records that are sorted already: by key and then by name, both descending. */
export function buildColumns(
  records: Iterable<IndexedRecord>,
  { count, nameBytes }: Sizes,
  { order, layout, firstTwins }: BuildOptions,
): Columns {
  const names = shared.u8(nameBytes)
  const starts = shared.u32(count + 1)
  const wordEnds = shared.u32(Math.ceil(nameBytes / 32))
  const keys = shared.f64(count)
  const registered = order === 'registered' ? keys : shared.f64(count)
  const modified = shared.f64(count)
  const statusAt = shared.f64(count)
  const agent = shared.u32(count)
  const agents = new NumberedTexts()
  const tagSets = new NumberedTexts()
  const tags = new SparseBuilder(count)
  const free = new SparseBuilder(count)
  const discarded = new SparseBuilder(count)
  const numbers = new Map<string, SparseBuilder>()
  const planes = new PlanesBuilder(count, NAME_PLANES + layout.planes)
  const grams = new PlanesBuilder(Math.ceil(count / BLOCK), GRAMS)
  const traitPlanes = layout.traits.map((trait) => layout.toPlanes(trait))
  const twins = shared.f64(order === 'registered' ? count : 0)
  const firstIndex = layout.traits.indexOf(firstTwins)
  let position = 0
  let start = 0
  for (const record of records) {
    const { name } = record
    for (let at = 0; at < name.length; at++) names[start + at] = name.charCodeAt(at)
    markWordEnds(wordEnds, names, start, record.words)
    const end = start + name.length
    const ofBlock = planes.toBlock(position)
    const bit = 1 << (position & 31)
    setNamePlanes(names, start, end, ofBlock, bit)
    for (const [i, place] of traitPlanes.entries()) setNumber(ofBlock, place, record.traits[i] ?? 0, bit)
    const block = position >>> 5
    if (twins.length > 0)
      twins[position] = twinEntry(names, start, end, record.traits[firstIndex] === 1, position)
    setGrams(names, start, end, grams.toBlock(block), 1 << (block & 31))
    start = end
    starts[position + 1] = start
    keys[position] = record[order]
    registered[position] = record.registered
    modified[position] = record.modified
    statusAt[position] = record.statusAt
    agent[position] = agents.toNumber(record.agent)
    if (record.tags !== '') tags.add(position, tagSets.toNumber(record.tags))
    if (!Number.isNaN(record.deleted)) free.add(position, record.deleted)
    if (!Number.isNaN(record.discardedAt)) discarded.add(position, record.discardedAt)
    for (const [key, number] of record.numbers) getBuilder(numbers, key, count).add(position, number)
    position++
  }
  return {
    count,
    names,
    starts,
    wordEnds,
    keys,
    registered,
    modified,
    statusAt,
    planes: planes.build(),
    grams: grams.build(),
    agent,
    agents: agents.texts,
    tagged: tags.build(),
    tags: sharedCopy(shared.u32, tags.values),
    tagSets: tagSets.texts,
    free: free.build(),
    deleted: order === 'deleted' ? keys : sharedCopy(shared.f64, free.values),
    discarded: discarded.build(),
    discardedAt: sharedCopy(shared.f64, discarded.values),
    numbers: Array.from(numbers, ([key, column]) => numberColumn(key, column, count)),
    twins: twins.sort(),
  }
}

/** Sets a bit where each word ends of the name that begins at `start`. */
function markWordEnds(
  wordEnds: Uint32Array,
  names: Uint8Array,
  start: number,
  words: readonly string[],
): void {
  let at = start
  for (const word of words) {
    while (names[at] === HYPHEN) at++
    at += word.length
    setBits(wordEnds, (at - 1) >>> 5, 1 << ((at - 1) & 31))
  }
}

function getBuilder(builders: Map<string, SparseBuilder>, key: string, count: number): SparseBuilder {
  let builder = builders.get(key)
  if (builder === undefined) builders.set(key, (builder = new SparseBuilder(count)))
  return builder
}

/** Takes the form that needs less memory: at most 8 bytes per record. */
function numberColumn(key: string, builder: SparseBuilder, count: number): NumberColumn {
  const has = builder.build()
  const sparseBytes = has.present.byteLength + has.before.byteLength + 8 * builder.values.length
  if (sparseBytes < 8 * count) return { key, has, values: sharedCopy(shared.f64, builder.values) }
  const values = shared.f64(count)
  for (let position = 0; position < count; position++)
    values[position] = builder.values[getRank(has, position)] ?? NaN
  return { key, has: undefined, values }
}

/** Numbers texts that many records share, in the order in which they occur. */
class NumberedTexts {
  readonly texts: string[] = []
  readonly #numbers = new Map<string, number>()

  toNumber(text: string): number {
    let number = this.#numbers.get(text)
    if (number === undefined) {
      number = this.texts.push(text) - 1
      this.#numbers.set(text, number)
    }
    return number
  }
}

function sharedCopy<T extends Uint32Array | Float64Array>(
  allocate: (length: number) => T,
  values: ArrayLike<number>,
): T {
  const array = allocate(values.length)
  array.set(values)
  return array
}

/** Collects the planes of a block in memory that stays in the cache of the processor. */
class PlanesBuilder {
  readonly #words: number
  readonly #planes: Uint32Array
  readonly #block: Uint32Array
  #at = 0

  constructor(count: number, planes: number) {
    this.#words = Math.ceil(count / BLOCK)
    this.#planes = shared.u32(planes * this.#words)
    this.#block = new Uint32Array(planes)
  }

  /** Returns a word for each plane of the block of a position. Positions are in ascending order. */
  toBlock(position: number): Uint32Array {
    const at = position >>> 5
    if (at !== this.#at) this.#store(at)
    return this.#block
  }

  build(): Uint32Array {
    if (this.#words > 0) this.#store(this.#words)
    return this.#planes
  }

  #store(next: number): void {
    for (const [plane, bits] of this.#block.entries())
      if (bits !== 0) this.#planes[plane * this.#words + this.#at] = bits
    this.#block.fill(0)
    this.#at = next
  }
}
