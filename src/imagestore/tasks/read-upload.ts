/**
 * Task for another thread: the body of `upload` to the image's bytes and what the client says of it. Parsing,
 * base64 and SHA-256 of 20 MiB would hold the event loop for longer than it may be held.
 */
import { releaseBuffer } from '../../lib/release-buffer.ts'
import { withTransfer } from '../../lib/tasks.ts'
import { decodeUtf8 } from '../../lib/text.ts'
import type { BodyField } from '../../http/body/fields.ts'
import { parseJsonText } from '../../http/body/json.ts'
import { parseBody } from '../../http/body/parse.ts'
import { readInfo } from '../info.ts'
import { storedBytes, type StoredBytes } from '../stored-bytes.ts'

export interface Input {
  readonly contentType: string | undefined
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Without metadata. */
  readonly strips: boolean
}

export interface Output {
  /** The key, where the body carries it. */
  readonly api: string | undefined
  /** Undefined when it is missing or lacks something. */
  readonly info: ReturnType<typeof readInfo>
  /** Undefined when it is missing, not base64, or is to be stripped and cannot be. */
  readonly image: StoredBytes | undefined
}

export default function readUpload(input: Input): Output {
  const parsed = parseBody(input.contentType, Buffer.from(input.bytes.buffer), { base64: ['image'] })
  if (!parsed.ok) return { api: undefined, info: undefined, image: undefined }
  const { fields } = parsed
  const api = fields.get('api')
  const image = fields.get('image')
  const info = infoOf(fields.get('info'), image)
  const stored = image?.kind === 'bytes' ? storedBytes(image.bytes, input.strips) : undefined
  // The image stands in memory of its own by now.
  releaseBuffer(input.bytes)
  return withTransfer(
    { api: api?.kind === 'text' ? api.value : undefined, info, image: stored },
    stored === undefined ? [] : [stored.bytes.buffer],
  )
}

function infoOf(field: BodyField | undefined, image: BodyField | undefined): Output['info'] {
  const info = objectOf(field)
  if (info === undefined) return undefined
  return readInfo(info, image?.kind === 'bytes' ? { name: image.filename, mime: image.mime } : {})
}

function objectOf(field: BodyField | undefined): Record<string, unknown> | undefined {
  if (field?.kind === 'json') return asObject(field.value)
  // Browsers send a part that has a type of its own, `new Blob([json], { type })`, as a file.
  const text =
    field?.kind === 'text' ? field.value : field?.kind === 'bytes' ? decodeUtf8(field.bytes) : undefined
  const parsed = text === undefined ? undefined : parseJsonText(text)
  return parsed?.ok === true ? asObject(parsed.value) : undefined
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
}
