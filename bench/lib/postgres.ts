import pg from 'pg'
import { databaseAt, startPostgres } from '../../test/support/postgres.ts'
import type { Workspace } from './workspace.ts'

/** Full durability, and enough memory for the measured tables. */
const SETTINGS = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on', 'shared_buffers=256MB']

/** Starts a separate PostgreSQL server with the durability of a production server. */
export async function startDatabaseServer(workspace: Workspace) {
  const server = await startPostgres(undefined, SETTINGS)
  const { url } = server
  const administrator = await connect(url)
  let made = 0
  workspace.keep({
    async stop() {
      await administrator.end()
      await server.stop()
    },
  })
  return {
    pid: server.process.pid ?? 0,
    /** Creates a database, or a copy of one without connections. @returns its URL */
    async make(template = databaseAt(url, 'template1')): Promise<string> {
      const name = `bench_${made++}`
      await administrator.query(`CREATE DATABASE ${name} TEMPLATE ${new URL(template).pathname.slice(1)}`)
      // Otherwise the turn would include writing the pages of the copy.
      await administrator.query('CHECKPOINT')
      return databaseAt(url, name)
    },
    async drop(database: string): Promise<void> {
      await administrator.query(`DROP DATABASE ${new URL(database).pathname.slice(1)} WITH (FORCE)`)
    },
  }
}

export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** The part of the driver's connection that its types lack. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** Loads rows with COPY … FROM STDIN. */
export function copyIn(client: pg.Client, statement: string, data: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query({
      submit: (connection: pg.Connection) => connection.query(statement),
      // Called by the driver while the statement runs.
      handleCopyInResponse(connection: CopyConnection) {
        connection.sendCopyFromChunk(data)
        connection.endCopyFrom()
      },
      handleCommandComplete() {},
      handleReadyForQuery: () => resolve(),
      handleError: reject,
    })
  })
}
