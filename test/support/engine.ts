import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { eventually } from './eventually.ts'
import { runStatement, databaseAt } from './postgres.ts'

/** A superuser's address on the server that the runner started; undefined where it could not, or was not asked to. */
export const POSTGRES_URL = process.env['TEST_POSTGRES_URL']

/** Why tests that need PostgreSQL are skipped; false when it is here. */
export const noPostgres =
  POSTGRES_URL === undefined && 'no PostgreSQL: run npm run test:postgres, test:faults or test:cluster'

/** Whether services of this run stand on PostgreSQL, otherwise on SQLite. */
const ON_POSTGRES = process.env['TEST_DATABASE'] === 'postgres'

const SQLITE_BUSY = 5
const SHORT_WAIT_MS = 20

/** Disposing of it drops it. */
export interface TestDatabase extends AsyncDisposable {
  /** What `--database-url` takes. */
  readonly url: string
  /** All that its tables hold, as text; nothing where that lies in the data folder. */
  dump(): Promise<Buffer>
  /**
   * The id of the newest change. On PostgreSQL followers of changes may begin before it while any transaction of the
   * server, also of another database, has not ended; on SQLite they never do, and it is 0.
   */
  newestChange(): Promise<number>
  drop(): Promise<void>
}

/** The database that belongs to a data folder: made when the folder is first used, and found again after that. */
export async function databaseFor(folder: string): Promise<TestDatabase> {
  if (!ON_POSTGRES) {
    const drop = async () => {}
    return {
      url: '',
      dump: async () => Buffer.alloc(0),
      newestChange: async () => 0,
      drop,
      [Symbol.asyncDispose]: drop,
    }
  }
  if (POSTGRES_URL === undefined) throw new Error('TEST_DATABASE=postgres needs TEST_POSTGRES_URL')
  return openDatabase(POSTGRES_URL, `t_${createHash('sha256').update(folder).digest('hex').slice(0, 24)}`)
}

/** Runs a statement on the database of a data folder from outside. @param url empty for SQLite */
export async function runOn(url: string, folder: string, statement: string): Promise<void> {
  if (url !== '') return void (await runStatement(url, statement))
  using database = new DatabaseSync(join(folder, 'catalejo.db'), { timeout: SHORT_WAIT_MS })
  await eventually(() => hasRun(database, statement), 'nobody else writes')
}

/** False while another connection writes: it may be a service in this process, which needs our thread to finish. */
function hasRun(database: DatabaseSync, statement: string): boolean {
  try {
    database.exec(statement)
    return true
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return false
    throw error
  }
}

/** Creates an empty database on the server of the run. */
export function newDatabase(): Promise<TestDatabase> {
  if (POSTGRES_URL === undefined) throw new Error('there is no PostgreSQL: skip the test')
  return openDatabase(POSTGRES_URL, `t_${randomBytes(12).toString('hex')}`)
}

async function openDatabase(server: string, name: string): Promise<TestDatabase> {
  const [known] = await runStatement(server, `SELECT FROM pg_database WHERE datname = '${name}'`)
  if (known === undefined) await runStatement(server, `CREATE DATABASE ${name}`)
  const url = databaseAt(server, name)
  const drop = async () => void (await runStatement(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  return {
    url,
    async newestChange() {
      const [row] = await runStatement(url, 'SELECT COALESCE(max(id), 0) AS id FROM changes')
      return Number(row?.['id'])
    },
    async dump() {
      const tables = await runStatement(url, `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)
      const rows = await Promise.all(
        tables.map(({ tablename }) =>
          runStatement(url, `SELECT t::text AS row FROM "${String(tablename)}" t`),
        ),
      )
      return Buffer.from(
        rows
          .flat()
          .map(({ row }) => String(row))
          .join('\n'),
      )
    },
    drop,
    [Symbol.asyncDispose]: drop,
  }
}
