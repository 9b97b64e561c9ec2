import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { POSTGRES_URL } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runStatement } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { mailFlags, startMailServer } from '../support/smtp.ts'
import { watch, getWatches } from '../support/watches.ts'
import { oldPostgres, oldSqlite } from './released.ts'

const NO_SERVER = POSTGRES_URL === undefined && 'no PostgreSQL: run npm run test:faults'

/** A watch of schema 22 with a mail address, as its own statements stored it. */
const INSERT = `
  INSERT INTO watches (id, account_id, name, filters, changes, created_at, state, language)
  SELECT 'correo', min(id), 'Antigua', '{"search":"aviso"}', 'new', 1, 'active', 'es' FROM accounts WHERE service = 'domainwatch';
  INSERT INTO watch_destinations (id, watch_id, position, channel, address, state, cursor)
  SELECT 'destino', 'correo', 1, 'mailto', 'Ana@Example.cl', 'active',
    epoch || '-' || (SELECT COALESCE(max(id), 0) FROM changes) FROM change_log`

/** The service on an old database: the address of the watch gets mails without being asked, a new one is asked. */
async function assertContinues(data: string, databaseUrl: string) {
  await using server = await startMailServer('loopback', true)
  const flags = { 'database-url': databaseUrl, 'blobs-url': '', ...mailFlags(server) }
  const service = await startService({ data, flags })
  try {
    const old = { ...service, domainKey: 'clave-del-grupo' }
    const shown = (await getWatches(old)).find(({ id }) => id === 'correo')
    const destinations = [{ to: 'mailto:Ana@Example.cl', confirmed: 1, last_error: null }]
    assert.partialDeepStrictEqual(shown, { destinations })
    await stored(old, [record('aviso')])
    await eventually(() => server.mails.length === 1)
    assert.match(server.mails[0]?.text ?? '', /aviso\.cl/)
    await watch(old, { to: 'mailto:ana@example.cl,mailto:nueva@example.cl' })
    await eventually(() => server.mails.length === 2)
    assert.equal(server.mails[1]?.subject, 'Confirme su dirección de correo')
  } finally {
    await service.stop()
  }
}

describe('mail addresses of schema 22 are confirmed after the upgrade', { timeout: 300_000 }, () => {
  test('on SQLite', async () => {
    await using folder = await temporaryFolder()
    const db = new DatabaseSync(await oldSqlite('022', folder.path))
    db.exec(INSERT)
    db.close()
    await assertContinues(folder.path, '')
  })

  test('on PostgreSQL', { skip: NO_SERVER }, async () => {
    await using folder = await temporaryFolder()
    const name = `mails_${randomBytes(6).toString('hex')}`
    const database = await oldPostgres('022', POSTGRES_URL ?? '', name)
    try {
      await runStatement(database.url, INSERT)
      await assertContinues(folder.path, database.url)
    } finally {
      await database.drop()
    }
  })
})
