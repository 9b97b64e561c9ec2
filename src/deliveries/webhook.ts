import { createHmac, randomBytes } from 'node:crypto'
import { object, string, type JsonSchema } from '../http/openapi/json-schema.ts'
import type { Clock } from '../lib/clock.ts'
import { parseReceiver, post, retryAfterMs, type PostOptions } from './http-client.ts'
import { failure, type Batching, type Delivery, type Transport } from './transport.ts'

/** Events per delivery: about 20 KB, as Standard Webhooks recommends. */
const BATCHING: Batching = { max: 50, beyond: 'next', windowMs: 200 }
const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** Sends webhooks according to Standard Webhooks 1.0.0. */
export function webhookTransport(options: PostOptions & { readonly clock: Clock }): Transport {
  const { clock } = options
  return {
    batching: BATCHING,
    parseAddress: (text) => parseReceiver(text, options.isAllowedAddress),
    // The group sees where its webhooks go.
    showAddress: (address) => address,
    hostOf: (address) => new URL(address).host,
    send({ id, body, address, secrets }: Delivery, signal) {
      const headers = signedHeaders(secrets, id, Math.floor(clock.now() / 1000), body)
      return post({ url: address, body, headers }, options, signal, ({ code, headers: received }) => {
        const error = `El receptor respondió ${code}`
        if (code >= 200 && code < 300) return { kind: 'delivered', code }
        if (code === 410) return { kind: 'gone', code, error }
        return failure(error, code, retryAfterMs(received['retry-after'] ?? '', clock.now()))
      })
    },
  }
}

/** Generates a secret of Standard Webhooks: a prefix and at least 192 bits in base64. */
export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

export interface Secrets {
  readonly secret: string | null
  readonly previous_secret: string | null
  readonly previous_secret_until: number | null
}

/** Returns the secrets that sign at a time, the newest first. */
export function secretsAt(now: number, watch: Partial<Secrets>): readonly string[] {
  const { secret = null, previous_secret: previous = null, previous_secret_until: until } = watch
  if (secret === null) return []
  return previous !== null && now < (until ?? 0) ? [secret, previous] : [secret]
}

/**
 * Returns the headers of one attempt, with a signature by each secret: receivers accept any of them.
 * @param at seconds since 1970
 */
export function signedHeaders(secrets: readonly string[], id: string, at: number, body: string) {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signatures.join(' ') }
}

/** Describes a webhook in OpenAPI. @param type its `type`, which names the event */
export const webhook = (
  type: string,
  summary: string,
  data: Readonly<Record<string, JsonSchema>>,
): JsonSchema => ({
  post: {
    summary,
    parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
      name,
      in: 'header',
      required: true,
      schema: string(),
      description: 'Header of Standard Webhooks 1.0.0',
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: object({
            type: string({ enum: [type] }),
            timestamp: string('Time of the newest change, in UTC (RFC 3339)'),
            data: object(data),
          }),
        },
      },
    },
    responses: {
      204: { description: 'Received; any other 2xx means the same' },
      410: { description: 'Stop: nothing more is sent' },
    },
  },
})
