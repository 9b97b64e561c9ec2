/**
 * One field of a request body.
 * `bytes` is a field named in `BodyOptions.base64`, decoded, or an uploaded file. It may be a view on the request's own
 * bytes: take it as read-only, and copy it before handing it to another thread.
 */
export type BodyField =
  | { kind: 'text'; value: string }
  /** A JSON body's number, boolean, null, array or object. */
  | { kind: 'json'; value: unknown }
  | {
      kind: 'bytes'
      bytes: Buffer
      /** Of a file part, as its sender wrote it. */ filename?: string
      mime?: string
    }
  /** A field named in `BodyOptions.base64` that is text, but not base64. */
  | { kind: 'not-base64' }

/** By name; of a repeated field, the last. */
export type BodyFields = Map<string, BodyField>

export type ParsedBody = { ok: true; fields: BodyFields } | { ok: false; fault: 'unparsable' | 'unsupported' }

export type BodyOptions = {
  /** Names of the fields that carry base64, to be delivered as bytes. */
  base64?: readonly string[]
}

export const unparsable = { ok: false, fault: 'unparsable' } as const satisfies ParsedBody

export function bytesOrNot(bytes: Buffer | undefined): BodyField {
  return bytes === undefined ? { kind: 'not-base64' } : { kind: 'bytes', bytes }
}
