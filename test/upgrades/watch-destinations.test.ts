import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { POSTGRES_URL } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runStatement } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { getWatches, watchUntil } from '../support/watches.ts'
import { verify, WebhookReceiver } from '../support/webhook-receiver.ts'
import { oldPostgres, oldSqlite } from './released.ts'

const NO_SERVER = POSTGRES_URL === undefined && 'no PostgreSQL: run npm run test:faults'
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** A watch of schema 13, as its own statement stored it, with a delivery that has failed once. */
const insert = (id: string, url: string) => `
  INSERT INTO watches (id, account_id, name, filters, changes, created_at, state, url, secret, cursor, delivery_id,
    delivery_body, delivery_cursor, attempts, next_at, delivered_at, last_error, last_error_at)
  SELECT '${id}', min(id), 'Antigua', '{"search":"aviso"}', 'new', 1, 'active', '${url}', '${SECRET}', epoch || '-0',
    'msg_${id}', '{"type":"domains.changed"}', epoch || '-' || (SELECT COALESCE(max(id), 0) FROM changes), 1, 5, 3,
    'El receptor respondió 500', 4 FROM accounts, change_log WHERE service = 'domainwatch' GROUP BY epoch`

/** The service on an old database: the delivery in progress is continued with its id and body, and later changes follow. */
async function assertContinues(data: string, databaseUrl: string, receiver: WebhookReceiver, id: string) {
  const flags = { 'database-url': databaseUrl, 'blobs-url': '', 'webhook-networks': '127.0.0.0/8' }
  const service = await startService({ data, flags })
  try {
    const old = { ...service, domainKey: 'clave-del-grupo' }
    const shown = (await getWatches(old)).find((one) => one['id'] === id)
    assert.partialDeepStrictEqual(shown, {
      name: 'Antigua',
      filters: { search: 'aviso' },
      url: receiver.url,
      atom: 0,
    })
    await receiver.until(1)
    await watchUntil(old, id, ({ pending, last_error }) => pending === 0 && last_error === null)
    await stored(old, [record(`aviso-${id}`)])
    await receiver.until(2)
    const [first, second] = receiver.received
    assert.ok(first !== undefined && second !== undefined)
    assert.deepEqual([first.id, first.text], [`msg_${id}`, '{"type":"domains.changed"}'])
    for (const one of [first, second]) verify(SECRET, one)
    assert.equal(Object(second.body.data).changes[0].record.name, `aviso-${id}`)
  } finally {
    await service.stop()
  }
}

describe('webhooks of schema 13 are continued after the upgrade', { timeout: 300_000 }, () => {
  test('on SQLite', async () => {
    await using folder = await temporaryFolder()
    using receiver = await WebhookReceiver.start()
    const path = await oldSqlite('013', folder.path)
    const db = new DatabaseSync(path)
    db.exec(insert('vieja', receiver.url))
    db.close()
    await assertContinues(folder.path, '', receiver, 'vieja')
  })

  test('on PostgreSQL, those too that an old node creates afterwards', { skip: NO_SERVER }, async () => {
    await using folder = await temporaryFolder()
    using receiver = await WebhookReceiver.start()
    using later = await WebhookReceiver.start()
    const name = `watches_${randomBytes(6).toString('hex')}`
    const database = await oldPostgres('013', POSTGRES_URL ?? '', name)
    try {
      await runStatement(database.url, insert('vieja', receiver.url))
      await assertContinues(folder.path, database.url, receiver, 'vieja')
      await runStatement(database.url, insert('nueva', later.url))
      await assertContinues(folder.path, database.url, later, 'nueva')
    } finally {
      await database.drop()
    }
  })
})
