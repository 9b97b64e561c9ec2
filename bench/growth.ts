// What it costs as names grow: loading, disk, start, memory, `list` and `add` at each of `--sizes` (0.1, 1 and 10 million),
// and what each becomes for ten times the names. Ten million take some ten minutes and 5 GB of disk.
import { createWriteStream } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { memoryOf, runCommand } from './lib/command.ts'
import { median } from './lib/compare.ts'
import { addAll, type DomainRecord } from './lib/domains.ts'
import { load } from './lib/load.ts'
import { streamOf } from './lib/names.ts'
import { ROUNDS, SIZES } from './lib/options.ts'
import { metric, searchReady, startService, untilAtRest } from './lib/service.ts'
import { withWorkspace, type Workspace } from './lib/workspace.ts'

const BATCH = 50_000
const LISTED = {
  'newest 100': {},
  'search=casa': { search: 'casa' },
  'search=xqz, absent': { search: 'xqz' },
}

type Row = readonly [name: string, unit: string, value: number]

const columns: (readonly Row[])[] = []
for (const size of SIZES) {
  await withWorkspace(async (workspace) => void columns.push(await measure(workspace, size)))
  process.stderr.write(`${size} names measured\n`)
}

const head = ['', ...SIZES.map((size) => size.toLocaleString('en')), 'for 10 times the names']
console.log(`\n### As names grow\n\n| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}`)
for (const [row, [name, unit]] of (columns[0] ?? []).entries()) {
  const values = columns.map((column) => column[row]?.[2] ?? NaN)
  const tens = Math.log10((SIZES.at(-1) ?? 1) / (SIZES[0] ?? 1))
  const factor = ((values.at(-1) ?? NaN) / (values[0] ?? NaN)) ** (1 / tens)
  const grows = Number.isFinite(factor) ? `× ${factor.toFixed(2)}` : ''
  console.log(`| ${[name, ...values.map((value) => `${rounded(value)} ${unit}`), grows].join(' | ')} |`)
}

async function measure(workspace: Workspace, size: number): Promise<Row[]> {
  const { folder } = workspace
  const first = await startService(workspace, { core: 'any' })
  await first.stop()
  const list = join(folder, 'altas.csv')
  await pipeline(Readable.from(linesOf(size)), createWriteStream(list))
  const loaded = await runCommand(['import', list, '--data', first.data, '--account', 'grupo'])
  await rm(list)

  const began = performance.now()
  const service = await startService(workspace, { existing: first, core: 'any' })
  const listening = performance.now() - began
  await searchReady(service)
  const ready = performance.now() - began
  await untilAtRest(service)
  const names = await metric(service, 'catalejo_search_names')
  const disk = await bytesUnder(first.data)
  const rows: Row[] = [
    ['names', '', names],
    ['`import` of a CSV', 's', loaded.seconds],
    ['names a second', '', names / loaded.seconds],
    ['its peak memory', 'MB', loaded.peakMb ?? NaN],
    ['data folder', 'MB', disk / 1e6],
    ['of it for each name', 'bytes', disk / names],
    ['start to the first answer', 's', listening / 1000],
    ['start to lists from memory', 's', ready / 1000],
    ['memory at rest', 'MB', memoryOf(service.pid)?.nowMb ?? NaN],
    ['of it for each name in the search', 'bytes', (await metric(service, 'catalejo_search_bytes')) / names],
    ['peak memory of the start', 'MB', memoryOf(service.pid)?.peakMb ?? NaN],
  ]
  for (const [name, query] of Object.entries(LISTED)) {
    const url = service.endpoint('domainwatch/list', { ...query, limit: '100' })
    const { perSecond, p99Ms } = await load({ server: service, url, connections: 8 })
    rows.push([`\`list\`, ${name}: a second`, '', perSecond], ['p99', 'ms', p99Ms])
  }
  const rates: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    await addAll(service, batch(round))
    rates.push((BATCH * 1000) / (performance.now() - start))
  }
  rows.push([`\`add\` of ${BATCH}: records a second`, '', median(rates)])
  rows.push(['peak memory in the end', 'MB', memoryOf(service.pid)?.peakMb ?? NaN])
  await service.stop()
  return rows
}

function* linesOf(size: number): Generator<string> {
  yield 'Nombre Dominio,Fecha Inscripción\n'
  let lines: string[] = []
  for (const { domain, date_reg } of streamOf(size)) {
    lines.push(`${domain}.cl,${date_reg}\n`)
    if (lines.length < 10_000) continue
    yield lines.join('')
    lines = []
  }
  yield lines.join('')
}

/** Names that no list has. */
function batch(number: number): DomainRecord[] {
  return Array.from({ length: BATCH }, (_, i) => {
    const domain = `nuevo${number * BATCH + i}x`
    return { domain, length: domain.length, reserve: 0, status: 1, date_reg: '2026-01-01 00:00:00' }
  })
}

async function bytesUnder(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => stat(join(file.parentPath, file.name))),
  )
  return sizes.reduce((sum, { size }) => sum + size, 0)
}

function rounded(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en', { maximumSignificantDigits: 3 })
}
