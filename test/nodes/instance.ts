import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../src/storage/database/database.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { openSqlite } from '../../src/storage/database/sqlite/open.ts'
import { startNode } from '../support/node-process.ts'
import type { TestService } from '../support/service.ts'

const CLOCK = new URL('../support/clock-from-file.ts', import.meta.url).href

/** @param address a PostgreSQL address, or the folder of an SQLite database */
export function openAt(address: string): Promise<Database> {
  return address.startsWith('postgres') ? openPostgres(address) : openSqlite(join(address, 'catalejo.db'))
}

/**
 * Prepares to start nodes on the database and the data folder of a service.
 * @param now the time of the nodes, which `setClock` moves; without it they have that of the system
 * @returns what starts nodes; disposing of it kills them
 */
export async function prepareInstance(
  one: TestService,
  flags: Readonly<Record<string, string>> = {},
  now?: number,
) {
  const { data, domainKey } = one
  const { databaseUrl } = one.app.context.config
  const clock = join(await mkdtemp(join(data, 'clock-')), 'clock')
  const setClock = (time: number) => writeFile(clock, String(time))
  if (now !== undefined) await setClock(now)
  const open = () => openAt(databaseUrl === '' ? data : databaseUrl)
  const nodes = new AsyncDisposableStack()
  return {
    open,
    setClock,
    /** Starts a node, which tests call like the service. */
    async start(): Promise<TestService & { kill(): Promise<void> }> {
      const node = nodes.use(
        await startNode({
          flags: { port: '0', data, 'database-url': databaseUrl || undefined, ...flags },
          ...(now !== undefined && {
            environment: { TEST_CLOCK_FILE: clock },
            runtimeFlags: ['--import', CLOCK],
          }),
        }),
      )
      return { ...one, url: node.url, domainKey, stop: () => node.stop(), kill: () => node.kill() }
    },
    /** Ends the leases of killed nodes. Another test covers that they expire after 15 s. */
    async endLeases(): Promise<void> {
      await using database = await open()
      await database.transaction((tx) => tx.run(sql`UPDATE leases SET expires_at = 0`))
    },
    /** How many names were changed, how often in all, and how often the one that was changed most. */
    async changes(): Promise<number[]> {
      await using database = await open()
      const found = await database.values(sql`
        SELECT count(*), COALESCE(sum(times), 0), COALESCE(max(times), 0) FROM (
          SELECT count(*) AS times FROM changes WHERE topic = 'domain' GROUP BY key) AS t`)
      return found.flat().map(Number)
    },
    [Symbol.asyncDispose]: () => nodes.disposeAsync(),
  }
}
