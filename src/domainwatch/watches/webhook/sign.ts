import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A secret of Standard Webhooks: 192 bits at least, in base64 behind a prefix that tells what it is. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** A webhook's id: the same however often it is sent, and without the full stops that the signed text is divided by. */
export function newWebhookId(): string {
  return `msg_${randomBytes(15).toString('base64url')}`
}

/**
 * The headers of one attempt (Standard Webhooks 1.0.0).
 * @param at seconds since 1970
 */
export function signedHeaders(secret: string, id: string, at: number, body: string) {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` }
}
