// `add` of 50,000 records over HTTP, parsing, checks, changes and history included, beside a prepared upsert of the same
// rows, and nothing else, on a copy of the same database.
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { compare, sampleOf, type Contender } from './lib/compare.ts'
import { addAll, generateDomains, type DomainRecord } from './lib/domains.ts'
import { cpuMicros, cpuSeconds } from './lib/machine.ts'
import { post } from './lib/post.ts'
import { dropTriggers, preparedUpsert, rowOf } from './lib/raw-upsert.ts'
import { startService } from './lib/service.ts'
import { withWorkspace, type Workspace } from './lib/workspace.ts'

const BATCH = 50_000
/** By records that are there already; of the largest table the least is known from the whole zone. */
const SIZES = [
  { before: 0, target: 0.8 },
  { before: 200_000, target: 0.8 },
  { before: 1_000_000, target: 0.5 },
]
let copies = 0

const all = generateDomains(1_000_000 + BATCH)
const batch = all.slice(0, BATCH)
const bodies = {
  'form, `data` a JSON string': {
    contentType: 'application/x-www-form-urlencoded',
    text: (data: readonly DomainRecord[]) => new URLSearchParams({ data: JSON.stringify(data) }).toString(),
  },
  'JSON, `data` a JSON string': {
    contentType: 'application/json',
    text: (data: readonly DomainRecord[]) => JSON.stringify({ data: JSON.stringify(data) }),
  },
  'JSON, `data` an array': {
    contentType: 'application/json',
    text: (data: readonly DomainRecord[]) => JSON.stringify({ data }),
  },
}

for (const { before, target } of SIZES) {
  await withWorkspace(async (workspace) => {
    const template = await makeTemplate(workspace, all.slice(BATCH, BATCH + before))
    const floor = 'prepared upsert in one transaction, `synchronous=FULL`'
    const ours = Object.entries(bodies).map(([name, { contentType, text }]): Contender => {
      const body = Buffer.from(text(batch))
      // Read and checked like the other, but refused for its last record: it warms the service up.
      const refused = Buffer.from(
        text(batch.map((record, i) => (i === BATCH - 1 ? { ...record, length: 0 } : record))),
      )
      return {
        name: `\`add\`: ${name}`,
        floor,
        target,
        run: () => overHttp(workspace, template, contentType, refused, body),
      }
    })
    const title = `\`add\` of ${BATCH} records to a table of ${before}`
    await compare(title, [{ name: floor, run: () => upsert(workspace, template) }, ...ours])
  })
}

type Template = Awaited<ReturnType<typeof makeTemplate>>

async function makeTemplate(workspace: Workspace, records: readonly DomainRecord[]) {
  const service = await startService(workspace)
  await addAll(service, records)
  await service.stop()
  return service
}

async function upsert(workspace: Workspace, template: Template) {
  const data = await copyOf(workspace, template)
  const db = new DatabaseSync(join(data, 'catalejo.db'))
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536')
  dropTriggers(db)
  const store = preparedUpsert(db)
  const rows = batch.map(rowOf)
  const start = performance.now()
  const cpu = process.cpuUsage()
  db.exec('BEGIN IMMEDIATE')
  for (const row of rows) store(row)
  db.exec('COMMIT')
  const sample = sampleOf(BATCH, start, cpu)
  db.close()
  await rm(data, { recursive: true })
  return sample
}

async function overHttp(
  workspace: Workspace,
  template: Template,
  contentType: string,
  refused: Uint8Array,
  body: Uint8Array,
) {
  const data = await copyOf(workspace, template)
  const service = await startService(workspace, { existing: { data, keys: template.keys } })
  const url = service.endpoint('domainwatch/add')
  for (let i = 0; i < 3; i++) await post(url, contentType, refused, 500)
  const cpu = cpuSeconds(service.pid)
  const start = performance.now()
  const answer: { count: number } = JSON.parse(await post(url, contentType, body))
  const perSecond = (BATCH * 1000) / (performance.now() - start)
  const after = cpuSeconds(service.pid)
  if (answer.count !== BATCH) throw new Error(`stored ${answer.count}`)
  await service.stop()
  await rm(data, { recursive: true })
  return { perSecond, cpuMicros: cpuMicros(cpu, after, BATCH) }
}

async function copyOf(workspace: Workspace, { data }: Template): Promise<string> {
  const copy = join(workspace.folder, `copy-${copies++}`)
  await cp(data, copy, { recursive: true })
  return copy
}
