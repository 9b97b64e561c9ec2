import assert from 'node:assert/strict'
import { splitCode } from './error-codes.ts'
import type { TestService } from './service.ts'

/** The three encodings that every POST body may come in. */
export const ENCODINGS = ['urlencoded', 'multipart', 'json'] as const
export type Encoding = (typeof ENCODINGS)[number]

export type Fields = Readonly<Record<string, unknown>>

export interface Reply {
  readonly status: number
  readonly headers: Headers
  /** Parsed JSON, of an error without its code; undefined if there is no body. */
  readonly body: unknown
  /** The code of an error. */
  readonly code: string | undefined
  readonly text: string
}

export interface CallOptions {
  readonly method?: string
  readonly query?: Fields | URLSearchParams | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer> | FormData | URLSearchParams | undefined
}

/** One request. That the HTTP status equals the body's is checked on every JSON answer. */
export async function call(
  service: Pick<TestService, 'url'>,
  path: string,
  options: CallOptions = {},
): Promise<Reply> {
  const { method = options.body === undefined ? 'GET' : 'POST', query, headers = {}, body } = options
  const response = await fetch(`${service.url}${path}${queryText(query)}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  const type = response.headers.get('content-type') ?? ''
  // A stream has no end.
  const text = type === 'text/event-stream' ? '' : await response.text()
  if (!response.bodyUsed) await response.body?.cancel()
  const isJson = text !== '' && type.startsWith('application/json')
  const parsed: unknown = isJson ? JSON.parse(text) : undefined
  if (isJson && !path.endsWith('/openapi.json')) assert.equal(toStatus(parsed), response.status)
  return { status: response.status, headers: response.headers, text, ...splitCode(parsed, { method, path }) }
}

/** A POST (or another method) whose body carries `fields` in the given encoding. */
export function send(
  service: Pick<TestService, 'url'>,
  path: string,
  fields: Fields,
  options: { encoding?: Encoding; query?: Fields; method?: string } = {},
): Promise<Reply> {
  const { encoding = 'urlencoded', query, method = 'POST' } = options
  return call(service, path, { method, query, ...encode(encoding, fields) })
}

/** The parameters of the next page, by the `Link` header of a page; undefined after the last one. */
export function nextQuery({ url }: Pick<TestService, 'url'>, path: string, reply: Reply): Fields | undefined {
  const link = reply.headers.get('link')
  if (link === null) return undefined
  const next = /^<([^>]*)>; rel="next"$/.exec(link)?.[1]
  assert.ok(next !== undefined && next.startsWith(`${url}${path}?`), link)
  return Object.fromEntries(new URL(next).searchParams)
}

/** Encodes `fields` as a body: values other than strings become JSON text, except in a JSON body. */
function encode(
  encoding: Encoding,
  fields: Fields,
): Required<Pick<CallOptions, 'body'>> & Pick<CallOptions, 'headers'> {
  switch (encoding) {
    case 'urlencoded':
      return { body: new URLSearchParams(textsOf(fields)) }
    case 'multipart': {
      const form = new FormData()
      for (const [name, value] of Object.entries(textsOf(fields))) form.set(name, value)
      return { body: form }
    }
    case 'json':
      return { body: JSON.stringify(fields), headers: { 'content-type': 'application/json' } }
  }
}

function textsOf(fields: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}

function queryText(query: Fields | URLSearchParams | undefined): string {
  if (query === undefined) return ''
  return `?${query instanceof URLSearchParams ? query : new URLSearchParams(textsOf(query))}`
}

function toStatus(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'status' in body ? body.status : undefined
}

/** The value of a metric without labels. @param name without `catalejo_` */
export async function metric(service: Pick<TestService, 'url'>, name: string): Promise<number> {
  const { text } = await call(service, '/metrics')
  return Number(new RegExp(`^catalejo_${name} (\\S+)$`, 'm').exec(text)?.[1])
}
