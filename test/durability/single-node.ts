import { parseError } from '../support/error-codes.ts'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { createAccounts } from '../../src/accounts/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openSqlite } from '../../src/storage/database/sqlite/open.ts'
import { bytesOf, expectedHash, ImageClient } from '../support/images.ts'
import { startNode, type NodeOptions, type NodeProcess } from '../support/node-process.ts'

/** From the end of a fault until all is well again. */
const HEAL_MS = 60_000
/** For an answer, right or not, whatever is broken. */
const ANSWER_MS = 20_000

/** One process on SQLite and files, and a client of it. */
export interface SingleNode extends AsyncDisposable {
  readonly node: NodeProcess
  readonly images: ImageClient
  add(...names: string[]): Promise<JsonAnswer>
  update(...names: string[]): Promise<JsonAnswer>
  list(): Promise<JsonAnswer>
  /** The names that are recorded, in order; an answer that is none fails the test. */
  names(): Promise<string[]>
  upload(bytes: Buffer): Promise<JsonAnswer>
  remove(bytes: Buffer): Promise<JsonAnswer>
  /** Asserts that the picture is there to the last byte, or not at all. */
  expectPicture(bytes: Buffer, isThere: boolean): Promise<void>
}

export interface JsonAnswer {
  readonly status: number
  readonly body: unknown
}

export async function startSingleNode(
  data: string,
  options: Omit<NodeOptions, 'flags'> & { readonly flags?: NodeOptions['flags'] } = {},
): Promise<SingleNode> {
  const database = await openSqlite(join(data, 'catalejo.db'))
  const accounts = createAccounts(database, systemClock)
  const [domainKey, imageKey] = await Promise.all(
    (['domainwatch', 'imagestore'] as const).map(async (service) => {
      const made = await accounts.createKey(service, service)
      assert.ok(made.kind === 'created')
      return made.key
    }),
  )
  await database.close()
  assert.ok(domainKey !== undefined && imageKey !== undefined)
  const node = await startNode({
    ...options,
    flags: { data, port: '0', 'image-workers': '1', ...options.flags },
  })
  const images = new ImageClient(node.url, imageKey)

  async function ask(path: string, init: RequestInit = {}): Promise<JsonAnswer> {
    const response = await fetch(`${node.url}${path}`, { ...init, signal: AbortSignal.timeout(ANSWER_MS) })
    return { status: response.status, body: parseError(await response.text()) }
  }
  const post = (path: string, body: object) =>
    ask(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const record = (domain: string) => ({
    domain,
    length: domain.length,
    reserve: 0,
    status: 1,
    date_reg: '2026-01-02 03:04:05',
  })
  const domains = (endpoint: string) => `/api/v1/domainwatch/${endpoint}?api=${domainKey}`
  const list = () => ask(`${domains('list')}&sort=asc`)

  return {
    node,
    images,
    add: (...names) => post(domains('add'), { data: names.map(record) }),
    update: (...names) => post(domains('update'), { data: names.map((domain) => ({ domain, revision: 1 })) }),
    list,
    async names() {
      const { status, body } = await list()
      assert.equal(status, 200, JSON.stringify(body))
      return [...JSON.stringify(body).matchAll(/"name":"([^"]+)"/g)].map(([, name = '']) => name)
    },
    upload: (bytes) =>
      post(`/api/v1/imagestore/upload?api=${imageKey}`, {
        image: bytes.toString('base64'),
        info: { name: 'foto', mime: 'image/png', ip: '192.0.2.1' },
      }),
    remove: (bytes) => post(`/api/v1/imagestore/delete?api=${imageKey}`, { hash: expectedHash(bytes) }),
    async expectPicture(bytes, isThere) {
      const hash = expectedHash(bytes)
      const status = isThere ? 200 : 404
      assert.equal((await images.get(hash)).status, status)
      const link = await images.link(hash)
      assert.equal(link.status, status)
      if (isThere) assert.ok((await bytesOf(link)).equals(bytes))
      else await link.body?.cancel()
    },
    [Symbol.asyncDispose]: () => node.kill(),
  }
}

/** Resolves when `request` succeeds. @throws after `HEAL_MS` */
export async function waitForRecovery(request: () => Promise<{ readonly status: number }>): Promise<void> {
  const deadline = Date.now() + HEAL_MS
  for (;;) {
    const { status } = await request().catch(() => ({ status: 0 }))
    if (status === 200) return
    assert.ok(Date.now() < deadline, `still ${status} after ${HEAL_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const NOT_SAVED = { status: 500, msg: 'No se han podido guardar los datos' }
export const IMAGE_NOT_SAVED = { status: 500, body: NOT_SAVED }
export const BATCH_NOT_SAVED = { status: 500, body: { ...NOT_SAVED, count: 0, errors: [] } }
