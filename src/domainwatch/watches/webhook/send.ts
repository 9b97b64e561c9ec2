import { createHmac, randomBytes } from 'node:crypto'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Clock } from '../../../lib/clock.ts'
import { connectTo, ForbiddenAddressError, type IsAllowedAddress, type Resolve } from './connect.ts'

/** From the DNS look-up to the head of the response. Standard Webhooks recommends 15 to 30 s. */
const TIMEOUT_MS = 20_000
/** Limit for `Retry-After`. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000
const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Delay after each failed attempt, three days in total: the schedule of Standard Webhooks. */
const DELAYS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]
/** Maximum extension of a delay, so that deliveries that failed together are not retried together. */
const JITTER = 0.2

export interface Webhook {
  readonly id: string
  readonly body: string
  readonly url: string
  readonly secret: string
}

export type Outcome =
  | { readonly kind: 'delivered'; readonly code: number }
  /** `code` is undefined without a response. `error` is a Spanish message for the owner. */
  | {
      readonly kind: 'failed'
      readonly code: number | undefined
      readonly error: string
      readonly retryAfterMs: number
    }
  /** The receiver wants no more deliveries. */
  | { readonly kind: 'gone'; readonly code: 410; readonly error: string }

export type Send = (webhook: Webhook, signal: AbortSignal) => Promise<Outcome>

export interface SenderOptions {
  readonly isAllowedAddress: IsAllowedAddress
  readonly userAgent: string
  readonly clock: Clock
  readonly resolve?: Resolve
}

/** Sends webhooks according to Standard Webhooks 1.0.0. Follows no redirects and ignores the body of the response. */
export function webhookSender(options: SenderOptions): Send {
  return async (webhook, signal) => {
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    const limit = AbortSignal.any([signal, timeout])
    try {
      return outcomeOf(await post(webhook, options, limit), options.clock.now())
    } catch (error) {
      if (timeout.aborted) return failure('El receptor no respondió a tiempo')
      if (error instanceof ForbiddenAddressError)
        return failure('La dirección del receptor no está permitida')
      const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
      return failure(`No se ha podido conectar con el receptor${code}`)
    }
  }
}

async function post(
  { id, body, url, secret }: Webhook,
  { isAllowedAddress, userAgent, clock, resolve }: SenderOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const target = new URL(url)
  const socket = await connectTo(target, isAllowedAddress, signal, resolve)
  try {
    const outgoing = request({
      createConnection: () => socket,
      method: 'POST',
      path: target.pathname + target.search,
      headers: {
        host: target.host,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': userAgent,
        connection: 'close',
        ...signedHeaders(secret, id, Math.floor(clock.now() / 1000), body),
      },
      signal,
    })
    const response = responseTo(outgoing)
    outgoing.end(body)
    return await response
  } finally {
    socket.destroy()
  }
}

/** Resolves to the head of the response. Rejects however else the request ends, because the caller holds a delivery slot. */
function responseTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  outgoing.on('response', resolve)
  // Node emits no `response` for status 101.
  outgoing.on('upgrade', resolve)
  outgoing.on('error', reject)
  outgoing.on('close', () => reject(new Error('no response')))
  return promise
}

function outcomeOf({ statusCode: code = 0, headers }: IncomingMessage, now: number): Outcome {
  const error = `El receptor respondió ${code}`
  if (code >= 200 && code < 300) return { kind: 'delivered', code }
  if (code === 410) return { kind: 'gone', code, error }
  return { kind: 'failed', code, error, retryAfterMs: retryAfterMs(headers['retry-after'] ?? '', now) }
}

function failure(error: string): Outcome {
  return { kind: 'failed', code: undefined, error, retryAfterMs: 0 }
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

/**
 * Returns the delay in milliseconds after the given number of failed attempts, or undefined if there is no further attempt.
 * @param random from 0 to 1
 */
export function delayAfter(attempts: number, random: number): number | undefined {
  const delay = DELAYS[attempts - 1]
  return delay === undefined ? undefined : Math.round(delay * (1 + JITTER * random))
}

/** Generates a secret of Standard Webhooks: a prefix and at least 192 bits in base64. */
export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** Generates an id that all attempts share. It contains no full stop, the separator of the signed text. */
export function newWebhookId(): string {
  return `msg_${randomBytes(15).toString('base64url')}`
}

/**
 * Returns the headers of one attempt.
 * @param at seconds since 1970
 */
export function signedHeaders(secret: string, id: string, at: number, body: string) {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` }
}
