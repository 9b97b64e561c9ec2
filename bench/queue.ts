// Measures concurrent members of a group who claim records from the queue and decide on them, with a million records
// on SQLite and on PostgreSQL. The floor is sequential minimal durable transactions on the same disk. `--only sqlite`
// or `--only postgres` measures one engine.
import { Agent } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { textOf } from './lib/command.ts'
import { compare, repeat, type Sample } from './lib/compare.ts'
import { addAll, generateDomains } from './lib/domains.ts'
import { fillDatabase } from './lib/fill.ts'
import { cpuMicros, cpuSeconds } from './lib/machine.ts'
import { RECORDS, SECONDS, wants } from './lib/options.ts'
import { connect, startDatabaseServer } from './lib/postgres.ts'
import { post } from './lib/post.ts'
import { searchReady, startService, untilAtRest, type Service } from './lib/service.ts'
import { withWorkspace, type Workspace } from './lib/workspace.ts'

const MEMBERS = 100
/** Records per claim, and how many of them the member decides on before the next claim. */
const CLAIMED = 5
const DECIDED = 4
/** Claims of new records before a member that does not decide releases them all. */
const CLAIMS_HELD = 4
const TARGET_A_SECOND = 500
const VIEW = 'status=0'
const NO_FIELDS = Buffer.from('{}')

/** One keep-alive connection per member. */
const agent = new Agent({ keepAlive: true, maxSockets: MEMBERS })

await withWorkspace(async (workspace) => {
  if (wants('sqlite')) await onSqlite(workspace)
  if (wants('postgres')) await onPostgres(workspace)
})

async function onSqlite(workspace: Workspace) {
  const first = await startService(workspace)
  await first.stop()
  fillDatabase(first.data, generateDomains(RECORDS))
  const service = await startService(workspace, { existing: first, core: 'any' })
  using floor = new DatabaseSync(join(workspace.folder, 'floor.db'))
  floor.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE counter (n); INSERT INTO counter VALUES (0)',
  )
  const count = floor.prepare('UPDATE counter SET n = n + 1')
  await measure('SQLite', service, [], () => void count.run())
}

async function onPostgres(workspace: Workspace) {
  const server = await startDatabaseServer(workspace)
  const database = await server.make()
  const flags = ['--database-url', database]
  const service = await startService(workspace, { flags, core: 'any' })
  await addAll(service, generateDomains(RECORDS))
  const client = await connect(database)
  await client.query('VACUUM ANALYZE')
  await client.query('CREATE TABLE counter (n bigint); INSERT INTO counter VALUES (0)')
  await measure(
    'PostgreSQL',
    service,
    flags,
    async () => void (await client.query('UPDATE counter SET n = n + 1')),
  )
  await client.end()
}

/** @param commit one durable transaction that changes a number */
async function measure(
  engine: string,
  service: Service,
  flags: readonly string[],
  commit: () => void | Promise<void>,
) {
  await searchReady(service)
  const keys = await getMembers(service, flags)
  await untilAtRest(service)
  const floor = 'durable transactions, sequential'
  const claims = `\`queue\`, ${CLAIMED} new records each`
  const decisions = '`queue`, each followed by an `update`'
  const latencies = new Map<string, number[]>([claims, decisions].map((name) => [name, []]))
  const contender = (name: string, turn: Turn) => ({
    name,
    floor,
    run: () => load(service, keys, turn, latencies.get(name) ?? []),
  })
  const rates = await compare(`${engine}: ${MEMBERS} members, ${RECORDS} records`, [
    { name: floor, run: () => repeat(SECONDS, commit) },
    contender(claims, claimMore),
    contender(decisions, claimAndDecide),
  ])
  console.log()
  for (const [name, ms] of latencies) {
    const sorted = ms.toSorted((a, b) => a - b)
    const percentile = (part: number) => (sorted[Math.floor(sorted.length * part)] ?? NaN).toFixed(0)
    console.log(`${name}: a claim takes ${percentile(0.5)} ms (median), ${percentile(0.99)} ms (p99).`)
  }
  const rate = rates.get(claims) ?? 0
  console.log(`${TARGET_A_SECOND} claims per second: ${rate >= TARGET_A_SECOND ? 'met' : 'missed'}`)
}

/** Creates an account and a key for each member. */
async function getMembers({ url, data }: Service, flags: readonly string[]): Promise<string[]> {
  const admin = (
    await textOf(['key', 'create', '--account', 'jefe', '--service', 'admin', '--data', data, ...flags])
  ).trim()
  const keys: string[] = []
  for (let i = 0; i < MEMBERS; i++) {
    const body = { account: `miembro${i}`, service: 'domainwatch' }
    const made: { key: string } = JSON.parse(
      await post(
        `${url}/api/v1/admin/create?api=${admin}`,
        'application/json',
        Buffer.from(JSON.stringify(body)),
      ),
    )
    keys.push(made.key)
  }
  return keys
}

/** A member's turn: claims records with `claim(limit)` and processes them. */
type Turn = (
  service: Service,
  key: string,
  turn: number,
  claim: (limit: number) => Promise<readonly string[]>,
) => Promise<void>

async function claimAndDecide(...[service, key, , claim]: Parameters<Turn>) {
  await decide(service, key, (await claim(CLAIMED)).slice(0, DECIDED))
}

/** A response starts with the records already held, so claiming more takes a higher limit. */
async function claimMore(...[service, key, turn, claim]: Parameters<Turn>) {
  const claims = (turn % CLAIMS_HELD) + 1
  await claim(claims * CLAIMED)
  if (claims === CLAIMS_HELD) await release(service, key)
}

/** All members claim for `SECONDS`, then release their records. Returns the number of claims. */
async function load(
  service: Service,
  keys: readonly string[],
  turn: Turn,
  latencies: number[],
): Promise<Sample> {
  const cpu = cpuSeconds(service.pid)
  const start = performance.now()
  const end = start + SECONDS * 1000
  const counts = await Promise.all(
    keys.map(async (key) => {
      let claims = 0
      for (; performance.now() < end; claims++) {
        await turn(service, key, claims, async (limit) => {
          const sent = performance.now()
          const names = await claim(service, key, limit)
          latencies.push(performance.now() - sent)
          return names
        })
      }
      return claims
    }),
  )
  const claims = counts.reduce((sum, count) => sum + count, 0)
  const sample = {
    perSecond: (claims * 1000) / (performance.now() - start),
    cpuMicros: cpuMicros(cpu, cpuSeconds(service.pid), claims),
  }
  await Promise.all(keys.map((key) => release(service, key)))
  return sample
}

async function claim({ url }: Service, key: string, limit: number): Promise<string[]> {
  const path = `/api/v1/domainwatch/queue?api=${key}&limit=${limit}&${VIEW}`
  const answer: { data: { name: string }[][] } = JSON.parse(
    await post(`${url}${path}`, 'application/json', NO_FIELDS, { agent }),
  )
  return answer.data.flat().map(({ name }) => name)
}

async function release({ url }: Service, key: string): Promise<void> {
  const path = `/api/v1/domainwatch/queue?api=${key}`
  await post(`${url}${path}`, 'application/json', NO_FIELDS, { agent, method: 'DELETE' })
}

async function decide({ url }: Service, key: string, names: readonly string[]): Promise<void> {
  const data = names.map((domain) => ({ domain, revision: 1 }))
  const body = Buffer.from(JSON.stringify({ data }))
  await post(`${url}/api/v1/domainwatch/update?api=${key}`, 'application/json', body, { agent })
}
