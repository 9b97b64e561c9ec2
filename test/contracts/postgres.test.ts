import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../../src/lib/client.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { newDatabase, POSTGRES_URL } from '../support/engine.ts'
import { changesContract } from './changes.ts'
import { databaseContract } from './database.ts'
import { followingContract } from './following.ts'
import { listsContract } from './lists.ts'

if (POSTGRES_URL === undefined) {
  test('PostgreSQL', (context) => context.skip('no server: run npm run test:postgres'))
} else {
  const make = async () => {
    const made = await newDatabase()
    return { open: () => openPostgres(made.url), remove: () => made.drop() }
  }
  databaseContract('PostgreSQL', make)
  changesContract('PostgreSQL', make)
  followingContract('PostgreSQL', make)
  listsContract('PostgreSQL', make, 20)

  test('small reads: neither an account with many nor a crowd of addresses delays others or takes their places', async () => {
    const { open, remove } = await make()
    const database = await open()
    const finished: string[] = []
    const read = async (client: Client) => {
      await database.readerOf(client).all(sql`SELECT pg_sleep(0.01)`)
      finished.push(client)
    }
    const flood = Array.from({ length: 300 }, () => read('account 1'))
    // More than may wait.
    const crowd = Array.from({ length: 4_500 }, (_, i) => read(`address ${i}`))
    const others = Promise.all([read('account 2'), read('service')])
    const outcomes = Promise.allSettled([...flood, ...crowd])
    await others
    for (const client of ['account 2', 'service'] as const) {
      const place = finished.indexOf(client)
      assert.ok(place < 40, `${place} went before ${client}`)
    }
    await database.close()
    const refused = (await outcomes).filter(({ status }) => status === 'rejected')
    assert.ok(refused.length > 0)
    await remove()
  })
}
