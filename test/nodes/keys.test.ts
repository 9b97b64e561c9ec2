import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createAccounts } from '../../src/accounts/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { LIST } from '../support/domains.ts'
import { databaseFor } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'
import { openAt } from './open.ts'

/** Another node may accept a revoked key for a moment; processes on SQLite see it immediately. */
const isImmediate = process.env['TEST_DATABASE'] !== 'postgres'
/** Counts of wrong keys are exchanged once a second. */
const EXCHANGE_MS = 30_000

const statusOf = async (service: TestService, api: string) =>
  (await call(service, LIST, { query: { api } })).status

async function twoNodes(flags: Record<string, string> = {}) {
  const one = await startService({ flags })
  const other = await startService({ flags, data: one.data })
  return {
    one,
    other,
    async [Symbol.asyncDispose]() {
      await other.stop()
      await one[Symbol.asyncDispose]()
    },
  }
}

suite('keys on two nodes', () => {
  test('a key created on one node is valid on the other; revoked on one it is rejected by both', async () => {
    await using nodes = await twoNodes()
    const { one, other } = nodes
    const { key, id } = await one.newKey('nueva', 'domainwatch')
    // Also where it was asked for before it was there.
    assert.equal(await statusOf(other, key), 200)
    assert.equal(await statusOf(one, key), 200)
    assert.equal(await one.app.context.accounts.revoke(id), 'revoked')
    assert.equal(await statusOf(one, key), 401)
    if (isImmediate) assert.equal(await statusOf(other, key), 401)
    await eventually(async () => (await statusOf(other, key)) === 401, 'the other node rejects it')
  })

  test('wrong keys are counted together; valid keys are served regardless', async () => {
    await using nodes = await twoNodes({ 'failed-keys': '20' })
    const { one, other } = nodes
    for (let i = 0; i < 20; i++) assert.equal(await statusOf(one, 'mala'), 401)
    assert.equal(await statusOf(one, 'mala'), 429)
    // The other has counted nothing yet: it hears of the rest with its next exchange, long before 20 of its own.
    let alone = 0
    for (const end = performance.now() + EXCHANGE_MS; ; alone++) {
      if ((await statusOf(other, 'mala')) === 429) break
      assert.ok(performance.now() < end, 'the other node heard of nothing')
      await pause(400)
    }
    assert.ok(alone < 15, `it let ${alone} more through`)
    const refused = await call(other, LIST, { query: { api: 'mala' } })
    assert.deepEqual(refused.body, { status: 429, msg: 'Demasiadas solicitudes' })
    const wait = Number(refused.headers.get('retry-after'))
    assert.ok(wait >= 1 && wait <= 60)
    for (const service of [one, other]) {
      assert.equal(await statusOf(service, one.domainKey), 200)
      assert.equal(await statusOf(service, other.domainKey), 200)
    }
    const rows = String((await one.dump()).toString('latin1'))
    assert.equal(rows.includes('127.0.0.1'), false)
  })

  test('started together on an empty database, one node creates the first accounts', async () => {
    await using folder = await temporaryFolder()
    const database = await databaseFor(folder.path)
    const address = database.url === '' ? folder.path : database.url
    const first = [
      { name: 'grupo', service: 'domainwatch' },
      { name: 'aplicacion', service: 'imagestore' },
    ] as const
    const nodes = await Promise.all([1, 2, 3].map(() => openAt(address)))
    try {
      const all = nodes.map((node) => createAccounts(node, systemClock))
      const made = await Promise.all(all.map((accounts) => accounts.createFirst(first)))
      assert.equal(made.flatMap((keys) => keys ?? []).length, 2)
      assert.deepEqual(
        (await all[0]?.keys())?.map(({ account, service }) => [account, service]),
        [
          ['aplicacion', 'imagestore'],
          ['grupo', 'domainwatch'],
        ],
      )
    } finally {
      for (const node of nodes) await node.close()
      await database.drop()
    }
  })
})
