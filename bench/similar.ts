// Lookalikes among 1 million names: the sweep beside a bare pass over the same octets and beside the plain edit distance of
// a known library over all names, which knows neither what looks alike nor words. Then the same over HTTP, from the database.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { distance } from 'fastest-levenshtein'
import { Matcher, type NameBlock } from '../src/domainwatch/similar/matcher.ts'
import { signatureOf } from '../src/domainwatch/similar/signature.ts'
import { compare, sampleOf, type Contender } from './lib/compare.ts'
import { addAll, generateDomains, type DomainRecord } from './lib/domains.ts'
import { RECORDS } from './lib/options.ts'
import { startService } from './lib/service.ts'
import { withWorkspace } from './lib/workspace.ts'

/** Looked for in turn: short and long, common and rare, with a hyphen, with a letter beyond ASCII. */
const WANTED = [
  'casa',
  'bci',
  'mibanco',
  'falabella',
  'ñandú',
  'inmobiliaria',
  'mercado-libre',
  'constructora-del-sur',
]
const CORPUS = new URL('../../shared/corpus/registrations/', import.meta.url)

const records = [...realNames(), ...generateDomains(RECORDS)].slice(0, RECORDS)
const names = [...new Set(records.map(({ domain }) => domain))]
const block = blockOf(names)
const signatures = Uint32Array.from(names, (_, i) =>
  signatureOf(block.names, block.starts[i] ?? 0, block.starts[i + 1] ?? 0),
)
const floor = 'a bare pass over the octets'
/** So that no pass is compiled away. */
let sum = 0
/** So that no two ask the same. */
let turn = 0

const sweep = (over: NameBlock) => (name: string) => {
  new Matcher(name).sweep(
    over,
    0,
    () => sum++,
    () => false,
  )
}

await compare(`Names like one among ${names.length.toLocaleString('en')}, in process`, [
  eachOf(floor, () => {
    const { names: octets } = block
    let passed = 0
    for (let at = 0; at < octets.length; at++) passed += octets[at] ?? 0
    sum += passed
  }),
  { ...eachOf('our sweep, signatures kept', sweep({ ...block, signatures })), floor },
  { ...eachOf('our sweep, names alone', sweep(block)), floor },
  {
    ...eachOf('`fastest-levenshtein` over all names', (name) => {
      let near = 0
      for (const other of names) if (distance(name, other) <= 2) near++
      sum += near
    }),
    floor,
  },
])

await withWorkspace(async (workspace) => {
  const service = await startService(workspace)
  await addAll(service, records)
  await compare('The same over HTTP, from the database, 100 records', [
    await overHttp('`similar`, a name that was not asked for since the last write', () => {
      const name = WANTED[turn % WANTED.length] ?? ''
      return service.endpoint('domainwatch/similar', { domain: `${name}${turn++}` })
    }),
    await overHttp('`similar`, asked again', () =>
      service.endpoint('domainwatch/similar', { domain: 'casa' }),
    ),
    await overHttp('`stats`, what was not asked for since the last write', () =>
      service.endpoint('domainwatch/stats', {
        from: '2024-01-01',
        to: `2024-06-01 00:${two(turn / 60)}:${two(turn++)}`,
      }),
    ),
    await overHttp('`stats`, asked again', () => service.endpoint('domainwatch/stats', { to: '2024-06-01' })),
  ])
})

function two(count: number): string {
  return String(Math.floor(count) % 60).padStart(2, '0')
}

function eachOf(name: string, work: (name: string) => void): Contender {
  return {
    name,
    run: async () => {
      const start = performance.now()
      const cpu = process.cpuUsage()
      for (const wanted of WANTED) work(wanted)
      return sampleOf(WANTED.length, start, cpu)
    },
  }
}

async function overHttp(name: string, address: () => string): Promise<Contender> {
  return {
    name,
    run: async () => {
      const start = performance.now()
      for (const _ of WANTED) {
        const answer = await fetch(address())
        if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`)
        await answer.arrayBuffer()
      }
      return { ...sampleOf(WANTED.length, start, process.cpuUsage()), cpuMicros: undefined }
    },
  }
}

/** Real registrations where the corpus stands beside the checkout. */
function realNames(): DomainRecord[] {
  if (!existsSync(CORPUS)) return []
  return readdirSync(CORPUS)
    .flatMap((file) =>
      gunzipSync(readFileSync(new URL(file, CORPUS)))
        .toString()
        .split(/\r?\n/)
        .slice(1),
    )
    .flatMap((line) => {
      const domain = line.split(',')[0]?.replace(/\.cl$/, '').toLowerCase() ?? ''
      const length = domain.length
      return domain === '' ? [] : [{ domain, length, reserve: 0, status: 1, date_reg: '2025-01-01 00:00:00' }]
    })
}

function blockOf(all: readonly string[]): NameBlock {
  const starts = new Uint32Array(all.length + 1)
  for (const [i, name] of all.entries()) starts[i + 1] = (starts[i] ?? 0) + name.length
  return { names: Buffer.from(all.join(''), 'latin1'), starts, count: all.length }
}
