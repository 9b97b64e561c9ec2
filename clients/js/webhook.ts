import type { Webhook } from './schema.ts'

/** The headers of a webhook: those of a `Request`, or an object such as `request.headers` of Node. */
export type WebhookHeaders =
  { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** Largest age of a webhook, and by how much its sender's clock may be ahead. Default: 300. */
  readonly toleranceSeconds?: number
  /** Seconds since 1970. Default: the clock. */
  readonly now?: number
}

/** A webhook that is not signed with the secret, or too old. */
export class WebhookError extends Error {}

/**
 * Returns the content of a webhook after checking its signature (Standard Webhooks 1.0.0). Throws a `WebhookError` if it is not of
 * the service.
 * @param body as it was received: not parsed and written again
 * @param secret of the watch, `whsec_…`
 */
export async function verifyWebhook(
  body: string,
  headers: WebhookHeaders,
  secret: string,
  { toleranceSeconds = 300, now = Date.now() / 1_000 }: VerifyOptions = {},
): Promise<Webhook> {
  const id = header(headers, 'webhook-id')
  const timestamp = header(headers, 'webhook-timestamp')
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookError('webhook-timestamp is not a time')
  if (Math.abs(now - Number(timestamp)) > toleranceSeconds)
    throw new WebhookError('the webhook is too old, or from the future')
  const bytes = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const secretBytes = fromBase64(secret.replace(/^whsec_/, ''))
  const key = await crypto.subtle.importKey('raw', secretBytes, algorithm, false, ['verify'])
  const signed = bytes.encode(`${id}.${timestamp}.${body}`)
  // After a rotation of the secret there are two.
  for (const signature of header(headers, 'webhook-signature').split(' ')) {
    const [version, base64 = ''] = signature.split(',')
    const isBase64 = version === 'v1' && /^[A-Za-z0-9+/]{43}=$/.test(base64)
    if (isBase64 && (await crypto.subtle.verify('HMAC', key, fromBase64(base64), signed)))
      return JSON.parse(body)
  }
  throw new WebhookError('the signature does not match')
}

function header(headers: WebhookHeaders, name: string): string {
  const value = isGetter(headers) ? headers.get(name) : headers[name]
  if (typeof value !== 'string') throw new WebhookError(`the header ${name} is missing`)
  return value
}

const isGetter = (headers: WebhookHeaders): headers is { get(name: string): string | null } =>
  typeof headers['get'] === 'function'

const fromBase64 = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
