import { setImmediate as nextTurn } from 'node:timers/promises'
import { instantiateKernels } from './kernels.ts'

/** A 64-bit hash in halves, on which engines compute fast. Arrays of hashes (`halves`) hold the low half first. */
export interface Hash64 {
  readonly low: number
  readonly high: number
}

export const isHash64 = (text: string): boolean => /^[0-9a-f]{16}$/.test(text)

/** Whether a hash says nothing: no pixel is brighter than the one before, as in a picture without contrast. */
export const isFlatHash = (hash: string): boolean => /^0+$/.test(hash)

/** The hash of the mirrored picture, up to pixels of equal brightness: each row in reverse, with its differences negated. */
export function mirrorHash(hash: string): string {
  const row = (byte: number) => {
    let mirrored = 0
    for (let bit = 0; bit < 8; bit++) mirrored |= (((byte >> bit) & 1) ^ 1) << (7 - bit)
    return mirrored
  }
  return Buffer.from(Buffer.from(hash, 'hex').map(row)).toString('hex')
}

/** @param text 16 lower-case hex digits at `at` */
export function parseHash64(text: string, at = 0): Hash64 {
  return { high: parseHalf(text, at), low: parseHalf(text, at + 8) }
}

/** Parses concatenated hashes of 16 hex digits into halves. */
export function unpackHashes(packed: string): Uint32Array {
  const halves = new Uint32Array(packed.length / 8)
  for (let at = 0, i = 0; at < packed.length; at += 16, i += 2) {
    halves[i] = parseHalf(packed, at + 8)
    halves[i + 1] = parseHalf(packed, at)
  }
  return halves
}

/** Digit by digit, because a substring for each half of ten million hashes would be garbage to collect. */
function parseHalf(text: string, at: number): number {
  let value = 0
  for (let i = at; i < at + 8; i++) {
    const code = text.charCodeAt(i)
    value = (value << 4) | (code < 58 ? code - 48 : code - 87)
  }
  return value >>> 0
}

export const formatHash64 = (high: number, low: number): string =>
  high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')

export function popcount(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  bits = (bits + (bits >>> 4)) & 0x0f0f0f0f
  return Math.imul(bits, 0x01010101) >>> 24
}

export const distanceBetween = (one: Hash64, other: Hash64): number =>
  popcount(one.high ^ other.high) + popcount(one.low ^ other.low)

/** Hashes compared per call: they and the indices found fit a second-level cache. */
const STRIP = 32_768
const KEYS = 0
const FOUND = STRIP * 8
const PAGES = (FOUND + STRIP * 4) / 65_536
/** Strips between yields to the event loop: about half a millisecond. */
const STRIPS_PER_TURN = 8

/** The hashes within `distance` bits of `query`, by distance. Duplicates are removed when they are read. */
export class Matches {
  readonly query: Hash64
  readonly distance: number
  /** For each distance the halves of its hashes, the high one first. */
  readonly #halvesByDistance: number[][]

  constructor(query: Hash64, distance: number) {
    this.query = query
    this.distance = distance
    this.#halvesByDistance = Array.from({ length: distance + 1 }, () => [])
  }

  /** Adds a hash if it is near enough. */
  offer(high: number, low: number): void {
    const distance = popcount(high ^ this.query.high) + popcount(low ^ this.query.low)
    this.#halvesByDistance[distance]?.push(high, low)
  }

  /** Yields the distinct hashes of each distance in order, nearest distance first. */
  *byDistance(): Generator<{ readonly distance: number; readonly hashes: readonly string[] }> {
    for (const [distance, halves] of this.#halvesByDistance.entries()) {
      const hashes = new Set<string>()
      for (let i = 0; i < halves.length; i += 2) hashes.add(formatHash64(halves[i] ?? 0, halves[i + 1] ?? 0))
      if (hashes.size > 0) yield { distance, hashes: [...hashes].sort() }
    }
  }
}

function createScanner() {
  const memory = new WebAssembly.Memory({ initial: PAGES })
  return { heap: new Uint32Array(memory.buffer), kernels: instantiateKernels(memory) }
}

let scanner: ReturnType<typeof createScanner> | undefined

/** Compares `matches.query` with the first `count` hashes in `halves`. Yields to the event loop now and then. */
export async function scan(halves: Uint32Array, count: number, matches: Matches): Promise<void> {
  scanner ??= createScanner()
  const { heap, kernels } = scanner
  const { query, distance } = matches
  for (let from = 0, strips = 1; from < count; from += STRIP, strips++) {
    const length = Math.min(STRIP, count - from)
    heap.set(halves.subarray(from * 2, (from + length) * 2), KEYS)
    const found = kernels.findNear(KEYS, length, query.low, query.high, distance, FOUND)
    for (let i = 0; i < found; i++) {
      const at = (heap[FOUND / 4 + i] ?? 0) * 2
      matches.offer(heap[at + 1] ?? 0, heap[at] ?? 0)
    }
    if (strips % STRIPS_PER_TURN === 0) await nextTurn()
  }
}

const INITIAL_CAPACITY = 256
/** Copies less memory than doubling leaves unused. */
const GROWTH = 1.25
const HASH_BYTES = 8

/** Estimates the memory of a list of `count` hashes, with room to grow. In bytes. */
export const estimateBytes = (count: number): number =>
  Math.max(INITIAL_CAPACITY, count * GROWTH) * HASH_BYTES

/** A growing list of hashes that can be searched by distance. */
export class HashList {
  #halves = new Uint32Array(INITIAL_CAPACITY * 2)
  #count = 0

  get count(): number {
    return this.#count
  }

  get bytes(): number {
    return this.#halves.byteLength
  }

  add({ high, low }: Hash64): void {
    if (this.#count * 2 === this.#halves.length) {
      // Copied, because a search may be reading it.
      const larger = new Uint32Array(Math.ceil(this.#count * GROWTH) * 2)
      larger.set(this.#halves)
      this.#halves = larger
    }
    this.#halves[this.#count * 2] = low
    this.#halves[this.#count * 2 + 1] = high
    this.#count++
  }

  async find(query: Hash64, distance: number): Promise<Matches> {
    const matches = new Matches(query, distance)
    await scan(this.#halves, this.#count, matches)
    return matches
  }
}
