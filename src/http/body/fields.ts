/**
 * One field of a request body. `bytes` is a decoded field named in `BodyOptions.base64`, or an uploaded file. It may be a view on
 * the body: treat it as read-only, and copy it before transferring it to another thread.
 */
export type BodyField =
  | { readonly kind: 'text'; readonly value: string }
  /** A number, boolean, null, array or object of a JSON body. */
  | { readonly kind: 'json'; readonly value: unknown }
  | {
      readonly kind: 'bytes'
      readonly bytes: Buffer
      /** File name as the client sent it; only of a file part. */
      readonly filename?: string
      readonly mime?: string
    }
  /** A field named in `BodyOptions.base64` whose text is not base64. */
  | { readonly kind: 'not-base64' }

/** By name. The last value of a repeated field counts. */
export type BodyFields = Map<string, BodyField>

export type ParsedBody =
  | { readonly ok: true; readonly fields: BodyFields }
  | { readonly ok: false; readonly fault: 'unparsable' | 'unsupported' }

export interface BodyOptions {
  /** Names of fields whose base64 text is decoded to bytes. */
  readonly base64?: readonly string[]
}

export const UNPARSABLE = { ok: false, fault: 'unparsable' } as const satisfies ParsedBody

export function bytesOrNot(bytes: Buffer | undefined): BodyField {
  return bytes === undefined ? { kind: 'not-base64' } : { kind: 'bytes', bytes }
}

/** The JSON type of a value, in Spanish and with its article, to end a message: "debe ser un número, no un texto". */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'un arreglo'
  switch (typeof value) {
    case 'string':
      return 'un texto'
    case 'number':
      return 'un número'
    case 'boolean':
      return 'un valor lógico'
    default:
      return 'un objeto'
  }
}
