// Measures scaling with the number of names: import, disk, start with and without the index file, memory, `list`,
// `stats`, `similar`, `export` and `add` at each of `--sizes`. Prints the factor for ten times the names, and the
// floor on this machine at the largest size: `npx node scaling.ts --sizes 100000,1000000,10000000`. Ten million take
// half an hour and 10 GB of disk.
import { createWriteStream } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { getMemory, runCommand } from './lib/command.ts'
import { median } from './lib/compare.ts'
import { addAll, toLines, type DomainRecord } from './lib/domains.ts'
import { growthFloors, readSeconds, type Floors } from './lib/scaling-floors.ts'
import { load } from './lib/load.ts'
import { getStream } from './lib/names.ts'
import { ROUNDS, SIZES } from './lib/options.ts'
import { metric, searchReady, startService, untilAtRest, type Service } from './lib/service.ts'
import { withWorkspace, type Workspace } from './lib/workspace.ts'

const BATCH = 50_000
const LISTED = {
  'newest 100': {},
  'search=a': { search: 'a' },
  'search=casa': { search: 'casa' },
  'search=consultora, rare': { search: 'consultora' },
  'search=xqz, absent': { search: 'xqz' },
  'search=ra, status=0, length=7': { search: 'ra', status: '0', length: '7' },
}
/** Names for `similar`, each requested once, so that no response is cached. */
const RESEMBLED = ['mibanco', 'falabella', 'bci', 'inmobiliaria', 'a']

interface Row {
  readonly name: string
  readonly unit: string
  readonly value: number
  /** In the same unit; undefined if there is none. */
  readonly floor?: number | undefined
}

const columns: (readonly Row[])[] = []
for (const size of SIZES) {
  await withWorkspace(async (workspace) => void columns.push(await measure(workspace, size)))
  process.stderr.write(`${size} names measured\n`)
}

const head = [
  '',
  ...SIZES.map((size) => size.toLocaleString('en')),
  'for 10 times the names',
  'floor at the largest size',
]
console.log(
  `\n### Scaling with the number of names\n\n| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}`,
)
for (const [place, { name, unit }] of (columns[0] ?? []).entries()) {
  const rows = columns.map((column) => column[place])
  const values = rows.map((row) => row?.value ?? NaN)
  const tens = Math.log10((SIZES.at(-1) ?? 1) / (SIZES[0] ?? 1))
  const factor = ((values.at(-1) ?? NaN) / (values[0] ?? NaN)) ** (1 / tens)
  const grows = Number.isFinite(factor) ? `× ${factor.toFixed(2)}` : ''
  const floor = rows.at(-1)?.floor
  const floorText = floor === undefined ? '' : `${rounded(floor)} ${unit}`
  console.log(
    `| ${[name, ...values.map((value) => `${rounded(value)} ${unit}`), grows, floorText].join(' | ')} |`,
  )
}

async function measure(workspace: Workspace, size: number): Promise<Row[]> {
  const { folder } = workspace
  const first = await startService(workspace, { core: 'any' })
  await first.stop()
  const floors = await growthFloors(join(first.data, 'catalejo.db'), getStream(size))
  const list = join(folder, 'altas.csv')
  await pipeline(Readable.from(toLines(getStream(size))), createWriteStream(list))
  const loaded = await runCommand(['import', list, '--data', first.data, '--account', 'grupo'])
  await rm(list)

  const fresh = await started(workspace, first)
  const peakMb = getMemory(fresh.service.pid)?.peakMb ?? NaN
  await fresh.service.stop()
  const fileSeconds = await readSeconds(join(first.data, 'lists'))
  const { service, listening, ready } = await started(workspace, first)
  const names = await metric(service, 'catalejo_search_names')
  const disk = (await bytesUnder(first.data)) - (await bytesUnder(first.data, /-floor\.db/))
  const rows: Row[] = [
    { name: 'names', unit: '', value: names },
    { name: '`import` of a CSV', unit: 's', value: loaded.seconds, floor: floors.importSeconds },
    {
      name: 'names per second',
      unit: '',
      value: names / loaded.seconds,
      floor: names / floors.importSeconds,
    },
    { name: 'its peak memory', unit: 'MB', value: loaded.peakMb ?? NaN },
    { name: 'data folder', unit: 'MB', value: disk / 1e6 },
    { name: 'data folder per name', unit: 'bytes', value: disk / names, floor: floors.bytesPerName },
    { name: 'start to the first response', unit: 's', value: listening },
    {
      name: 'start to lists from memory, no index file',
      unit: 's',
      value: fresh.ready,
      floor: floors.selectSeconds,
    },
    { name: 'start to lists from memory, with the index file', unit: 's', value: ready, floor: fileSeconds },
    { name: 'idle memory', unit: 'MB', value: getMemory(service.pid)?.nowMb ?? NaN },
    {
      name: 'index memory per name',
      unit: 'bytes',
      value: (await metric(service, 'catalejo_search_bytes')) / names,
      floor: floors.bytesPerName,
    },
    { name: 'peak memory of the first start', unit: 'MB', value: peakMb },
  ]
  rows.push(...(await reads(service, names, floors)))
  const rates: number[] = []
  const floorRates: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const records = batch(round)
    const start = performance.now()
    await addAll(service, records)
    rates.push((BATCH * 1000) / (performance.now() - start))
    floorRates.push(BATCH / floors.upsertSeconds(records))
  }
  rows.push({
    name: `\`add\` of ${BATCH}: records per second`,
    unit: '',
    value: median(rates),
    floor: median(floorRates),
  })
  rows.push({ name: 'peak memory at the end', unit: 'MB', value: getMemory(service.pid)?.peakMb ?? NaN })
  floors.close()
  await service.stop()
  return rows
}

/**
 * Starts the service and waits until it is idle. `listening` and `ready` (lists from memory) are seconds from the
 * start.
 */
async function started(workspace: Workspace, existing: Service) {
  const began = performance.now()
  const service = await startService(workspace, { existing, core: 'any' })
  const listening = (performance.now() - began) / 1000
  await searchReady(service)
  const ready = (performance.now() - began) / 1000
  await untilAtRest(service)
  return { service, listening, ready }
}

async function reads(service: Service, names: number, floors: Floors): Promise<Row[]> {
  const rows: Row[] = []
  const idle = await load({ server: service, url: `${service.url}/healthz`, connections: 8 })
  for (const [name, query] of Object.entries(LISTED)) {
    const url = service.endpoint('domainwatch/list', { ...query, limit: '100' })
    const { perSecond, p99Ms } = await load({ server: service, url, connections: 8 })
    rows.push({ name: `\`list\`, ${name}: per second`, unit: '', value: perSecond, floor: idle.perSecond })
    rows.push({ name: 'p99', unit: 'ms', value: p99Ms, floor: idle.p99Ms })
  }
  const pass = floors.passSeconds * 1000
  for (const name of RESEMBLED) {
    const url = service.endpoint('domainwatch/similar', { domain: `${name}.cl` })
    rows.push({
      name: `\`similar\` of \`${name}\``,
      unit: 'ms',
      value: (await seconds(url)) * 1000,
      floor: pass,
    })
  }
  rows.push({
    name: '`stats`',
    unit: 'ms',
    value: (await seconds(service.endpoint('domainwatch/stats'))) * 1000,
    floor: pass,
  })
  const exported = names / (await seconds(service.endpoint('domainwatch/export')))
  rows.push({
    name: '`export`: records per second',
    unit: '',
    value: exported,
    floor: names / floors.selectSeconds,
  })
  return rows
}

/** Measures a request until its body is read completely. */
async function seconds(url: string): Promise<number> {
  const start = performance.now()
  const { ok, body } = await fetch(url)
  if (!ok || body === null) throw new Error('a request failed')
  for await (const _ of body);
  return (performance.now() - start) / 1000
}

/** Names that are not recorded yet. */
function batch(number: number): DomainRecord[] {
  return Array.from({ length: BATCH }, (_, i) => {
    const domain = `nuevo${number * BATCH + i}x`
    return { domain, length: domain.length, reserve: 0, status: 1, date_reg: '2026-01-01 00:00:00' }
  })
}

async function bytesUnder(folder: string, names = /./): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = await Promise.all(
    files
      .filter((file) => file.isFile() && names.test(file.name))
      .map((file) => stat(join(file.parentPath, file.name))),
  )
  return sizes.reduce((sum, { size }) => sum + size, 0)
}

function rounded(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en', { maximumSignificantDigits: 3 })
}
