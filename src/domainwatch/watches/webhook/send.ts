import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Clock } from '../../../lib/clock.ts'
import type { MayConnect } from './addresses.ts'
import { connectTo, Forbidden, type Resolve } from './connect.ts'
import { signedHeaders } from './sign.ts'

/** From the look-up of the name to the head of the answer. Standard Webhooks: 15 to 30 s. */
const TIMEOUT_MS = 20_000
/** A receiver may put us off, but not for ever. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000

export interface Webhook {
  readonly id: string
  readonly body: string
  readonly url: string
  readonly secret: string
}

export type Outcome =
  | { readonly kind: 'delivered'; readonly code: number }
  /** `code` is undefined where no answer came. `error` is told to the owner, in Spanish. */
  | {
      readonly kind: 'failed'
      readonly code: number | undefined
      readonly error: string
      readonly retryAfterMs: number
    }
  /** The receiver wants nothing more, ever. */
  | { readonly kind: 'gone'; readonly code: 410; readonly error: string }

export type Send = (webhook: Webhook, signal: AbortSignal) => Promise<Outcome>

export interface SenderOptions {
  readonly mayConnect: MayConnect
  readonly userAgent: string
  readonly clock: Clock
  readonly resolve?: Resolve
}

/** Sends webhooks as Standard Webhooks 1.0.0 has it; redirects are not followed, answers not read but for their head. */
export function sender(options: SenderOptions): Send {
  return async (webhook, signal) => {
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    const limit = AbortSignal.any([signal, timeout])
    try {
      return outcomeOf(await post(webhook, options, limit), options.clock.now())
    } catch (error) {
      if (timeout.aborted) return failure('El receptor no respondió a tiempo')
      if (error instanceof Forbidden) return failure('La dirección del receptor no está permitida')
      const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
      return failure(`No se ha podido conectar con el receptor${code}`)
    }
  }
}

async function post(
  { id, body, url, secret }: Webhook,
  { mayConnect, userAgent, clock, resolve }: SenderOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const target = new URL(url)
  const socket = await connectTo(target, mayConnect, signal, resolve)
  try {
    const sent = request({
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
    const answer = answerTo(sent)
    sent.end(body)
    return await answer
  } finally {
    socket.destroy()
  }
}

/** The head of the answer. However the request ends, this ends too: whoever waits holds one of few places. */
function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  sent.on('response', resolve)
  // A receiver that wants to speak something else now: without this its answer would be no event at all.
  sent.on('upgrade', resolve)
  sent.on('error', reject)
  sent.on('close', () => reject(new Error('no response')))
  return promise
}

function outcomeOf({ statusCode: code = 0, headers }: IncomingMessage, now: number): Outcome {
  const error = `El receptor respondió ${code}`
  if (code >= 200 && code < 300) return { kind: 'delivered', code }
  if (code === 410) return { kind: 'gone', code, error }
  return { kind: 'failed', code, error, retryAfterMs: retryAfterMs(headers['retry-after'] ?? '', now) }
}

/** Seconds, or a date (RFC 9110, section 10.2.3); 0 for anything else. */
export function retryAfterMs(text: string, now: number): number {
  const asked = /^\d{1,9}$/.test(text)
    ? Number(text) * 1000
    : HTTP_DATE.test(text)
      ? Date.parse(text) - now
      : 0
  return asked > 0 ? Math.min(asked, MAX_RETRY_AFTER_MS) : 0
}
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

function failure(error: string): Outcome {
  return { kind: 'failed', code: undefined, error, retryAfterMs: 0 }
}
