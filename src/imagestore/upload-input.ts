import { isObject, parseJsonText } from '../lib/json.ts'
import { withTransfer } from '../lib/tasks.ts'
import { hasAtMostCharacters, isStorable } from '../lib/text.ts'
import { decodeUtf8, releaseBuffer, ownsBuffer } from '../lib/bytes.ts'
import { type BodyField, type BodyFields, jsonTypeOf, parseBody, mediaType } from '../http/body/parse.ts'
import { isIP } from 'node:net'
import { badParameter } from '../http/errors.ts'
import { integer, text, type Parameter } from '../http/parameters.ts'
import { detectFormat, stripMetadata } from '../lib/image-metadata/index.ts'
import { readEdits } from './edits.ts'
import { hashOf, type ImageHash } from './image-fields.ts'
import type { ImageInfo } from './queries.ts'

/**
 * Task for another thread: reads the image and its description from the body of `upload`. Parsing, base64 and SHA-256 of 20
 * MiB would block the event loop for too long.
 */

export interface Input {
  readonly contentType: string | undefined
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Whether to remove metadata. */
  readonly strips: boolean
  /** Set for an upload with a ticket, whose body describes nothing and may be the image itself. */
  readonly visitor?: { readonly name: string | undefined; readonly ip: string }
}

/** The name of an image that has none. */
const DEFAULT_NAME = 'imagen'
const ANY_IMAGE = 'image/*'

export interface Output {
  /** The key, if the body contains it. */
  readonly api: string | undefined
  /** Or what is wrong with it. */
  readonly info: GivenInfo | InfoFault
  /** Or what is wrong with it. */
  readonly image: StoredBytes | BytesFault | 'not_base64'
}

export default async function parseUpload(input: Input): Promise<Output> {
  const { bytes, strips, visitor } = input
  const fields = await readFields(input)
  if (fields === undefined) return { api: undefined, info: 'info', image: 'missing' }
  const api = fields.get('api')
  const image = fields.get('image')
  const info = visitor === undefined ? infoOf(fields.get('info'), image) : visitorInfo(visitor, image)
  const stored = image?.kind === 'bytes' ? storedBytes(image.bytes, strips) : faultOf(image)
  const kept = typeof stored === 'string' ? [] : [stored.bytes.buffer]
  // Usually the image has been copied.
  if (!kept.includes(bytes.buffer)) releaseBuffer(bytes)
  return withTransfer({ api: api?.kind === 'text' ? api.value : undefined, info, image: stored }, kept)
}

async function readFields({ bytes, contentType, visitor }: Input): Promise<BodyFields | undefined> {
  const body = Buffer.from(bytes.buffer)
  const isImage = visitor !== undefined && isImageType(contentType)
  if (isImage) return new Map([['image', { kind: 'bytes', bytes: body }]])
  return parseBody(contentType, body, ['image'])
}

function visitorInfo({ name, ip }: NonNullable<Input['visitor']>, image: BodyField | undefined) {
  const filename = image?.kind === 'bytes' ? image.filename : undefined
  return readInfo({}, { name: (name ?? filename) || DEFAULT_NAME, mime: ANY_IMAGE, ip })
}

function faultOf(image: Exclude<BodyField, { kind: 'bytes' }> | undefined): 'missing' | 'not_base64' {
  const isMissing = image === undefined || (image.kind === 'json' && image.value === null)
  return isMissing ? 'missing' : 'not_base64'
}

function infoOf(field: BodyField | undefined, image: BodyField | undefined): Output['info'] {
  const info = objectOf(field)
  if (info === undefined) return 'info'
  return readInfo(info, image?.kind === 'bytes' ? { name: image.filename, mime: image.mime } : {})
}

function objectOf(field: BodyField | undefined): Readonly<Record<string, unknown>> | undefined {
  // Browsers send a part with a content type, `new Blob([json], { type })`, as a file.
  const text =
    field?.kind === 'text' ? field.value : field?.kind === 'bytes' ? decodeUtf8(field.bytes) : undefined
  const value = field?.kind === 'json' ? field.value : text === undefined ? undefined : parseJsonText(text)
  return isObject(value) ? value : undefined
}

export const MAX_NAME_CHARACTERS = 1_024
export const MAX_MIME_CHARACTERS = 255
/** The longest IPv6 address has 45, and the name of a network interface, which may follow a `%`, 15. */
export const MAX_IP_CHARACTERS = 61
/** The last second of the year 9999. */
export const MAX_EPOCH_SECONDS = 253_402_300_799

/** @param description of a moment that is given in seconds since 1970 */
export const timeParameter = (description: string): Parameter<number> =>
  integer(`${description}, in seconds since 1970-01-01 UTC`, 0, MAX_EPOCH_SECONDS)

type InfoFault = 'info' | 'ip'
/** `info` of an upload, with `expires` and the edits in `fields` as they were given. */
type GivenInfo = Omit<ImageInfo, 'expires' | 'edits'> & {
  readonly expires: unknown
  readonly fields: Readonly<Record<string, unknown>>
}

export const notInFuture = (parameter = 'expires') =>
  badParameter(parameter, 'debe ser un momento futuro, en segundos desde 1970')

/** Validates `info` of an upload, without `expires`. Returns what is missing or invalid: `ip`, or `info` for any other field. */
export function readInfo(
  given: Readonly<Record<string, unknown>>,
  defaults: {
    readonly name?: string | undefined
    readonly mime?: string | undefined
    readonly ip?: string
  } = {},
): GivenInfo | InfoFault {
  const name = given['name'] ?? defaults.name
  const mime = given['mime'] ?? defaults.mime
  const ip = given['ip'] ?? defaults.ip
  if (!isImageName(name) || !isText(mime, MAX_MIME_CHARACTERS)) return 'info'
  if (ip !== defaults.ip && !isAddress(ip)) return 'ip'
  return typeof ip === 'string' ? { name, ip, expires: given['expires'] ?? null, fields: given } : 'ip'
}

/** Validates the rest of `info`. @param now seconds since 1970 @throws HttpError 400 */
export const completeInfo = ({ name, ip, expires, fields }: GivenInfo, now: number): ImageInfo => ({
  name,
  ip,
  expires: readExpires(expires, now),
  edits: readEdits(fields),
})

/** Whether the body of a request is an image itself. */
export const isImageType = (contentType = ''): boolean => mediaType(contentType).startsWith('image/')

const isAddress = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= MAX_IP_CHARACTERS && isIP(value) !== 0

const isImageName = (value: unknown): value is string => isText(value, MAX_NAME_CHARACTERS)

export const nameParameter = (description: string): Parameter<string> => ({
  ...text(description, MAX_NAME_CHARACTERS),
  parse: (value) =>
    isImageName(value) ? { value } : { takes: `debe ser un texto de 1 a ${MAX_NAME_CHARACTERS} caracteres` },
})

function isText(value: unknown, maxCharacters: number): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    hasAtMostCharacters(value, maxCharacters) &&
    isStorable(value)
  )
}

/**
 * Validates a time in the future; null if none is given.
 * @param now seconds since 1970
 * @throws HttpError 400
 */
function readExpires(given: unknown, now: number): number | null {
  if (given === null) return null
  if (isEpochSeconds(given) && given > now) return given
  if (typeof given === 'number') throw notInFuture()
  throw badParameter('expires', `debe ser un número, no ${jsonTypeOf(given)}`)
}

/** Whole seconds since 1970. */
export function isEpochSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_EPOCH_SECONDS
}

type BytesFault = 'missing' | 'format' | 'damaged'

interface StoredBytes {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly hash: ImageHash
}

/**
 * Returns the bytes to store and their hash. The hash is of the stored bytes: with stripping, the same picture is one image
 * whatever its metadata.
 * @param given its memory may become that of the result
 * @param strips whether metadata is removed
 * @returns why there are none: no bytes were given, or they cannot be stripped
 */
export function storedBytes(given: Buffer, strips: boolean): StoredBytes | BytesFault {
  if (given.byteLength === 0) return 'missing'
  const kept = strips ? stripMetadata(given) : given
  if (kept === undefined || kept.byteLength === 0)
    return detectFormat(given) === undefined ? 'format' : 'damaged'
  // A view of a larger buffer is copied: to another thread it would take all of that buffer along.
  const bytes = ownsBuffer(kept) ? new Uint8Array(kept.buffer) : new Uint8Array(kept)
  return { bytes, hash: hashOf(bytes) }
}
