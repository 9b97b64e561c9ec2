import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { makeDatabase, POSTGRES_URL } from '../support/engine.ts'
import { changesContract } from './changes.ts'
import { databaseContract } from './database.ts'
import { followingContract } from './following.ts'

if (POSTGRES_URL === undefined) {
  test('PostgreSQL', (context) => context.skip('no server: run npm run test:postgres'))
} else {
  const server = POSTGRES_URL
  const make = async () => {
    const made = await makeDatabase(server, `contract_${randomBytes(6).toString('hex')}`)
    return { open: () => openPostgres(made.url), remove: () => made.drop() }
  }
  databaseContract('PostgreSQL', make)
  changesContract('PostgreSQL', make)
  followingContract('PostgreSQL', make)
}
