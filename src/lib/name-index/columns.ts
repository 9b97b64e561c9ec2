/** Allocates memory that threads share: what one thread builds another searches without a copy. */
export const shared = {
  u8: (length: number) => new Uint8Array(new SharedArrayBuffer(length)),
  u32: (length: number) => new Uint32Array(new SharedArrayBuffer(length * 4)),
  f64: (length: number) => new Float64Array(new SharedArrayBuffer(length * 8)),
}

/** How the records of a list are sorted: all by registration, those that are not bought also by deletion. */
export const ORDERS = ['registered', 'deleted'] as const
export type Order = (typeof ORDERS)[number]

/**
 * The marks of names that contain one of some characters, and their planes. No character is special within the brackets of
 * a pattern.
 */
export const CHARACTER_MARKS = {
  hyphen: { plane: 5, characters: '-' },
  digits: { plane: 6, characters: '0123456789' },
  idn: { plane: 7, characters: 'áéíóúüñ' },
} as const
export type CharacterMark = keyof typeof CHARACTER_MARKS

/** The marks of a record, one plane (a bit per record) each, so that 32 records are tested at a time. */
export const Plane = {
  status: 0,
  reserved: 1,
  revision: 2,
  discarded: 3,
  seen: 4,
  hyphen: CHARACTER_MARKS.hyphen.plane,
  digits: CHARACTER_MARKS.digits.plane,
  idn: CHARACTER_MARKS.idn.plane,
  tagged: 8,
  /** The number of words, in binary; `MAX_WORDS` stands for more as well. */
  words1: 9,
  words2: 10,
  words4: 11,
  /** `date_reg` is not a registration. */
  undated: 12,
} as const
export const MARKS = 13
export const MAX_WORDS = 7

/** Records per block: as many as a word has bits. */
export const BLOCK = 32
/** Maximum records of a segment: larger ones would take too long to merge. */
export const MAX_RECORDS = 2 ** 21
/** Characters of a name. */
export const MAX_LENGTH = 63

/** Which blocks have a record with a key (`block-index.ts`). */
export interface BlockIndex {
  /** A bit per block, key by key. */
  readonly bits: Uint32Array
  /** The number of blocks that have each key. */
  readonly counts: Uint32Array
}

/** When the records that are not bought were deleted. In the order by deletion, `at` is `keys` and `before` is empty. */
interface Deletions {
  /** Timestamps, in the order of positions. */
  readonly at: Float64Array
  /** The number of such records before each block. */
  readonly before: Uint32Array
}

/** The tags of the records that have some, by position: each an index into `sets`. */
interface Tags {
  readonly positions: Uint32Array
  readonly set: Uint32Array
  /** Each tag with a space before and after it: ` casa venta `. */
  readonly sets: readonly string[]
}

/** Per block, the lowest and the highest timestamp (`zonesOf`). */
export interface Zones {
  readonly modified: Float64Array
  readonly deleted: Float64Array
}

/** The A-labels of the records whose names have letters beyond ASCII, by position. */
interface ALabels {
  readonly positions: Uint32Array
  readonly bytes: Uint8Array
  readonly starts: Uint32Array
}

/** Immutable records, column by column, newest first: sorted by `keys` and then by name, both descending. */
export interface Columns {
  readonly count: number
  /** Concatenated names in Latin-1; the one at position `p` goes from `starts[p]` to `starts[p + 1]`. */
  readonly names: Uint8Array
  readonly starts: Uint32Array
  /** A bit for each byte of `names`: set where a word ends, in names that consist of words. */
  readonly wordEnds: Uint32Array
  /** Timestamps: the sort key, `date_reg` and `date_mod`. */
  readonly keys: Float64Array
  readonly registered: Float64Array
  readonly modified: Float64Array
  readonly deletions: Deletions
  /** Index into `agents`. */
  readonly agent: Uint32Array
  readonly agents: readonly string[]
  /** `PLANES` times `Math.ceil(count / 32)` words, plane by plane. */
  readonly planes: Uint32Array
  /** The number of records that have the bit of each plane. */
  readonly planeCounts: Uint32Array
  /** Positions of discarded records, and when each was discarded: milliseconds since 1970. */
  readonly discarded: { readonly positions: Uint32Array; readonly at: Float64Array }
  readonly tags: Tags
  readonly aLabels: ALabels
  readonly zones: Zones
  readonly blocks: BlockIndex
}

/** Returns the memory of all arrays and strings of a value, in bytes. */
export function sizeOf(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength
  if (typeof value === 'string') return 2 * value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, part) => sum + sizeOf(part), 0)
}

/** The number of bits that are set in a word. */
export function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555)
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

export const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits)
export const highestBit = (bits: number): number => 31 - Math.clz32(bits)

export function setBits(words: Uint32Array, word: number, bits: number): void {
  words[word] = (words[word] ?? 0) | bits
}
