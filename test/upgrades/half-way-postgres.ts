/** Migrates the PostgreSQL database at the address of the first argument with the test migration: to be killed meanwhile. */
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { withTestMigration } from './test-migration.ts'

const [url = ''] = process.argv.slice(2)
await openPostgres(url, undefined, undefined, { migrations: withTestMigration() })
