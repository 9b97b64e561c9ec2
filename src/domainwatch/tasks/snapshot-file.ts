/** Worker-thread task: writes the list index to a file, and reads it. */
import {
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  fstatSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { partsOf, type Cursor } from '../../storage/database/changes/change.ts'
import { sizeOf, KEYS, PLANES, shared, type Order, type SegmentPart } from '../../lib/name-index/index.ts'
import { isErrorCode } from '../../lib/errors.ts'
import { endianness } from 'node:os'
import { crc32 } from 'node:zlib'
import { createFileSync } from '../../lib/private-files.ts'

/**
 * All segments in one file, so that a start does not read all records from the database. Only the version that
 * wrote a file reads it: others may lay bits out differently. If any part is damaged, the file is ignored: the
 * database has everything.
 */
export interface Snapshot {
  /** The segments contain exactly the changes up to here. */
  readonly logPosition: LogPosition
  readonly parts: Readonly<Record<Order, readonly SegmentPart[]>>
}

export interface IndexFile {
  readonly path: string
  /** Of the product, and of its dictionary. */
  readonly version: string
}

/** A position in the log of changes, and a digest of the change there: a restored database may have another one. */
interface LogPosition {
  readonly cursor: Cursor
  readonly witness: string
}

/** Magic, length of the header, its checksum. */
const MAGIC = Buffer.from('catalejo lists\n\n')
const PREFIX = MAGIC.length + 8
/** Larger than the header of any file of ours: names of agents are most of it. */
const MAX_HEAD = 2 ** 28

/** To be changed whenever the meaning of columns changes. */
const layoutOf = (version: string): string => ['lists-5', version, endianness(), KEYS, PLANES].join(' ')

const ALLOCATE = {
  Uint8Array: shared.u8,
  Uint32Array: shared.u32,
  Float64Array: shared.f64,
}
type Numbers = Uint8Array | Uint32Array | Float64Array

interface Head {
  readonly layout: string
  readonly logPosition: LogPosition
  readonly arrays: readonly ArrayHead[]
  /** JSON of the parts, in which each array is `{"$":N}`. */
  readonly parts: string
}

interface ArrayHead {
  readonly type: keyof typeof ALLOCATE
  readonly length: number
  readonly crc: number
}

/** Writes a new file and flushes it. */
function writeSnapshot({ path, version }: IndexFile, { logPosition, parts }: Snapshot): void {
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
  const head = Buffer.from(
    JSON.stringify({ layout: layoutOf(version), logPosition, arrays: heads, parts: text }),
  )
  const prefix = Buffer.concat([MAGIC, Buffer.alloc(8)])
  prefix.writeUInt32LE(head.length, MAGIC.length)
  prefix.writeUInt32LE(crc32(head), MAGIC.length + 4)
  const file = createFileSync(path)
  try {
    for (const part of [prefix, head, ...Array.from(arrays.keys(), bytesOf)]) writeAll(file, part)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * @param memory maximum size in bytes
 * @returns undefined unless this version wrote the file, and it is complete, undamaged and not too large
 */
function readSnapshot({ path, version }: IndexFile, memory: number): Snapshot | undefined {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const head = size > memory + MAX_HEAD ? undefined : readHead(file, size, version)
    const arrays = head && readArrays(file, head.end, size, head.arrays)
    if (head === undefined || arrays === undefined) return undefined
    const parts: Snapshot['parts'] = JSON.parse(head.parts, (_, value: unknown) =>
      isReference(value) ? arrays[value.$] : value,
    )
    return { logPosition: head.logPosition, parts }
  } finally {
    closeSync(file)
  }
}

/** The cursor in the header of a file; undefined if there is no readable file. */
function cursorIn({ path, version }: IndexFile): string | undefined {
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r')
  try {
    return readHead(file, fstatSync(file).size, version)?.logPosition.cursor
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
  // The checksum says that it is as some version wrote it.
  const head: Head = JSON.parse(bytes.toString())
  return head.layout === layoutOf(version) ? { ...head, end: PREFIX + length } : undefined
}

function readArrays(
  file: number,
  start: number,
  size: number,
  heads: readonly ArrayHead[],
): Numbers[] | undefined {
  const bytes = (head: ArrayHead) => head.length * ALLOCATE[head.type](0).BYTES_PER_ELEMENT
  const end = heads.reduce((sum, head) => sum + bytes(head), start)
  if (end !== size) return undefined
  let at = start
  const arrays: Numbers[] = []
  for (const head of heads) {
    const array = ALLOCATE[head.type](head.length)
    readAll(file, bytesOf(array), at)
    if (crc32(bytesOf(array)) !== head.crc) return undefined
    arrays.push(array)
    at += array.byteLength
  }
  return arrays
}

function isNumbers(value: unknown): value is Numbers {
  return ArrayBuffer.isView(value) && value.constructor.name in ALLOCATE
}

function isReference(value: unknown): value is { readonly $: number } {
  return typeof value === 'object' && value !== null && '$' in value
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Numbers): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
}

/** @throws if the file ends too early */
function readAll(file: number, bytes: Uint8Array, from: number): void {
  for (let at = 0; at < bytes.length;) {
    const read = readSync(file, bytes, at, bytes.length - at, from + at)
    if (read === 0) throw new Error('the file ends too early')
    at += read
  }
}

export type Input =
  | (IndexFile & { readonly kind: 'read'; readonly memory: number })
  /** Writes nothing if the existing file is at most `near` changes away. */
  | (IndexFile & { readonly kind: 'write'; readonly snapshot: Snapshot; readonly near: number })

export type Output =
  | { readonly kind: 'read'; readonly snapshot: Snapshot | undefined }
  /** `busy`: another process is writing the file. */
  | { readonly kind: 'written' | 'near' | 'busy' }
  | { readonly kind: 'failed'; readonly reason: string }

/** A temporary file older than this, or from the future, was left by a process that ended. */
const ABANDONED_MS = 120_000
/** Maximum share of the free disk space: other data matters more. */
const MAX_SPACE_SHARE = 1 / 3

export default function work(input: Input): Output {
  try {
    switch (input.kind) {
      case 'read':
        return { kind: 'read', snapshot: readSnapshot(input, input.memory) }
      case 'write':
        return { kind: write(input) }
    }
  } catch (error) {
    return { kind: 'failed', reason: String(error) }
  }
}

function write({
  path,
  version,
  snapshot,
  near,
}: Extract<Input, { kind: 'write' }>): 'written' | 'near' | 'busy' {
  const temporary = `${path}.new`
  const age = Math.abs(Date.now() - (statSync(temporary, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()))
  if (age > ABANDONED_MS) rmSync(temporary, { force: true })
  if (isNear(cursorIn({ path, version }), snapshot.logPosition.cursor, near)) return 'near'
  const { bavail, bsize } = statfsSync(dirname(path))
  if (sizeOf(snapshot.parts) > bavail * bsize * MAX_SPACE_SHARE)
    throw new Error('the disk has too little room left')
  try {
    writeSnapshot({ path: temporary, version }, snapshot)
  } catch (error) {
    if (isErrorCode(error, 'EEXIST')) return 'busy'
    rmSync(temporary, { force: true })
    throw error
  }
  renameSync(temporary, path)
  return 'written'
}

function isNear(one: string | undefined, other: string, changes: number): boolean {
  const [a, b] = [partsOf(one ?? ''), partsOf(other)]
  return a !== undefined && b !== undefined && a.epoch === b.epoch && Math.abs(a.id - b.id) < changes
}
