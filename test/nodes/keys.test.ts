import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createAccounts } from '../../src/accounts/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { LIST } from '../support/domains.ts'
import { databaseFor } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'
import { openAt } from './instance.ts'

/** Another node may accept a revoked key for a moment; processes on SQLite see it immediately. */
const isImmediate = process.env['TEST_DATABASE'] !== 'postgres'

const toStatus = async (service: TestService, api: string) =>
  (await call(service, LIST, { query: { api } })).status

async function twoNodes() {
  const one = await startService()
  const other = await startService({ data: one.data })
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
    assert.equal(await toStatus(other, key), 200)
    assert.equal(await toStatus(one, key), 200)
    assert.equal(await one.app.context.accounts.revoke(id), 'revoked')
    assert.equal(await toStatus(one, key), 401)
    if (isImmediate) assert.equal(await toStatus(other, key), 401)
    await eventually(async () => (await toStatus(other, key)) === 401, 'the other node rejects it')
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
