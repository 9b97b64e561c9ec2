import { isIP } from 'node:net'
import { badParameter } from '../http/errors.ts'
import { text, type Parameter } from '../http/parameters.ts'
import { detectFormat, stripMetadata } from '../lib/image-metadata/index.ts'
import { mediaType } from '../http/body/content-headers.ts'
import { jsonTypeOf } from '../http/body/fields.ts'
import { ownsBuffer } from '../lib/release-buffer.ts'
import { hasAtMostCharacters, isStorable } from '../lib/text.ts'
import { readEdits } from './edits.ts'
import { hashOf, type ImageHash } from './image-hash.ts'
import type { ImageInfo } from './queries.ts'

export const MAX_NAME_CHARACTERS = 1_024
export const MAX_MIME_CHARACTERS = 255
/** The longest IPv6 address has 45, and the name of a network interface, which may follow a `%`, 15. */
export const MAX_IP_CHARACTERS = 61
/** The last second of the year 9999. */
export const MAX_EPOCH_SECONDS = 253_402_300_799

export type InfoFault = 'info' | 'ip'
/** `info` of an upload, with `expires` and the edits in `fields` as they were given. */
export type GivenInfo = Omit<ImageInfo, 'expires' | 'edits'> & {
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

export type BytesFault = 'missing' | 'format' | 'damaged'

export interface StoredBytes {
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
