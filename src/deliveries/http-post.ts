import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { ForbiddenAddressError, sendRequest, type Receivers } from './connect.ts'
import { failure, type Outcome } from './transport.ts'

/** From the DNS look-up to the response. Standard Webhooks recommends 15 to 30 s. */
const TIMEOUT_MS = 20_000
/** Limit for `Retry-After`. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000
/** Bytes of a response that are read; the services answer with much less. */
const MAX_RESPONSE_BYTES = 64 * 1024

export interface PostOptions extends Receivers {
  readonly userAgent: string
}

export interface PostRequest {
  readonly url: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whether to read the body of the response. */
  readonly readsBody?: boolean
}

export interface PostResponse {
  readonly code: number
  readonly headers: IncomingHttpHeaders
  /** Empty if it was not read. */
  readonly text: string
}

/**
 * Posts JSON to a receiver whose address may come from a client. Follows no redirects.
 * @param outcomeOf reads the response
 */
export async function post(
  outgoing: PostRequest,
  options: PostOptions,
  signal: AbortSignal,
  outcomeOf: (response: PostResponse) => Outcome,
): Promise<Outcome> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  try {
    return outcomeOf(await exchange(outgoing, options, AbortSignal.any([signal, timeout])))
  } catch (error) {
    if (timeout.aborted) return failure('El receptor no respondió a tiempo')
    if (error instanceof ForbiddenAddressError) return failure('La dirección del receptor no está permitida')
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    return failure(`No se pudo conectar con el receptor${code}`)
  }
}

async function exchange(
  { url, body, headers, readsBody = false }: PostRequest,
  options: PostOptions,
  signal: AbortSignal,
): Promise<PostResponse> {
  const sent = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': options.userAgent,
    ...headers,
  }
  const incoming = await sendRequest(new URL(url), { headers: sent, body }, options, signal)
  try {
    const { statusCode: code = 0, headers: received } = incoming
    return { code, headers: received, text: readsBody ? await textOf(incoming) : '' }
  } finally {
    incoming.destroy()
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk)
    chunks.push(bytes)
    size += bytes.length
    if (size >= MAX_RESPONSE_BYTES) break
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_RESPONSE_BYTES)
}

/** Parses `Retry-After`, seconds or a date (RFC 9110, section 10.2.3). Returns 0 for anything else. */
export function retryAfterMs(text: string, now: number): number {
  const requested = /^\d{1,9}$/.test(text)
    ? Number(text) * 1000
    : HTTP_DATE.test(text)
      ? Date.parse(text) - now
      : 0
  return requested > 0 ? Math.min(requested, MAX_RETRY_AFTER_MS) : 0
}
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/
