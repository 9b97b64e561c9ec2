import { NO_SYMBOL, SYMBOL_OF, PLANES } from './planes.ts'
import { setBits, BLOCK, MAX_LENGTH, MAX_WORDS, Plane, shared, type Columns, type Order } from './columns.ts'
import { indexNames, zonesOf } from './block-index.ts'
import { sortedPlaces } from './segment.ts'

/** A value that columns cannot hold. The service itself never writes one. */
export class UnsupportedValueError extends Error {}

export interface IndexedRecord {
  readonly name: string
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
  /** Each tag with a space before and after it; empty if there is none. */
  readonly tags: string
}

const HYPHEN = 0x2d

/** The A-label of a name with letters beyond ASCII. */
export type ALabelOf = (name: string) => string

/** Returns the words of a name, in order and without hyphens; empty if the name does not consist of words. */
export type WordsOf = (name: string) => readonly string[]

/** Collects records in any order and builds columns from them. */
export class ColumnBuilder {
  count = 0
  names: Uint8Array
  /** For each byte of `names`, 1 where a word ends. */
  wordEnds: Uint8Array
  starts: Uint32Array
  registered: Float64Array
  modified: Float64Array
  deleted: Float64Array
  discardedAt: Float64Array
  agent: Uint32Array
  /** Status, reserved, revision and seen, each at the bit of its plane. */
  marks: Uint8Array
  /** Index into `tagSets`; 0 for none. */
  tags: Uint32Array
  readonly agents: string[] = []
  readonly #agentNumbers = new Map<string, number>()
  readonly tagSets: string[] = ['']
  readonly #tagNumbers = new Map<string, number>()
  /** By place, up to `MAX_WORDS`. */
  wordCounts: Uint8Array
  readonly #aLabelOf: ALabelOf
  readonly #wordsOf: WordsOf
  #capacity: number

  constructor(capacity: number, aLabelOf: ALabelOf, wordsOf: WordsOf) {
    this.#aLabelOf = aLabelOf
    this.#wordsOf = wordsOf
    this.#capacity = Math.max(1, capacity)
    this.names = new Uint8Array(this.#capacity * 12)
    this.wordEnds = new Uint8Array(this.#capacity * 12)
    this.wordCounts = new Uint8Array(this.#capacity)
    this.starts = new Uint32Array(this.#capacity + 1)
    this.registered = new Float64Array(this.#capacity)
    this.modified = new Float64Array(this.#capacity)
    this.deleted = new Float64Array(this.#capacity)
    this.discardedAt = new Float64Array(this.#capacity)
    this.agent = new Uint32Array(this.#capacity)
    this.marks = new Uint8Array(this.#capacity)
    this.tags = new Uint32Array(this.#capacity)
  }

  /** @throws UnsupportedValueError */
  add(record: IndexedRecord): void {
    const { name } = record
    if (name.length === 0 || name.length > MAX_LENGTH)
      throw new UnsupportedValueError('a name that is empty or too long')
    const start = this.#reserve(name.length)
    for (let at = 0; at < name.length; at++) {
      const code = name.charCodeAt(at)
      if (code > 0xff || SYMBOL_OF[code] === NO_SYMBOL)
        throw new UnsupportedValueError('a name with characters outside the alphabet')
      this.names[start + at] = code
    }
    if (Number.isNaN(record.registered) || Number.isNaN(record.modified))
      throw new UnsupportedValueError('an invalid date')
    this.#markWords(start, name)
    this.#append(start + name.length, record)
  }

  /** Adds a record from columns, without checking it again. */
  copy({ names, starts, wordEnds }: Columns, position: number, record: Omit<IndexedRecord, 'name'>): void {
    const from = starts[position] ?? 0
    const to = starts[position + 1] ?? 0
    const start = this.#reserve(to - from)
    let words = 0
    for (let at = from; at < to; at++) {
      this.names[start + at - from] = names[at] ?? 0
      const isEnd = ((wordEnds[at >>> 5] ?? 0) >>> (at & 31)) & 1
      this.wordEnds[start + at - from] = isEnd
      words += isEnd
    }
    this.wordCounts[this.count] = Math.min(words, MAX_WORDS)
    this.#append(start + to - from, record)
  }

  /** Builds columns of the records that a list in this order contains. */
  build(order: Order): Columns {
    const places = sortedPlaces(this, order)
    const count = places.length
    const words = Math.ceil(count / BLOCK)
    const { names, starts, wordEnds } = this.#namesAt(places)
    const planes = shared.u32(PLANES * words)
    const keys = shared.f64(count)
    const registered = order === 'registered' ? keys : shared.f64(count)
    const modified = shared.f64(count)
    const agent = shared.u32(count)
    const discarded: number[] = []
    const discardedAt: number[] = []
    const idn: number[] = []
    const tagged: number[] = []
    const tagSet: number[] = []
    const deletedAt: number[] = []
    const deletedBefore: number[] = []
    for (let position = 0; position < count; position++) {
      const place = places[position] ?? 0
      keys[position] = this[order][place] ?? NaN
      registered[position] = this.registered[place] ?? NaN
      modified[position] = this.modified[place] ?? NaN
      agent[position] = this.agent[place] ?? 0
      let marks = (this.marks[place] ?? 0) | traitsOf(names, starts[position] ?? 0, starts[position + 1] ?? 0)
      const at = this.discardedAt[place] ?? NaN
      if (!Number.isNaN(at)) {
        marks |= 1 << Plane.discarded
        discarded.push(position)
        discardedAt.push(at)
      }
      if ((marks & (1 << Plane.idn)) !== 0) idn.push(position)
      marks |= (this.wordCounts[place] ?? 0) << Plane.words1
      const tags = this.tags[place] ?? 0
      if (tags !== 0) {
        marks |= 1 << Plane.tagged
        tagged.push(position)
        tagSet.push(tags)
      }
      if (order !== 'deleted') {
        if (position % BLOCK === 0) deletedBefore.push(deletedAt.length)
        const deleted = this.deleted[place] ?? NaN
        if (!Number.isNaN(deleted)) deletedAt.push(deleted)
      }
      for (let plane = 0; marks !== 0; plane++, marks >>>= 1) {
        if ((marks & 1) !== 0) setBits(planes, plane * words + (position >>> 5), 1 << (position & 31))
      }
    }
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
      agents: this.agents,
      planes,
      discarded: { positions: sharedCopy(shared.u32, discarded), at: sharedCopy(shared.f64, discardedAt) },
      tags: {
        positions: sharedCopy(shared.u32, tagged),
        set: sharedCopy(shared.u32, tagSet),
        sets: this.tagSets,
      },
      aLabels: this.#aLabels(names, starts, idn),
      zones: {
        modified: zonesOf(count, (position) => modified[position] ?? NaN),
        deleted: zonesOf(count, (position) => this.deleted[places[position] ?? 0] ?? NaN),
      },
      ...indexNames(names, starts, planes),
    }
  }

  /** Makes room for one more record. @returns where its name begins */
  #reserve(length: number): number {
    if (this.count === this.#capacity) {
      this.#capacity *= 2
      this.starts = grown(this.starts, new Uint32Array(this.#capacity + 1))
      for (const column of ['registered', 'modified', 'deleted', 'discardedAt'] as const)
        this[column] = grown(this[column], new Float64Array(this.#capacity))
      for (const column of ['agent', 'tags'] as const)
        this[column] = grown(this[column], new Uint32Array(this.#capacity))
      for (const column of ['marks', 'wordCounts'] as const)
        this[column] = grown(this[column], new Uint8Array(this.#capacity))
    }
    const start = this.starts[this.count] ?? 0
    if (start + length > this.names.length) {
      this.names = grown(this.names, new Uint8Array(this.names.length * 2 + length))
      this.wordEnds = grown(this.wordEnds, new Uint8Array(this.names.length))
    }
    return start
  }

  #markWords(start: number, name: string): void {
    const words = this.#wordsOf(name)
    this.wordCounts[this.count] = Math.min(words.length, MAX_WORDS)
    let at = 0
    for (const word of words) {
      while (name.charCodeAt(at) === HYPHEN) at++
      at += word.length
      this.wordEnds[start + at - 1] = 1
    }
  }

  #append(nameEnd: number, record: Omit<IndexedRecord, 'name'>): void {
    const place = this.count++
    this.starts[place + 1] = nameEnd
    this.registered[place] = record.registered
    this.modified[place] = record.modified
    this.deleted[place] = record.deleted
    this.discardedAt[place] = record.discardedAt
    this.agent[place] = numberOf(record.agent, this.agents, this.#agentNumbers)
    if (record.tags !== '') this.tags[place] = numberOf(record.tags, this.tagSets, this.#tagNumbers)
    this.marks[place] =
      (record.status << Plane.status) |
      (record.reserved << Plane.reserved) |
      (record.revision << Plane.revision) |
      (record.seen << Plane.seen)
  }

  #namesAt(places: Uint32Array): Pick<Columns, 'names' | 'starts' | 'wordEnds'> {
    const starts = shared.u32(places.length + 1)
    let end = 0
    for (let position = 0; position < places.length; position++) {
      const place = places[position] ?? 0
      end += (this.starts[place + 1] ?? 0) - (this.starts[place] ?? 0)
      starts[position + 1] = end
    }
    const names = shared.u8(end)
    const wordEnds = shared.u32(Math.ceil(end / 32))
    let to = 0
    for (const place of places) {
      const last = this.starts[place + 1] ?? 0
      for (let from = this.starts[place] ?? 0; from < last; from++) {
        if (this.wordEnds[from] === 1) setBits(wordEnds, to >>> 5, 1 << (to & 31))
        names[to++] = this.names[from] ?? 0
      }
    }
    return { names, starts, wordEnds }
  }

  #aLabels(names: Uint8Array, starts: Uint32Array, positions: readonly number[]): Columns['aLabels'] {
    const text = Buffer.from(names.buffer)
    const labels = positions.map((position) =>
      this.#aLabelOf(text.toString('latin1', starts[position], starts[position + 1])),
    )
    const ends = [0]
    for (const label of labels) ends.push((ends.at(-1) ?? 0) + label.length)
    const bytes = shared.u8(ends.at(-1) ?? 0)
    Buffer.from(bytes.buffer).write(labels.join(''), 'latin1')
    return { positions: sharedCopy(shared.u32, positions), bytes, starts: sharedCopy(shared.u32, ends) }
  }
}

/** Returns the index of a text that many records share. */
function numberOf(text: string, texts: string[], numbers: Map<string, number>): number {
  let number = numbers.get(text)
  if (number === undefined) {
    number = texts.push(text) - 1
    numbers.set(text, number)
  }
  return number
}

/** Returns the marks that are derived from a name. */
function traitsOf(names: Uint8Array, start: number, end: number): number {
  let traits = 0
  for (let at = start; at < end; at++) {
    const code = names[at] ?? 0
    if (code === 0x2d) traits |= 1 << Plane.hyphen
    else if (code <= 0x39) traits |= 1 << Plane.digits
    else if (code > 0x7f) traits |= 1 << Plane.idn
  }
  return traits
}

function grown<T extends Uint8Array | Uint32Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}

function sharedCopy<T extends Uint32Array | Float64Array>(
  allocate: (length: number) => T,
  values: readonly number[],
): T {
  const array = allocate(values.length)
  array.set(values)
  return array
}
