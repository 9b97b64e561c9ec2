// Measures `add` of 50,000 records over HTTP, including parsing, validation, changes and history. The floor is a bare
// prepared upsert of the same rows on a copy of the same database. The service updates its lists after the response,
// so one contender also requests a list immediately afterwards. `--only 0`, `--only 1000000`: measures these table
// sizes only.
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { compare, sampleOf, type Contender } from './lib/compare.ts'
import { generateDomains, type DomainRecord } from './lib/domains.ts'
import { fillDatabase } from './lib/fill.ts'
import { cpuMicros, cpuSeconds } from './lib/machine.ts'
import { chosen, ROUNDS } from './lib/options.ts'
import { post } from './lib/post.ts'
import { dropTriggers, preparedUpsert, toRow } from './lib/raw-upsert.ts'
import { searchReady, startService } from './lib/service.ts'
import { withWorkspace, type Workspace } from './lib/workspace.ts'

const BATCH = 50_000
/** By the number of existing records. The target is lower for the largest table. */
const SIZES = [
  { before: 0, target: 0.8 },
  { before: 200_000, target: 0.8 },
  // Each turn copies a third of a gigabyte, so there are fewer rounds.
  { before: 1_000_000, target: 0.5, rounds: Math.min(2, ROUNDS), forms: 1 },
]
let copies = 0

const all = generateDomains(1_000_000 + BATCH)
const batch = all.slice(0, BATCH)
const bodies = {
  form: {
    contentType: 'application/x-www-form-urlencoded',
    text: (data: readonly DomainRecord[]) => new URLSearchParams({ data: JSON.stringify(data) }).toString(),
  },
  'JSON, `data` a string': {
    contentType: 'application/json',
    text: (data: readonly DomainRecord[]) => JSON.stringify({ data: JSON.stringify(data) }),
  },
  'JSON, `data` an array': {
    contentType: 'application/json',
    text: (data: readonly DomainRecord[]) => JSON.stringify({ data }),
  },
}

for (const { before, target, rounds, forms } of chosen(SIZES, (size) => String(size.before))) {
  await withWorkspace(async (workspace) => {
    const template = await makeTemplate(workspace, all.slice(BATCH, BATCH + before))
    const floor = 'prepared upsert in one transaction, `synchronous=FULL`'
    const contender = (name: string, { contentType, text }: Body, target?: number): Contender => {
      const body = Buffer.from(text(batch))
      // Warms up the service: it is parsed and validated like the other, but its last record is invalid.
      const refused = Buffer.from(
        text(batch.map((record, i) => (i === BATCH - 1 ? { ...record, length: 0 } : record))),
      )
      const isListed = target === undefined
      const run = () => overHttp(workspace, template, { contentType, refused, body, isListed })
      return { name: `\`add\`: ${name}`, floor, ...(isListed ? {} : { target }), run }
    }
    const ours = Object.entries(bodies)
      .slice(0, forms)
      .map(([name, body]) => contender(name, body, target))
    const listed = contender('form, followed by a list of 100', bodies.form)
    const title = `\`add\` of ${BATCH} records to a table of ${before}`
    await compare(title, [{ name: floor, run: () => upsert(workspace, template) }, ...ours, listed], rounds)
  })
}

interface Body {
  readonly contentType: string
  readonly text: (data: readonly DomainRecord[]) => string
}

type Template = Awaited<ReturnType<typeof makeTemplate>>

async function makeTemplate(workspace: Workspace, records: readonly DomainRecord[]) {
  const fresh = await startService(workspace)
  await fresh.stop()
  fillDatabase(fresh.data, records)
  // Builds the index of lists once, for all copies.
  const service = await startService(workspace, { existing: fresh })
  await searchReady(service)
  await service.stop()
  return fresh
}

async function upsert(workspace: Workspace, template: Template) {
  const data = await toCopy(workspace, template)
  const db = new DatabaseSync(join(data, 'catalejo.db'))
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536')
  dropTriggers(db)
  const store = preparedUpsert(db)
  const rows = batch.map(toRow)
  const start = performance.now()
  const cpu = process.cpuUsage()
  db.exec('BEGIN IMMEDIATE')
  for (const row of rows) store(row)
  db.exec('COMMIT')
  const sample = sampleOf(BATCH, start, cpu)
  db.close()
  await rm(data, { recursive: true, maxRetries: 5 })
  return sample
}

interface Turn {
  readonly contentType: string
  readonly refused: Uint8Array
  readonly body: Uint8Array
  /** Whether the turn includes a list that contains the added records. */
  readonly isListed: boolean
}

async function overHttp(workspace: Workspace, template: Template, turn: Turn) {
  const { contentType, refused, body, isListed } = turn
  const data = await toCopy(workspace, template)
  const service = await startService(workspace, { existing: { data, keys: template.keys } })
  await searchReady(service)
  const url = service.endpoint('domainwatch/add')
  for (let i = 0; i < 3; i++) await post(url, contentType, refused, { expected: 500 })
  const cpu = cpuSeconds(service.pid)
  const start = performance.now()
  const answer: { count: number } = JSON.parse(await post(url, contentType, body))
  if (isListed) await (await fetch(service.endpoint('domainwatch/list', { limit: '100' }))).arrayBuffer()
  const perSecond = (BATCH * 1000) / (performance.now() - start)
  const after = cpuSeconds(service.pid)
  if (answer.count !== BATCH) throw new Error(`stored ${answer.count}`)
  await service.stop()
  await rm(data, { recursive: true, maxRetries: 5 })
  return { perSecond, cpuMicros: cpuMicros(cpu, after, BATCH) }
}

async function toCopy(workspace: Workspace, { data }: Template): Promise<string> {
  const copy = join(workspace.folder, `copy-${copies++}`)
  await cp(data, copy, { recursive: true })
  return copy
}
