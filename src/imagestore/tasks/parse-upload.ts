/**
 * Task for another thread: reads the image and its description from the body of `upload`. Parsing, base64 and SHA-256 of 20
 * MiB would block the event loop for too long.
 */
import { isObject } from '../../lib/json.ts'
import { releaseBuffer } from '../../lib/release-buffer.ts'
import { withTransfer } from '../../lib/tasks.ts'
import { decodeUtf8 } from '../../lib/text.ts'
import type { BodyField } from '../../http/body/fields.ts'
import { parseJsonText } from '../../http/body/json.ts'
import { parseBody } from '../../http/body/parse.ts'
import {
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
}

export interface Output {
  /** The key, if the body contains it. */
  readonly api: string | undefined
  /** Or what is wrong with it. */
  readonly info: GivenInfo | InfoFault
  /** Or what is wrong with it. */
  readonly image: StoredBytes | BytesFault | 'not_base64'
}

export default function parseUpload(input: Input): Output {
  const parsed = parseBody(input.contentType, Buffer.from(input.bytes.buffer), { base64: ['image'] })
  if (!parsed.ok) return { api: undefined, info: 'info', image: 'missing' }
  const { fields } = parsed
  const api = fields.get('api')
  const image = fields.get('image')
  const info = infoOf(fields.get('info'), image)
  const stored = image?.kind === 'bytes' ? storedBytes(image.bytes, input.strips) : faultOf(image)
  // The image has been copied.
  releaseBuffer(input.bytes)
  return withTransfer(
    { api: api?.kind === 'text' ? api.value : undefined, info, image: stored },
    typeof stored === 'string' ? [] : [stored.bytes.buffer],
  )
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
