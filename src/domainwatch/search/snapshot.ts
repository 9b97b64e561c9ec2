import { closeSync, existsSync, fsyncSync, openSync, readSync, fstatSync, writeSync } from 'node:fs'
import { endianness } from 'node:os'
import { crc32 } from 'node:zlib'
import { createFileSync } from '../../lib/private-files.ts'
import type { Cursor } from '../../storage/database/changes/change.ts'
import { KEYS, PLANES } from './blocks.ts'
import { shared } from './columns.ts'
import type { MergePart } from './merge.ts'
import type { Order } from './order.ts'

/**
 * All segments in one file, so that a start need not read the records one by one. It says of which moment it is, and is read
 * only by the very version that wrote it: what another one means by a bit is not known. A part that is damaged makes all of
 * it worthless, as the database has everything.
 */
export interface Snapshot {
  /** The place in the log of changes up to which it has everything. */
  readonly place: PlaceInLog
  readonly parts: Readonly<Record<Order, readonly MergePart[]>>
}

/** Where it is kept. */
export interface KeptFile {
  readonly path: string
  /** Of the product: another one does not read it. */
  readonly version: string
}

/** A place in a log of changes, and the change that stands there: a log that went another way has another one. */
interface PlaceInLog {
  readonly cursor: Cursor
  readonly witness: string
}

/** Magic, length of the head, its checksum. */
const MAGIC = Buffer.from('catalejo lists\n\n')
const PREFIX = MAGIC.length + 8
/** Larger than the head of any file of ours: names of agents are most of it. */
const MAX_HEAD = 2 ** 28
const ALIGNMENT = 8
/** What one call reads or writes: some systems take no more than 2 GB. */
const PIECE = 2 ** 26

/** Changes with whatever the columns mean. */
const layoutOf = (version: string): string => ['lists-3', version, endianness(), KEYS, PLANES].join(' ')

const MAKE = {
  Uint8Array: shared.u8,
  Uint32Array: shared.u32,
  Float64Array: shared.f64,
}
type Numbers = Uint8Array | Uint32Array | Float64Array

interface Head {
  readonly layout: string
  readonly place: PlaceInLog
  readonly arrays: readonly ArrayHead[]
  /** JSON of the parts, in which each array is `{"$":N}`. */
  readonly parts: string
}

interface ArrayHead {
  readonly type: keyof typeof MAKE
  readonly length: number
  readonly crc: number
}

/** Writes it to a new file and flushes that. */
export function writeSnapshot({ path, version }: KeptFile, { place, parts }: Snapshot): void {
  const arrays = new Map<Numbers, number>()
  const text = JSON.stringify(parts, (_, value: unknown) => {
    if (!isNumbers(value)) return value
    if (!arrays.has(value)) arrays.set(value, arrays.size)
    return { $: arrays.get(value) }
  })
  const heads = Array.from(arrays.keys(), (array) => ({
    type: array.constructor.name,
    length: array.length,
    crc: crc32(bytesOf(array)),
  }))
  const head = Buffer.from(JSON.stringify({ layout: layoutOf(version), place, arrays: heads, parts: text }))
  const prefix = Buffer.concat([MAGIC, Buffer.alloc(8)])
  prefix.writeUInt32LE(head.length, MAGIC.length)
  prefix.writeUInt32LE(crc32(head), MAGIC.length + 4)
  const file = createFileSync(path)
  try {
    for (const part of [prefix, head, padding(PREFIX + head.length)]) writeAll(file, part)
    for (const array of arrays.keys()) {
      writeAll(file, bytesOf(array))
      writeAll(file, padding(array.byteLength))
    }
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * @param memory bytes that it may take
 * @returns undefined where it is not one that this version wrote, whole and undamaged, or too large
 */
export function readSnapshot({ path, version }: KeptFile, memory: number): Snapshot | undefined {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const head = size > memory + MAX_HEAD ? undefined : readHead(file, size, version)
    const arrays = head && readArrays(file, aligned(head.end), size, head.arrays)
    if (head === undefined || arrays === undefined) return undefined
    const parts: Snapshot['parts'] = JSON.parse(head.parts, (_, value: unknown) =>
      isReference(value) ? arrays[value.$] : value,
    )
    return { place: head.place, parts }
  } finally {
    closeSync(file)
  }
}

/** Of which place a file says that it is; undefined where there is none that could be read. */
export function placeIn({ path, version }: KeptFile): string | undefined {
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r')
  try {
    return readHead(file, fstatSync(file).size, version)?.place.cursor
  } finally {
    closeSync(file)
  }
}

function readHead(
  file: number,
  size: number,
  version: string,
): (Head & { readonly end: number }) | undefined {
  if (size < PREFIX) return undefined
  const prefix = Buffer.alloc(PREFIX)
  readAll(file, prefix, 0)
  const length = prefix.readUInt32LE(MAGIC.length)
  if (!prefix.subarray(0, MAGIC.length).equals(MAGIC) || length > Math.min(MAX_HEAD, size - PREFIX))
    return undefined
  const bytes = Buffer.alloc(length)
  readAll(file, bytes, PREFIX)
  if (crc32(bytes) !== prefix.readUInt32LE(MAGIC.length + 4)) return undefined
  // Its checksum says that it is as it was written, by a version that may be another one.
  const head: Head = JSON.parse(bytes.toString())
  return head.layout === layoutOf(version) ? { ...head, end: PREFIX + length } : undefined
}

function readArrays(
  file: number,
  start: number,
  size: number,
  heads: readonly ArrayHead[],
): Numbers[] | undefined {
  const bytes = (head: ArrayHead) => head.length * MAKE[head.type](0).BYTES_PER_ELEMENT
  const end = heads.reduce((sum, head) => sum + aligned(bytes(head)), start)
  if (end !== size) return undefined
  let at = start
  const arrays: Numbers[] = []
  for (const head of heads) {
    const array = MAKE[head.type](head.length)
    readAll(file, bytesOf(array), at)
    if (crc32(bytesOf(array)) !== head.crc) return undefined
    arrays.push(array)
    at += aligned(array.byteLength)
  }
  return arrays
}

function isNumbers(value: unknown): value is Numbers {
  return ArrayBuffer.isView(value) && value.constructor.name in MAKE
}

function isReference(value: unknown): value is { readonly $: number } {
  return typeof value === 'object' && value !== null && '$' in value
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Numbers): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

const aligned = (length: number): number => Math.ceil(length / ALIGNMENT) * ALIGNMENT
const padding = (length: number): Uint8Array => new Uint8Array(aligned(length) - length)

function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, Math.min(PIECE, bytes.length - at))
}

/** @throws where the file ends too early */
function readAll(file: number, bytes: Uint8Array, from: number): void {
  for (let at = 0; at < bytes.length;) {
    const read = readSync(file, bytes, at, Math.min(PIECE, bytes.length - at), from + at)
    if (read === 0) throw new Error('the file ends too early')
    at += read
  }
}
