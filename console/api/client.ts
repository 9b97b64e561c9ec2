import { markDisconnected, markConnected } from './connection.ts'
import type { ErrorCode, Operations } from '../../clients/js/schema.ts'
import { updateClockSkew, SERVICE_URL } from '../base/server.ts'
import { removeKey, keyFor, serviceOf } from './session.ts'

type Name = keyof Operations
type BodyOf<N extends Name> = Operations[N] extends { body: infer B } ? B : never
type QueryOf<N extends Name> = Operations[N]['query']

export type Answer<N extends Name> = Operations[N]['answer']

export interface RecordError {
  readonly index: number
  readonly field: string
  readonly msg: string
  /** The current record, if it has changed. */
  readonly record?: unknown
}

interface ErrorDetails {
  /** Undefined if the response is not from the service, but from a proxy in front of it. */
  readonly code?: ErrorCode | undefined
  /** The parameter that the error is about. */
  readonly parameter?: string | undefined
  readonly errors?: readonly RecordError[]
  /** How many records match, if that is not the number that the request expected. */
  readonly matched?: number | undefined
  /** Seconds, from the header `Retry-After`. */
  readonly retryAfter?: number | undefined
}

/** An error response, with the message of the service. */
export class ApiError extends Error {
  readonly status: number
  readonly code: ErrorCode | undefined
  readonly parameter: string | undefined
  readonly errors: readonly RecordError[]
  readonly matched: number | undefined
  readonly retryAfter: number | undefined

  constructor(status: number, message: string, details: ErrorDetails = {}) {
    super(message)
    this.status = status
    this.code = details.code
    this.parameter = details.parameter
    this.errors = details.errors ?? []
    this.matched = details.matched
    this.retryAfter = details.retryAfter
  }
}

/** There was no response of the service. */
export class ConnectionError extends Error {}

/** Longer than any timeout of the service. */
const TIMEOUT_MS = 130_000

export interface CallOptions<N extends Name> {
  /** Strings are accepted for numbers, because the service parses and validates them. Undefined ones are left out. */
  readonly query?: { readonly [K in keyof QueryOf<N>]?: QueryOf<N>[K] | string | undefined } | undefined
  readonly body?: { readonly [K in keyof BodyOf<N>]: BodyOf<N>[K] | undefined }
  readonly signal?: AbortSignal | undefined
  /** Replaces the key of the session: one that was pasted. */
  readonly key?: string | undefined
  /** Whether the request continues after the page is closed. */
  readonly outlivesPage?: boolean
}

export interface ApiResult<N extends Name> {
  readonly data: Answer<N>
  /** The cursor of the next page. */
  readonly next: string | undefined
}

/** Calls an operation of the service, named by its method and path. */
export async function callApi<N extends Name>(name: N, asking: CallOptions<N> = {}): Promise<ApiResult<N>> {
  const [method = 'GET', path = ''] = name.split(' ', 2)
  const key = asking.key ?? keyFor(serviceOf(path))
  const url = apiUrl(path, { api: key ?? '', ...asking.query })
  const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(asking.signal ? [asking.signal] : [])])
  const response = await send(url, {
    method,
    keepalive: asking.outlivesPage === true,
    signal,
    ...(asking.body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(asking.body) }),
  })
  const answer = await readAnswer(response, signal)
  // A proxy in front of the service may answer in its place, with a page.
  if (!response.ok || answer === undefined)
    throw failureOf(path, key, response.status, answer, response.headers.get('retry-after'))
  // Trusted: the types are generated from the OpenAPI document.
  return { data: answer as Answer<N>, next: nextCursor(response.headers.get('link')) }
}

/** Yields the answers of a list, page by page. */
export async function* listPages<T extends { readonly next: string | undefined }>(
  fetchPage: (cursor: string | undefined) => Promise<T>,
  maxPages = Infinity,
): AsyncGenerator<T> {
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const found = await fetchPage(cursor)
    yield found
    if (found.next === undefined) return
    cursor = found.next
  }
}

/** A streamed response: each chunk has a timeout, the whole body has none. */
export async function streamApi(
  path: string,
  query: QueryValues,
  options: Pick<RequestInit, 'signal' | 'headers'> = {},
): Promise<Response> {
  const stop = new AbortController()
  const signals = [stop.signal, ...(options.signal ? [options.signal] : [])]
  const init = { ...options, signal: AbortSignal.any(signals) }
  const key = keyFor(serviceOf(path))
  const url = apiUrl(path, { ...query, api: key ?? '' })
  const response = await withTimeout(stop, () => send(url, init))
  const { body, status, headers } = response
  if (!response.ok || headers.get('content-type')?.startsWith('text/html') === true) {
    const answer = await withTimeout(stop, () => readAnswer(response, init.signal))
    throw failureOf(path, key, status, answer, headers.get('retry-after'))
  }
  return body === null ? response : new Response(bodyWithTimeouts(body, stop, init), { status, headers })
}

/** Runs only while a read is pending, so that slow readers do not time out. */
function bodyWithTimeouts(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  stop: AbortController,
  init: RequestInit,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await withTimeout(stop, () => reader.read())
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        throw toConnectionError(error, init.signal)
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

async function withTimeout<T>(stop: AbortController, work: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => stop.abort(new DOMException('', 'TimeoutError')), TIMEOUT_MS)
  try {
    return await work()
  } finally {
    clearTimeout(timer)
  }
}

export type QueryValues = Readonly<Record<string, string | number | undefined>>

export function apiUrl(path: string, query: QueryValues): URL {
  const url = new URL(path.slice(1), SERVICE_URL)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  return url
}

/** @throws ConnectionError if there is no response */
export async function send(url: URL, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, {
      credentials: 'omit',
      ...init,
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
    })
    markConnected(response.status)
    updateClockSkew(response.headers.get('date'))
    return response
  } catch (error) {
    throw toConnectionError(error, init.signal)
  }
}

/** An aborted request is not a connection loss. */
function toConnectionError(error: unknown, signal: RequestInit['signal']): unknown {
  if (signal?.aborted === true && !isTimeout(error)) return error
  markDisconnected()
  return new ConnectionError('', { cause: error })
}

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError'

async function readAnswer(response: Response, signal: AbortSignal): Promise<unknown> {
  try {
    return await response.json()
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw toConnectionError(error, signal)
  }
}

/**
 * The error of a response. If it says that the key of the session is no longer valid, the session loses that key. One of a
 * proxy that did not get an answer from the service is a lost connection: a change may have been stored.
 */
export function failureOf(
  path: string,
  key: string | undefined,
  status: number,
  answer: unknown,
  retryAfter: string | null,
): ApiError | ConnectionError {
  const service = serviceOf(path)
  const error = apiErrorOf(status, answer, retryAfter)
  if (status >= 502 && status <= 504 && error.code === undefined) {
    markDisconnected()
    return new ConnectionError()
  }
  if (status === 401 && keyFor(service) === key && error.code?.startsWith('key_') === true) removeKey(service)
  return error
}

export function apiErrorOf(status: number, answer: unknown, retryAfter: string | null = null): ApiError {
  const { msg, code, parameter, errors, matched }: Readonly<Record<string, unknown>> = isObject(answer)
    ? answer
    : {}
  const seconds = Number.parseInt(retryAfter ?? '', 10)
  return new ApiError(status, typeof msg === 'string' ? msg : `HTTP ${status}`, {
    // Trusted: the type is generated from the OpenAPI document. A code of a newer service has no text here, like many others.
    code: typeof code === 'string' ? (code as ErrorCode) : undefined,
    parameter: typeof parameter === 'string' ? parameter : undefined,
    errors: Array.isArray(errors) ? errors.filter(isRecordError) : [],
    matched: typeof matched === 'number' ? matched : undefined,
    retryAfter: Number.isNaN(seconds) ? undefined : seconds,
  })
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

function isRecordError(value: unknown): value is RecordError {
  return isObject(value) && typeof value['index'] === 'number' && typeof value['msg'] === 'string'
}

function nextCursor(link: string | null): string | undefined {
  const [, address] = /<([^>]*)>;\s*rel="next"/.exec(link ?? '') ?? []
  return address === undefined
    ? undefined
    : (new URL(address, SERVICE_URL).searchParams.get('cursor') ?? undefined)
}
