// Compares SQLite and PostgreSQL: `add` against COPY into the same table with the same indexes, then `list` and
// `get`. The service is pinned to one core, PostgreSQL is not. CPU time includes that of PostgreSQL.
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { compare, type Contender, type Sample } from './lib/compare.ts'
import { addAll, generateDomains, type DomainRecord } from './lib/domains.ts'
import { load, rotation } from './lib/load.ts'
import { cpuMicros, cpuSeconds } from './lib/machine.ts'
import { photo } from './lib/photos.ts'
import { connect, copyIn, startDatabaseServer } from './lib/postgres.ts'
import { post } from './lib/post.ts'
import { startService, type Service, type ServiceOptions } from './lib/service.ts'
import { uploadMany } from './lib/uploads.ts'
import { withWorkspace, type Workspace } from './lib/workspace.ts'

const BATCH = 50_000
const ROWS = 110_000
const IMAGES = 200
const OF_COPY = 0.6
const DATE_MOD = '2025-12-31 12:00:00'
/** A port where nothing listens: a node that does not receive notifications does not cache. */
const DEAF = 'postgres://nobody@127.0.0.1:9/none'

const all = generateDomains(200_000 + BATCH)
const batch = all.slice(0, BATCH)
const body = Buffer.from(JSON.stringify({ data: batch }))
const lines = Buffer.from(batch.map(copyLine).join(''))

await withWorkspace(async (workspace) => {
  const server = await startDatabaseServer(workspace)
  for (const before of [[], all.slice(BATCH)]) await compareAdd(workspace, server, before)
  await compareReads(workspace, server)
})

type DatabaseServer = Awaited<ReturnType<typeof startDatabaseServer>>

async function compareAdd(workspace: Workspace, server: DatabaseServer, before: readonly DomainRecord[]) {
  const onFiles = await startService(workspace)
  await addAll(onFiles, before)
  await onFiles.stop()

  const template = await server.make()
  const onServer = await startService(workspace, { flags: ['--database-url', template] })
  await addAll(onServer, before)
  await onServer.stop()
  const client = await connect(template)
  await client.query('VACUUM ANALYZE')
  await client.end()

  const floor = 'COPY into the same table with the same indexes'
  let copies = 0
  const contenders: Contender[] = [
    {
      name: floor,
      async run() {
        const database = await server.make(template)
        const sample = await copied(database)
        await server.drop(database)
        return sample
      },
    },
    {
      name: '`add` over HTTP, PostgreSQL',
      floor,
      target: OF_COPY,
      async run() {
        const database = await server.make(template)
        const options = { existing: onServer, flags: ['--database-url', database] }
        const sample = await added(workspace, options, server.pid)
        await server.drop(database)
        return sample
      },
    },
    {
      name: '`add` over HTTP, SQLite',
      floor,
      async run() {
        const data = join(workspace.folder, `copy-${before.length}-${copies++}`)
        await cp(onFiles.data, data, { recursive: true })
        const sample = await added(workspace, { existing: { data, keys: onFiles.keys } })
        await rm(data, { recursive: true })
        return sample
      },
    },
  ]
  await compare(`\`add\` of ${BATCH} records to a table of ${before.length}: two engines`, contenders)
  await server.drop(template)
}

function copyLine({ domain, length, status, reserve, date_reg }: DomainRecord): string {
  const ascii = domain.includes('ñ') ? new URL(`http://${domain}.cl`).hostname.slice(0, -3) : String.raw`\N`
  return `${[domain, ascii, length, 'grupo', 'grupo', status, reserve, date_reg, DATE_MOD].join('\t')}\n`
}

async function copied(database: string): Promise<Sample> {
  const client = await connect(database)
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const pid = rows[0]?.pid ?? 0
  const columns = 'name, ascii, length, agent, agent_folded, status, reserved, date_reg, date_mod'
  const cpu = cpuSeconds(pid)
  const start = performance.now()
  await copyIn(client, `COPY domains (${columns}) FROM STDIN`, lines)
  const perSecond = (BATCH * 1000) / (performance.now() - start)
  const sample = { perSecond, cpuMicros: cpuMicros(cpu, cpuSeconds(pid), BATCH) }
  await client.end()
  return sample
}

async function added(workspace: Workspace, options: ServiceOptions, database?: number): Promise<Sample> {
  const service = await startService(workspace, options)
  const url = service.endpoint('domainwatch/add')
  // Warms up the service: it is parsed and validated like the other, but its last record is invalid.
  const bad = { ...batch[0], length: 0 }
  const refused = Buffer.from(JSON.stringify({ data: [...batch.slice(0, -1), bad] }))
  for (let i = 0; i < 3; i++) await post(url, 'application/json', refused, { expected: 500 })
  const cpu = getCpu(service, database)
  const start = performance.now()
  const answer: { count: number } = JSON.parse(await post(url, 'application/json', body))
  const perSecond = (BATCH * 1000) / (performance.now() - start)
  const after = getCpu(service, database)
  if (answer.count !== BATCH) throw new Error(`stored ${answer.count}`)
  await service.stop()
  return { perSecond, cpuMicros: cpuMicros(cpu, after, BATCH) }
}

/** CPU seconds of the service and, if it has one, its database server. */
function getCpu(service: Service, database: number | undefined): number | undefined {
  const own = cpuSeconds(service.pid)
  const other = database === undefined ? 0 : cpuSeconds(database)
  return own === undefined || other === undefined ? undefined : own + other
}

async function compareReads(workspace: Workspace, server: DatabaseServer) {
  const database = await server.make()
  const flags = ['--database-url', database]
  const sqlite = await startService(workspace)
  const postgres = await startService(workspace, { flags })
  const deaf = await startService(workspace, {
    existing: { data: `${postgres.data}-deaf`, keys: postgres.keys },
    flags: [...flags, '--database-listen-url', DEAF],
  })
  const image = await photo(160, 120)
  const hashes = await uploadMany(sqlite, image, IMAGES)
  await uploadMany(postgres, image, IMAGES)
  for (const service of [sqlite, postgres]) await addAll(service, all.slice(0, ROWS))
  const client = await connect(database)
  await client.query('VACUUM ANALYZE')
  await client.end()

  const engines = { SQLite: sqlite, PostgreSQL: postgres, 'PostgreSQL, no caching': deaf }
  const compared = (title: string, run: (service: Service) => () => Promise<Sample>) =>
    compare(
      title,
      Object.entries(engines).map(([name, service]) => ({
        name,
        ...(service === sqlite ? {} : { floor: 'SQLite' }),
        run: run(service),
      })),
    )

  const scripts = new Map<Service, string>()
  for (const [i, service] of Object.values(engines).entries()) {
    const paths = hashes.map((hash) => service.endpoint('imagestore/get', { hash }).slice(service.url.length))
    scripts.set(service, await rotation(join(workspace.folder, `gets-${i}.lua`), paths))
  }
  await compared(`\`get\` of ${IMAGES} hashes in turn: two engines`, (service) => () => {
    const url = service.endpoint('imagestore/get', { hash: hashes[0] ?? '' })
    return load({ server: service, url, script: scripts.get(service) ?? '' })
  })
  const lists: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['`list`, `last_register=5`', { last_register: '5' }],
    ['`list`, 1,024 records', {}],
    ['`list`, `search=casa`, 100 records', { search: 'casa', limit: '100' }],
  ]
  for (const [name, query] of lists) {
    await compared(`${name} of ${ROWS}: two engines`, (service) => () => {
      const url = service.endpoint('domainwatch/list', query)
      return load({ server: service, url, connections: 4 })
    })
  }
}
