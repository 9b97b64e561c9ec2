import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { listen } from './listen.ts'

export interface Received {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly signature: string
  readonly text: string
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: unknown }
}

type Answer = (response: ServerResponse, received: Received) => void

const LIMIT_MS = 60_000

/** A receiver of webhooks on loopback. */
export class WebhookReceiver {
  readonly url: string
  readonly received: Received[] = []
  answer: Answer = (response) => void response.writeHead(204).end()
  readonly #close: () => void
  #waiting: (() => void)[] = []

  private constructor(url: string, close: () => void) {
    this.url = url
    this.#close = close
  }

  /** @param pem its key and certificate, where it is to speak TLS */
  static async start(pem?: Buffer): Promise<WebhookReceiver> {
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      assert.equal(request.method, 'POST')
      assert.equal(request.headers['content-type'], 'application/json')
      const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = request.headers
      let text = ''
      request.on('data', (chunk) => (text += String(chunk)))
      request.on('end', () => {
        const received = {
          id: String(id),
          timestamp: Number(at),
          signature: String(signature),
          text,
          body: JSON.parse(text),
        }
        receiver.received.push(received)
        receiver.answer(response, received)
        for (const wake of receiver.#waiting.splice(0)) wake()
      })
    }
    const server =
      pem === undefined ? createServer(listener) : createSecureServer({ key: pem, cert: pem }, listener)
    const port = await listen(server)
    const scheme = pem === undefined ? 'http' : 'https'
    const receiver = new WebhookReceiver(`${scheme}://127.0.0.1:${port}/avisos?x=1`, () => {
      server.close()
      server.closeAllConnections()
    })
    return receiver
  }

  /** Resolves once this many have arrived in total. */
  async until(count: number): Promise<void> {
    const limit = performance.now() + LIMIT_MS
    while (this.received.length < count) {
      const left = limit - performance.now()
      assert.ok(left > 0, `${this.received.length} of ${count} came`)
      const timer = setTimeout(() => this.#waiting.splice(0).forEach((wake) => wake()), left)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
      clearTimeout(timer)
    }
  }

  /** The kind and the name of each change that arrived. */
  get changes(): readonly string[] {
    return this.received.flatMap(changesIn)
  }

  /** Resolves to the changes once there are this many. */
  async untilChanges(count: number): Promise<readonly string[]> {
    while (this.changes.length < count) await this.until(this.received.length + 1)
    return this.changes
  }

  [Symbol.dispose](): void {
    this.#close()
  }
}

/** The kind and the name of each change in a webhook. */
export const changesIn = ({ body }: Received): string[] =>
  [Object(body.data).changes ?? []]
    .flat()
    .map(({ event, record }: { event: string; record: { name: string } }) => `${event} ${record.name}`)

/** As Standard Webhooks says how to verify one: each secret signed it, and no other did. */
export function verify(secrets: string | readonly string[], received: Received): void {
  assert.equal(
    received.signature,
    [secrets]
      .flat()
      .map((secret) => toSignature(secret, received))
      .join(' '),
  )
}

function toSignature(secret: string, { id, timestamp, text }: Received): string {
  assert.match(secret, /^whsec_/)
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  assert.ok(key.length >= 24 && key.length <= 64)
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64')}`
}
