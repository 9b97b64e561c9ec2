import { NO_SYMBOL, SYMBOL_OF } from './alphabet.ts'

/** Something in the database that the columns cannot hold, as the service itself never writes it. */
export class Unfit extends Error {}

/** One record on its way into columns. */
export interface DraftRecord {
  readonly name: string
  readonly agent: string
  readonly status: number
  readonly reserved: number
  readonly revision: number
  /** Milliseconds since 1970; NaN when it is not discarded. */
  readonly discardedAt: number
  /** Moments. */
  readonly registered: number
  readonly modified: number
  /** NaN when it is bought. */
  readonly deleted: number
}

const MAX_LENGTH = 63

/** Records in no order yet. */
export class Draft {
  count = 0
  names: Uint8Array
  starts: Uint32Array
  registered: Float64Array
  modified: Float64Array
  deleted: Float64Array
  discardedAt: Float64Array
  agent: Uint32Array
  /** Status, reserved and revision, in bits 0 to 2. */
  marks: Uint8Array
  readonly agents: string[] = []
  readonly #numbers = new Map<string, number>()
  #capacity: number

  constructor(capacity: number) {
    this.#capacity = Math.max(1, capacity)
    this.names = new Uint8Array(this.#capacity * 12)
    this.starts = new Uint32Array(this.#capacity + 1)
    this.registered = new Float64Array(this.#capacity)
    this.modified = new Float64Array(this.#capacity)
    this.deleted = new Float64Array(this.#capacity)
    this.discardedAt = new Float64Array(this.#capacity)
    this.agent = new Uint32Array(this.#capacity)
    this.marks = new Uint8Array(this.#capacity)
  }

  /** @throws Unfit */
  add(record: DraftRecord): void {
    const { name } = record
    if (name.length === 0 || name.length > MAX_LENGTH) throw new Unfit('a name of no or too many characters')
    const start = this.#room(name.length)
    for (let at = 0; at < name.length; at++) {
      const code = name.charCodeAt(at)
      if (code > 0xff || SYMBOL_OF[code] === NO_SYMBOL) throw new Unfit('a name beyond the alphabet')
      this.names[start + at] = code
    }
    if (Number.isNaN(record.registered) || Number.isNaN(record.modified))
      throw new Unfit('a date that is none')
    this.#end(start + name.length, record, this.#number(record.agent))
  }

  /** The same from columns, where all of it has been checked. */
  copy(names: Uint8Array, from: number, to: number, record: Omit<DraftRecord, 'name'>): void {
    const start = this.#room(to - from)
    for (let at = from; at < to; at++) this.names[start + at - from] = names[at] ?? 0
    this.#end(start + to - from, record, this.#number(record.agent))
  }

  #end(end: number, record: Omit<DraftRecord, 'name'>, agent: number): void {
    const place = this.count++
    this.starts[place + 1] = end
    this.registered[place] = record.registered
    this.modified[place] = record.modified
    this.deleted[place] = record.deleted
    this.discardedAt[place] = record.discardedAt
    this.agent[place] = agent
    this.marks[place] = record.status | (record.reserved << 1) | (record.revision << 2)
  }

  #number(agent: string): number {
    let number = this.#numbers.get(agent)
    if (number === undefined) {
      number = this.agents.push(agent) - 1
      this.#numbers.set(agent, number)
    }
    return number
  }

  /** Makes room for one more record. @returns where its name begins */
  #room(length: number): number {
    if (this.count === this.#capacity) {
      this.#capacity *= 2
      this.starts = grown(this.starts, new Uint32Array(this.#capacity + 1))
      this.registered = grown(this.registered, new Float64Array(this.#capacity))
      this.modified = grown(this.modified, new Float64Array(this.#capacity))
      this.deleted = grown(this.deleted, new Float64Array(this.#capacity))
      this.discardedAt = grown(this.discardedAt, new Float64Array(this.#capacity))
      this.agent = grown(this.agent, new Uint32Array(this.#capacity))
      this.marks = grown(this.marks, new Uint8Array(this.#capacity))
    }
    const start = this.starts[this.count] ?? 0
    if (start + length > this.names.length) {
      this.names = grown(this.names, new Uint8Array(this.names.length * 2 + length))
    }
    return start
  }
}

function grown<T extends Uint8Array | Uint32Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}
