// Measures the search for lookalikes among 1 million names (`--records` for more), compared with a bare pass over the
// same bytes and with plain edit distance (fastest-levenshtein), which considers neither look-alike letters nor
// words. Prints the time and the longest event loop delay for each name, and the worst of 500. Then measures the same
// over HTTP.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { distance } from 'fastest-levenshtein'
import { readVocabulary } from '../src/domainwatch/words.ts'
import { Matcher, type NameBlock } from '../src/lib/lookalikes/index.ts'
import { compare, median, sampleOf, type Contender } from './lib/compare.ts'
import { addAll, generateDomains, type DomainRecord } from './lib/domains.ts'
import { RECORDS } from './lib/options.ts'
import { startService } from './lib/service.ts'
import { withWorkspace } from './lib/workspace.ts'

/** Searched in turn: short and long, common and rare, with a hyphen, with a non-ASCII letter. */
const WANTED = [
  'a',
  '7',
  'ab',
  'bci',
  'casa',
  'mibanco',
  'falabella',
  'ñandú',
  'inmobiliaria',
  'mercado-libre',
  'constructora-del-sur',
  'sociedad-comercializadora-e-importadora-de-productos-del-sur-30',
]
/** For all names of one letter, some of two, and recorded ones. */
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789ñáéíóúü']
const MANY = 500
/** The time slice of a search. */
const STRETCH_MS = 4
const CORPUS = new URL('../../shared/corpus/registrations/', import.meta.url)

/** Maximum number of names in a segment of the index. */
const BLOCK = 1_000_000
/** Adding more to a service takes too long. */
const MOST_OVER_HTTP = 1_000_000

const names = allNames()
const blocks: NameBlock[] = []
for (let from = 0; from < names.length; from += BLOCK) blocks.push(toBlock(names.slice(from, from + BLOCK)))
const floor = 'a bare pass over the bytes'
const vocabulary = readVocabulary()
/** Prevents dead code elimination. */
let sum = 0
/** Makes each request different. */
let turn = 0

function scan(name: string, isOver = () => false): number {
  const matcher = new Matcher(name, vocabulary)
  let found = 0
  for (const block of blocks) {
    for (let at: number | undefined = 0; at !== undefined;) {
      at = matcher.scan(block, at, () => found++, isOver)
    }
  }
  return found
}

await compare(`Lookalikes of one name among ${names.length.toLocaleString('en')}, in process`, [
  forEach(floor, () => {
    for (const { names: octets } of blocks) {
      let passed = 0
      for (let at = 0; at < octets.length; at++) passed += octets[at] ?? 0
      sum += passed
    }
  }),
  { ...forEach('our scan', (name) => (sum += scan(name))), floor },
  {
    ...forEach('`fastest-levenshtein` over all names', (name) => {
      let near = 0
      for (const other of names) if (distance(name, other) <= 2) near++
      sum += near
    }),
    floor,
  },
])

console.log('\n| | found | median | slowest | longest event loop delay |\n|---|---|---|---|---|')
for (const name of WANTED) {
  const runs = Array.from({ length: 15 }, () => timed(name))
  const times = runs.map(({ time }) => time)
  const longest = Math.max(...runs.map((run) => run.longest))
  const cells = [median(times), Math.max(...times), longest].map((time) => `${time.toFixed(1)} ms`)
  console.log(`| \`${name}\` | ${runs[0]?.found} | ${cells.join(' | ')} |`)
}

const pairs = LETTERS.map((letter, i) => letter + LETTERS[(7 * i + 3) % LETTERS.length])
const many = [...LETTERS, ...pairs]
const step = Math.floor(names.length / (MANY - many.length))
for (let at = 0; many.length < MANY; at += step) many.push(names[at] ?? '')
// The better of two runs, to filter out noise of the machine.
const all = many.map((name) => {
  const [one, other] = [timed(name), timed(name)]
  return { name, time: Math.min(one.time, other.time), longest: Math.min(one.longest, other.longest) }
})
all.sort((a, b) => b.time - a.time)
const worst = all.slice(0, 5).map(({ name, time }) => `\`${name}\` ${time.toFixed(1)} ms`)
console.log(
  `\n${MANY} names, all of one letter, some of two, and recorded ones: median ` +
    `${median(all.map(({ time }) => time)).toFixed(1)} ms, worst ${worst.join(', ')}; longest event loop delay ` +
    `${Math.max(...all.map(({ longest }) => longest)).toFixed(1)} ms`,
)

function timed(name: string): { found: number; time: number; longest: number } {
  const start = performance.now()
  let since = start
  let longest = 0
  const found = scan(name, () => {
    const now = performance.now()
    if (now - since < STRETCH_MS) return false
    longest = Math.max(longest, now - since)
    since = now
    return true
  })
  const now = performance.now()
  return { found, time: now - start, longest: Math.max(longest, now - since) }
}

if (names.length <= MOST_OVER_HTTP) await overHttpToo()

async function overHttpToo(): Promise<void> {
  await withWorkspace(async (workspace) => {
    const service = await startService(workspace)
    await addAll(service, names.map(toRecord))
    await compare('The same over HTTP, 100 records', [
      await overHttp('`similar`', () => {
        const name = WANTED[turn % WANTED.length] ?? ''
        return service.endpoint('domainwatch/similar', { domain: `${name}${turn++}` })
      }),
      await overHttp('`stats`', () =>
        service.endpoint('domainwatch/stats', {
          from: '2024-01-01',
          to: `2024-06-01 00:${two(turn / 60)}:${two(turn++)}`,
        }),
      ),
    ])
  })
}

function two(count: number): string {
  return String(Math.floor(count) % 60).padStart(2, '0')
}

function forEach(name: string, work: (name: string) => void): Contender {
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

/** Real registrations if the corpus is next to the checkout, followed by generated names. */
function allNames(): string[] {
  const all = new Set(realNames())
  for (let seed = 1; all.size < RECORDS; seed++) {
    for (const { domain } of generateDomains(Math.min(RECORDS, BLOCK), seed)) {
      if (all.size < RECORDS) all.add(domain)
    }
  }
  return [...all].slice(0, RECORDS)
}

function realNames(): string[] {
  if (!existsSync(CORPUS)) return []
  return readdirSync(CORPUS)
    .flatMap((file) =>
      gunzipSync(readFileSync(new URL(file, CORPUS)))
        .toString()
        .split(/\r?\n/)
        .slice(1),
    )
    .flatMap((line) => line.split(',')[0]?.replace(/\.cl$/, '').toLowerCase() || [])
}

function toRecord(domain: string, i: number): DomainRecord {
  const day = String(1 + (i % 28)).padStart(2, '0')
  const date_reg = `${2020 + (i % 6)}-${String(1 + (i % 12)).padStart(2, '0')}-${day} 12:00:00`
  return { domain, length: domain.length, reserve: 0, status: i % 5 === 0 ? 0 : 1, date_reg }
}

/** As the index has them: with the names of each letter. */
function toBlock(all: readonly string[]): NameBlock {
  const starts = new Uint32Array(all.length + 1)
  const octets = Buffer.from(all.join(''), 'latin1')
  const words = Math.ceil(all.length / 32)
  const planes = Array.from({ length: 256 }, () => new Uint32Array(words))
  for (const [i, name] of all.entries()) {
    const end = (starts[i] ?? 0) + name.length
    starts[i + 1] = end
    for (const letter of octets.subarray(starts[i], end)) {
      const plane = planes[letter]
      if (plane !== undefined) plane[i >>> 5] = (plane[i >>> 5] ?? 0) | (1 << (i & 31))
    }
  }
  const namesWith = (letter: number) => planes[letter] ?? new Uint32Array(words)
  return { names: octets, starts, count: all.length, namesWith }
}
