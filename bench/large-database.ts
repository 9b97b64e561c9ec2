// Measures other operations on many names (`--records`, a million by default): `update`, paging through all records,
// export and backup with their peak memory, the purge of discarded records, and lists and lookalikes without the
// index. Some are compared with SQLite alone. `npx node large-database.ts --records 10000000`; with a path, it uses, and
// changes, the data folder there.
import { createWriteStream } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { getMemory, runCommand, textOf } from './lib/command.ts'
import { toLines } from './lib/domains.ts'
import { getStream } from './lib/names.ts'
import { FILES, RECORDS } from './lib/options.ts'
import { post } from './lib/post.ts'
import { metric, searchReady, startService, untilAtRest, type Service } from './lib/service.ts'
import { withWorkspace } from './lib/workspace.ts'

const BATCH = 50_000
const DAY_MS = 86_400_000
const rows: (readonly [what: string, value: string, floor: string])[] = []

await withWorkspace(async (workspace) => {
  const [given] = FILES
  const data = given ?? join(workspace.folder, 'data')
  await mkdir(data, { recursive: true })
  const place = ['--data', data]
  const key = async (account: string, service: string) =>
    (await textOf(['key', 'create', '--account', account, '--service', service, ...place])).trim()
  const keys = { domainwatch: await key('grupo', 'domainwatch'), imagestore: await key('app', 'imagestore') }
  const admin = await key('duena', 'admin')
  if (given === undefined) {
    const list = join(workspace.folder, 'altas.csv')
    await pipeline(Readable.from(toLines(getStream(RECORDS))), createWriteStream(list))
    await runCommand(['import', list, '--account', 'grupo', ...place])
    await rm(list)
  }
  const start = (flags: readonly string[] = []) =>
    startService(workspace, { existing: { data, keys }, core: 'any', flags })
  const file = join(data, 'catalejo.db')

  let service = await start()
  await searchReady(service)
  await untilAtRest(service)
  const names = await metric(service, 'catalejo_search_names')
  report('names', names.toLocaleString('en'))
  report('idle memory', megabytes(getMemory(service.pid)?.nowMb))

  await updates(service, names, file)
  await pages(service)
  await exported(service, names, file)
  await timed('`admin/system`', 3, () => text(`${service.url}/api/v1/admin/system?api=${admin}`))
  await backedUp(names)
  await service.stop()

  const discarded = expire(file, Math.min(500_000, Math.ceil(names / 10)))
  service = await start()
  await swept(service, discarded)
  await service.stop()

  service = await start(['--search-memory', '0'])
  for (const query of [
    {},
    { search: 'a' },
    { search: 'casa' },
    { search: 'consultora' },
    { search: 'xqz' },
  ]) {
    const url = service.endpoint('domainwatch/list', { ...query, limit: '100' })
    await timed(`without the index: \`list\` ${JSON.stringify(query)}`, 3, () => text(url))
  }
  const similar = service.endpoint('domainwatch/similar', { domain: 'mibanco.cl' })
  await timed('without the index: `similar`', 2, () => text(similar))
  await timed('without the index: `stats`', 2, () => text(service.endpoint('domainwatch/stats')))
  report('memory without the index', megabytes(getMemory(service.pid)?.nowMb))
  await service.stop()

  async function backedUp(count: number) {
    const { seconds, peakMb } = await runCommand(['backup', join(workspace.folder, 'copia'), ...place])
    report('`backup`', `${perSecond(count, seconds)} in ${seconds.toFixed(1)} s`)
    report('its peak memory', megabytes(peakMb))
    await rm(join(workspace.folder, 'copia'), { recursive: true })
  }
})

console.log('\n| | | SQLite alone |\n|---|---|---|')
for (const row of rows) console.log(`| ${row.join(' | ')} |`)

/** Changes marks of names spread over the table, and changes them back. */
async function updates(service: Service, names: number, file: string) {
  const db = new DatabaseSync(file, { readOnly: true })
  const domains: string[] = []
  let at = 0
  for (const { name } of db.prepare('SELECT name FROM domains ORDER BY name').iterate())
    if (at++ % Math.max(1, Math.floor(names / BATCH)) === 0 && domains.length < BATCH)
      domains.push(String(name))
  db.close()
  for (const revision of [1, 0]) {
    const data = domains.map((domain) => ({ domain, revision }))
    const body = Buffer.from(JSON.stringify({ data }))
    await timed(`\`update\` of ${domains.length}, revision ${revision}`, 1, () =>
      post(service.endpoint('domainwatch/update'), 'application/json', body),
    )
  }
}

/** Reads the first page of 1,024, then all following pages. */
async function pages(service: Service) {
  const newest = service.endpoint('domainwatch/list', { limit: '1024' })
  await timed('`list`, 1,024 newest', 20, () => text(newest))
  const took: number[] = []
  let count = 0
  const began = performance.now()
  for (let url: string | undefined = newest; url !== undefined && performance.now() - began < 60_000;) {
    const start = performance.now()
    const answer = await fetch(url)
    const { data } = (await answer.json()) as { data: unknown[][] }
    took.push(performance.now() - start)
    count += data[0]?.length ?? 0
    const next: string | undefined = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
    url = next === undefined ? undefined : withKey(new URL(next, service.url), newest)
  }
  const seconds = (performance.now() - began) / 1000
  const last = took.slice(-100)
  report(`all ${took.length} pages: ${count} records`, perSecond(count, seconds))
  report(
    'first 100 pages, last 100, slowest',
    [average(took.slice(0, 100)), average(last), Math.max(...took)].map(ms).join(', '),
  )
}

function withKey(url: URL, from: string): string {
  const api = new URL(from).searchParams.get('api')
  if (api !== null && !url.searchParams.has('api')) url.searchParams.set('api', api)
  return url.href
}

async function exported(service: Service, names: number, file: string) {
  const db = new DatabaseSync(file, { readOnly: true })
  const start = performance.now()
  const statement = db.prepare('SELECT * FROM domains ORDER BY date_reg DESC, name DESC')
  statement.setReturnArrays(true)
  for (const _ of statement.iterate());
  const floor = perSecond(names, (performance.now() - start) / 1000)
  db.close()
  // Resets the peak.
  await writeFile(`/proc/${service.pid}/clear_refs`, '5')
  const before = getMemory(service.pid)?.nowMb
  const began = performance.now()
  const { ok, body } = await fetch(service.endpoint('domainwatch/export'))
  if (!ok || body === null) throw new Error('the export failed')
  let bytes = 0
  for await (const chunk of body) bytes += chunk.byteLength
  report(
    `\`export\` of ${(bytes / 1e6).toFixed(0)} MB`,
    perSecond(names, (performance.now() - began) / 1000),
    floor,
  )
  report(
    'memory before it, peak during it',
    `${megabytes(before)}, ${megabytes(getMemory(service.pid)?.peakMb)}`,
  )
}

/** Backdates the discarding of some records by more than 7 days. @returns their number */
function expire(file: string, count: number): number {
  const db = new DatabaseSync(file)
  const start = performance.now()
  const { changes } = db
    .prepare(
      `UPDATE domains SET discarded_at = ? WHERE name IN
       (SELECT name FROM domains WHERE discarded_at IS NULL ORDER BY date_reg LIMIT ?)`,
    )
    .run(Date.now() - 7 * DAY_MS - 1_000, count)
  report(`${count} discarded, by SQLite`, `${((performance.now() - start) / 1000).toFixed(1)} s`)
  db.close()
  return Number(changes)
}

/** Waits until the service has purged them, and measures concurrent calls of `add`. */
async function swept(service: Service, discarded: number) {
  const began = performance.now()
  const record = { domain: 'entretanto', length: 10, reserve: 0, status: 1, date_reg: '2026-01-01 00:00:00' }
  const body = Buffer.from(JSON.stringify({ data: [record] }))
  const took: number[] = []
  const db = new DatabaseSync(join(service.data, 'catalejo.db'), { readOnly: true, timeout: 10_000 })
  const left = db.prepare('SELECT 1 FROM domains WHERE discarded_at IS NOT NULL AND discarded_at < ? LIMIT 1')
  while (left.get(Date.now() - 7 * DAY_MS) !== undefined) {
    const start = performance.now()
    await post(service.endpoint('domainwatch/add'), 'application/json', body)
    took.push(performance.now() - start)
    await sleep(100)
  }
  db.close()
  report(
    `purge of ${discarded} records, from the start of the service`,
    `${((performance.now() - began) / 1000).toFixed(1)} s`,
  )
  report('concurrent `add` of one: average, slowest', `${ms(average(took))}, ${ms(Math.max(...took))}`)
}

async function timed(what: string, times: number, work: () => Promise<unknown>) {
  const took: number[] = []
  for (let i = 0; i < times; i++) {
    const start = performance.now()
    await work()
    took.push(performance.now() - start)
  }
  report(
    what,
    took.length === 1 ? ms(took[0] ?? NaN) : `${ms(took[0] ?? NaN)}, then ${ms(average(took.slice(1)))}`,
  )
}

async function text(url: string): Promise<string> {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`)
  return answer.text()
}

function report(what: string, value: string, floor = '') {
  rows.push([what, value, floor])
  process.stderr.write(`${what}: ${value} ${floor && `(${floor})`}\n`)
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function ms(value: number): string {
  return `${Number(value.toPrecision(3)).toLocaleString('en')} ms`
}

function perSecond(count: number, seconds: number): string {
  return `${Number((count / seconds).toPrecision(3)).toLocaleString('en')} a second`
}

function megabytes(value: number | undefined): string {
  return value === undefined ? '' : `${value.toFixed(0)} MB`
}
