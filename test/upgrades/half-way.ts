/** Migrates the SQLite file that the first argument names with the test migration, which never ends: to be killed there. */
import { Connection, migrate } from '../../src/storage/database/sqlite/connection.ts'
import { withTestMigration } from './test-migration.ts'

const HOURS = `WITH RECURSIVE long (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM long) SELECT max(n) FROM long;`

const [path = ''] = process.argv.slice(2)
migrate(new Connection(path, 'write'), Infinity, withTestMigration(HOURS))
