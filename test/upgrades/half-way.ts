/** Migrates the SQLite file that the first argument names, but never gets to the end of a step: to be killed there. */
import { migrations } from '../../src/storage/database/migrations/index.ts'
import { Connection } from '../../src/storage/database/sqlite/connection.ts'
import { migrate } from '../../src/storage/database/sqlite/migrate.ts'

const HOURS = `WITH RECURSIVE long (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM long) SELECT max(n) FROM long;`

migrate(
  new Connection(process.argv[2] ?? '', 'write'),
  migrations.length,
  migrations.map(({ sqlite, postgres }) => ({ sqlite: sqlite + HOURS, postgres })),
)
