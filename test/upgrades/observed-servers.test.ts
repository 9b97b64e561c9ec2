import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { names } from '../support/domains.ts'
import { POSTGRES_URL } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runStatement } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { oldPostgres, oldSqlite } from './released.ts'

const NO_SERVER = POSTGRES_URL === undefined && 'no PostgreSQL: run npm run test:faults'

/** Observations of schema 22: past and present answers, a name that does not exist, one without records, a null MX. */
const INSERT = `
  INSERT INTO name_servers (name, first_at, last_at, servers) VALUES
    ('casa', 1, 2, '["NS1.Viejo.example","ns2.viejo.example"]'), ('casa', 3, 4, '["ns1.nuevo.example","ns2.viejo.example"]'),
    ('libre', 1, 2, '["ns1.viejo.example"]'), ('libre', 3, 4, NULL), ('revisado', 1, 2, '[]');
  INSERT INTO mail_servers (name, first_at, last_at, servers) VALUES
    ('casa', 1, 2, '[{"preference":10,"exchange":"Mail.example"},{"preference":20,"exchange":"mail.example"}]'),
    ('libre', 1, 2, '[{"preference":0,"exchange":"."}]'), ('revisado', 1, 2, '[{"preference":5,"exchange":"mail.example"}]')`

/** The service on an old database: names are found by all servers that they were ever seen with. */
async function assertFound(data: string, databaseUrl: string) {
  const service = await startService({ data, flags: { 'database-url': databaseUrl, 'blobs-url': '' } })
  try {
    const old = { ...service, domainKey: 'clave-del-grupo' }
    const found = (query: { ns: string } | { mx: string }) =>
      names(old, { ...query, order: 'name', sort: 'asc' })
    assert.deepEqual(await found({ ns: 'ns1.viejo.example' }), ['casa', 'libre'])
    assert.deepEqual(await found({ ns: 'ns2.viejo.example' }), ['casa'])
    assert.deepEqual(await found({ ns: 'ns1.nuevo.example' }), ['casa'])
    assert.deepEqual(await found({ mx: 'mail.example' }), ['casa', 'revisado'])
    assert.deepEqual(await found({ ns: 'mail.example' }), [])
  } finally {
    await service.stop()
  }
}

describe('names of schema 22 are found by their servers after the upgrade', { timeout: 300_000 }, () => {
  test('on SQLite', async () => {
    await using folder = await temporaryFolder()
    const db = new DatabaseSync(await oldSqlite('022', folder.path))
    db.exec(INSERT)
    db.close()
    await assertFound(folder.path, '')
  })

  test('on PostgreSQL', { skip: NO_SERVER }, async () => {
    await using folder = await temporaryFolder()
    const database = await oldPostgres('022', POSTGRES_URL ?? '', `servers_${randomBytes(6).toString('hex')}`)
    try {
      await runStatement(database.url, INSERT)
      await assertFound(folder.path, database.url)
    } finally {
      await database.drop()
    }
  })
})
