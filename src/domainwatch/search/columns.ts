/** Memory that threads see at once: what one builds another searches without a copy. */
export const shared = {
  u8: (length: number) => new Uint8Array(new SharedArrayBuffer(length)),
  u32: (length: number) => new Uint32Array(new SharedArrayBuffer(length * 4)),
  f64: (length: number) => new Float64Array(new SharedArrayBuffer(length * 8)),
}

/** What is known of a record by one bit: planes of a bit a record, so that 32 records are tested at once. */
export const Plane = {
  status: 0,
  reserved: 1,
  revision: 2,
  discarded: 3,
  hyphen: 4,
  digits: 5,
  idn: 6,
} as const
export const MARKS = 7

/** Records are looked for in blocks of this many, the bits of a word. */
export const BLOCK = 32
/** Larger segments would take too long to merge. */
export const MAX_RECORDS = BLOCK * 65_536

/** Which blocks have a record with a key (`blocks.ts`). */
export interface BlockIndex {
  /** A bit per block, key by key. */
  readonly bits: Uint32Array
  /** The number of blocks that have each key. */
  readonly counts: Uint32Array
}

/** The A-labels of the records whose names have letters beyond ASCII, by position. */
export interface ALabels {
  readonly positions: Uint32Array
  readonly bytes: Uint8Array
  readonly starts: Uint32Array
}

/**
 * Records in the order of a list, newest first, column by column: sorted by `keys` and then by name, both descending.
 * Nothing of it ever changes.
 */
export interface Columns {
  readonly count: number
  /** Names in Latin-1, one behind the other; the one at position `p` from `starts[p]` to `starts[p + 1]`. */
  readonly names: Uint8Array
  readonly starts: Uint32Array
  /** Moments: of what it is sorted by, of `date_reg`, of `date_mod`. */
  readonly keys: Float64Array
  readonly registered: Float64Array
  readonly modified: Float64Array
  /** Numbers of agents in `agents`. */
  readonly agent: Uint32Array
  readonly agents: readonly string[]
  /** `PLANES` times `Math.ceil(count / 32)` words, plane by plane. */
  readonly planes: Uint32Array
  /** The number of records that have the bit of each plane. */
  readonly planeCounts: Uint32Array
  /** Positions of discarded records, and when each was marked: milliseconds since 1970. */
  readonly discarded: { readonly positions: Uint32Array; readonly at: Float64Array }
  readonly aLabels: ALabels
  readonly blocks: BlockIndex
}

/** Bytes that columns take. */
export function sizeOf(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength
  if (typeof value === 'string') return 2 * value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, part) => sum + sizeOf(part), 0)
}

/** Sets bits of a word. */
export function set(words: Uint32Array, word: number, bits: number): void {
  words[word] = (words[word] ?? 0) | bits
}
