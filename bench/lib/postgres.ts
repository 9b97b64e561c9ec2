import pg from 'pg'
import { databaseAt, startPostgres } from '../../test/support/postgres.ts'
import type { Workspace } from './workspace.ts'

/** What a server has that keeps what it acknowledged, and memory for the tables that are measured. */
const SETTINGS = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on', 'shared_buffers=256MB']

/** A PostgreSQL server of its own, as durable as a real one. */
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
    /** A new database, or a copy of one that nobody is connected to. @returns its address */
    async make(template = databaseAt(url, 'template1')): Promise<string> {
      const name = `bench_${made++}`
      await administrator.query(`CREATE DATABASE ${name} TEMPLATE ${new URL(template).pathname.slice(1)}`)
      // What the copying left to be written is not to be written during the turn.
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

/** The part of the driver's connection that its types leave out. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** COPY … FROM STDIN, as the fastest way in. */
export function copyIn(client: pg.Client, statement: string, data: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query({
      submit: (connection: pg.Connection) => connection.query(statement),
      // What the driver calls while the statement runs.
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
