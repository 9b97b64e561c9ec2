import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { updateDelivery } from '../../src/imagestore/account-policy.ts'
import { listen } from './listen.ts'
import { startService, type TestService } from './service.ts'

type Modifiers = string | Readonly<Record<string, string | number | boolean>>

interface Vectors {
  /** Of signed links, and of webhooks. */
  readonly secret: string
  readonly webhookSecret: string
  /** Keys of all modifiers, in canonical order. */
  readonly modifiers: readonly string[]
  readonly aliases: readonly { readonly account: string; readonly name: string; readonly alias: string }[]
  readonly urls: readonly {
    readonly base: string
    readonly image: string
    readonly modifiers: Modifiers
    readonly url: string
  }[]
  readonly srcsets: readonly {
    readonly base: string
    readonly image: string
    readonly widths: readonly number[]
    readonly modifiers: Modifiers
    readonly srcset: string
    readonly expires: number
    readonly signed: string
  }[]
  readonly signatures: readonly {
    readonly link: string
    readonly expires?: number
    readonly presets?: Readonly<Record<string, string>>
    readonly signed: string
  }[]
  /** Links that clients refuse to sign. */
  readonly refused: readonly string[]
  readonly webhooks: readonly {
    readonly name: string
    readonly valid: boolean
    readonly now: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }[]
}

export const VECTORS_PATH = new URL('../../clients/test-vectors.json', import.meta.url)
/** What all clients are tested with. */
export const VECTORS: Vectors = JSON.parse(readFileSync(VECTORS_PATH, 'utf8'))

/** A service with an application that only allows signed links. */
export async function startShop(flags: Readonly<Record<string, string>> = {}) {
  const service: TestService = await startService({ flags })
  const { key } = await service.newKey('tienda', 'imagestore')
  const outcome = await updateDelivery(service.app.context.database, 'tienda', {
    mode: 'signed',
    secret: 'kept',
  })
  assert.ok(outcome.kind === 'updated' && outcome.secret !== null)
  return { service, key, secret: outcome.secret }
}

/** A server that is busy once for each address, for as many seconds as it says, and then answers with an empty list. */
export async function startBusyServer() {
  const times = new Map<string, number[]>()
  const server = createServer((request, response) => {
    request.resume()
    const { pathname } = new URL(request.url ?? '', 'http://127.0.0.1')
    const earlier = times.get(pathname) ?? []
    times.set(pathname, [...earlier, performance.now()])
    const status = earlier.length === 0 ? 503 : 200
    // For statistics it is busy for an hour.
    const retryAfter = pathname.endsWith('/stats') ? '3600' : '1'
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': retryAfter })
    response.end(
      JSON.stringify({
        status,
        msg: 'El servicio está saturado, inténtelo de nuevo',
        code: 'overloaded',
        count: 0,
        data: [],
      }),
    )
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    /** Fails unless a list was asked for twice, a second apart, and statistics once. */
    assertPatience() {
      const [first = 0, second = 0, ...more] = times.get('/api/v1/imagestore/list') ?? []
      assert.deepEqual(more, [])
      // Timers may be a little early.
      assert.ok(second - first > 950, `${second - first} ms`)
      assert.equal(times.get('/api/v1/imagestore/stats')?.length, 1)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
