/**
 * Task for another thread: reads the image and its description from the body of `upload`. Parsing, base64 and SHA-256 of 20
 * MiB would block the event loop for too long.
 */
import { isObject } from '../../lib/json.ts'
import { releaseBuffer } from '../../lib/release-buffer.ts'
import { withTransfer } from '../../lib/tasks.ts'
import { decodeUtf8 } from '../../lib/text.ts'
import type { BodyField, BodyFields } from '../../http/body/fields.ts'
import { parseJsonText } from '../../http/body/json.ts'
import { parseBody } from '../../http/body/parse.ts'
import {
  isImageType,
  readInfo,
  storedBytes,
  type BytesFault,
  type GivenInfo,
  type InfoFault,
  type StoredBytes,
} from '../upload-input.ts'

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

export default function parseUpload(input: Input): Output {
  const { bytes, strips, visitor } = input
  const fields = fieldsOf(input)
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

function fieldsOf({ bytes, contentType, visitor }: Input): BodyFields | undefined {
  const body = Buffer.from(bytes.buffer)
  const isImage = visitor !== undefined && isImageType(contentType)
  if (isImage) return new Map([['image', { kind: 'bytes', bytes: body }]])
  const parsed = parseBody(contentType, body, { base64: ['image'] })
  return parsed.ok ? parsed.fields : undefined
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
