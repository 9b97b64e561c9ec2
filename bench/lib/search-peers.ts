import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasDirectus, startDirectus } from '../peers/directus.ts'
import type { DomainRecord } from './domains.ts'
import { load, posting } from './load.ts'
import { pinProcess, SERVER_CORE } from './machine.ts'
import { connect, copyIn, startDatabaseServer } from './postgres.ts'
import { startServer, type Server } from './server.ts'
import type { Workspace } from './workspace.ts'

const POSTGRAPHILE = fileURLToPath(new URL('../peers/postgraphile.js', import.meta.url))
const hasPostGraphile = existsSync(new URL('../node_modules/postgraphile', import.meta.url))
const COPY_ROWS = 50_000
/** Slower queries are timed with a single request: the load generator might not get a response in time. */
const SLOW_MS = 300
/** The first requests plan, compile, and fill the database's caches. */
const WARM_UPS = 5
const WARM_UP_MS = 3_000
const MAX_ANSWER_MS = 60_000
const CLIENTS = 8

const TABLE = `
  CREATE TABLE domains (
    id integer PRIMARY KEY, name text NOT NULL UNIQUE, length integer NOT NULL, agent text NOT NULL,
    status integer NOT NULL, reserved integer NOT NULL, revision integer NOT NULL, discarded integer NOT NULL,
    date_reg timestamp NOT NULL, date_mod timestamp NOT NULL
  )`
/** The index for the order, which Directus itself can create. */
const PLAIN = 'CREATE INDEX domains_date_reg ON domains (date_reg); ANALYZE domains'
/** The same table with a trigram index, which an administrator may add for searches. */
const INDEXED = `
  CREATE EXTENSION pg_trgm;
  CREATE TABLE indexed (LIKE domains INCLUDING ALL);
  INSERT INTO indexed SELECT * FROM domains;
  CREATE INDEX indexed_name_trgm ON indexed USING gin (name gin_trgm_ops);
  ANALYZE indexed`
const FIELDS = 'name length agent status reserved revision discarded dateReg dateMod'

/** Another service that lists the newest 100 records, all or those whose names contain a text. */
export interface SearchPeer {
  readonly name: string
  /** How many times faster than the peer we aim to be. */
  readonly target: number
  /** Returns responses per second to 8 clients, with the database on the same core, and the number of records. */
  measure(text: string | undefined): Promise<{ readonly perSecond: number; readonly count: number }>
}

export interface SearchPeers {
  readonly peers: readonly SearchPeer[]
  /** Process ids of the peers. */
  readonly pids: readonly number[]
}

/** Starts the installed peers over the same records in PostgreSQL. */
export async function startSearchPeers(
  workspace: Workspace,
  records: readonly DomainRecord[],
): Promise<SearchPeers> {
  if (!hasDirectus || !hasPostGraphile) {
    console.log('Directus and PostGraphile are not installed (npm ci in bench): their columns are omitted.\n')
    return { peers: [], pids: [] }
  }
  const server = await startDatabaseServer(workspace)
  const database = await server.make()
  await fill(database, records)
  pinProcess(server.pid, SERVER_CORE)
  const directus = await startDirectus(workspace, { database })
  const postgraphile = workspace.keep(
    await startServer(
      {
        command: process.execPath,
        args: [POSTGRAPHILE, database],
        core: SERVER_CORE,
        output: join(workspace.folder, 'postgraphile.log'),
        env: { ...process.env, NODE_ENV: 'production', GRAPHILE_ENV: 'production' },
      },
      /listening on (\S+)/,
    ),
  )
  const query = `query Newest($filter: IndexedFilter) {
    allIndexeds(first: 100, orderBy: DATE_REG_DESC, filter: $filter) { nodes { ${FIELDS} } }
  }`
  const measureDirectus = (collection: string, text: string | undefined) => {
    const parameters = new URLSearchParams({
      ...(text === undefined ? {} : { 'filter[name][_contains]': text }),
      limit: '100',
      sort: '-date_reg',
      access_token: directus.token,
    })
    return measured(directus, { url: `${directus.url}/items/${collection}?${parameters}` })
  }
  const peers: SearchPeer[] = [
    { name: 'Directus', target: 50, measure: (text) => measureDirectus('domains', text) },
    {
      name: 'Directus, trigram index',
      target: 50,
      measure: (text) => measureDirectus('indexed', text),
    },
    {
      name: 'PostGraphile, trigram index',
      target: 20,
      measure: async (text) => {
        const filter = text === undefined ? {} : { filter: { name: { includesInsensitive: text } } }
        const body = JSON.stringify({ query, variables: filter })
        const script = await posting(join(workspace.folder, `${randomUUID()}.lua`), body)
        return measured(postgraphile, { url: `${postgraphile.url}/graphql`, body, script })
      },
    },
  ]
  return { peers, pids: [server.pid, directus.pid, postgraphile.pid] }
}

async function fill(database: string, records: readonly DomainRecord[]): Promise<void> {
  const client = await connect(database)
  await client.query(TABLE)
  for (let from = 0; from < records.length; from += COPY_ROWS) {
    const lines = records
      .slice(from, from + COPY_ROWS)
      .map(({ domain, length, status, reserve, date_reg }, i) => {
        const row = [from + i, domain, length, 'grupo', status, reserve, 0, 0, date_reg, date_reg]
        return `${row.join('\t')}\n`
      })
    await copyIn(client, 'COPY domains FROM STDIN', Buffer.from(lines.join('')))
  }
  await client.query(PLAIN)
  await client.query(INDEXED)
  await client.query('VACUUM domains, indexed')
  await client.end()
}

interface Asked {
  readonly url: string
  readonly body?: string
  readonly script?: string
}

async function measured(server: Server, { url, body, script }: Asked) {
  const init =
    body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const search = async () => {
    const start = performance.now()
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(MAX_ANSWER_MS) })
    const text = await answer.text()
    if (!answer.ok || text.includes('"errors"')) throw new Error(`${answer.status}: ${text}`)
    return { ms: performance.now() - start, count: text.match(/"name":/g)?.length ?? 0 }
  }
  const start = performance.now()
  for (let i = 0; i < WARM_UPS && performance.now() - start < WARM_UP_MS; i++) await search()
  const { ms, count } = await search()
  if (ms > SLOW_MS) return { perSecond: 1_000 / ms, count }
  const { perSecond } = await load({
    server,
    url,
    connections: CLIENTS,
    ...(script === undefined ? {} : { script }),
  })
  return { perSecond, count }
}
