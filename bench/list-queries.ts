// Measures pages of `list` in process, without the server: the search in the name index and the JSON of a page, at each
// of `--sizes`. The floor passes over the bytes of all names once, which a search without an index cannot avoid.
import { toColumns, finishNow, mergeParts, toPart, Segment, TimeSlice } from '../src/lib/name-index/index.ts'
import { plainContext } from '../test/support/plain-signals.ts'
import { parseFilters, readFilters } from '../src/domainwatch/filters.ts'
import { optionsFor, hitsToJson } from '../src/domainwatch/list/hits.ts'
import { findPage } from '../src/domainwatch/list/search.ts'
import { parseQuery } from '../src/http/parameters.ts'
import { readDictionary } from '../src/domainwatch/words.ts'
import { listedRecord } from './lib/listed-record.ts'
import type { DomainRecord } from './lib/domains.ts'
import { getStream } from './lib/names.ts'
import { SIZES } from './lib/options.ts'

const QUERIES = [
  '',
  'search=a',
  'search=consultora',
  'search=casa&length=9&digits=1&status=1',
  'starts=li&ends=ma',
  'pattern=*ca*lo*7',
  'pattern=*-*-*',
  'pattern=*a*b*a*b*a*',
  'pattern=*-?????*',
  'pattern=ca??lo*',
  'pattern=*0*-*',
  'pattern=?????-??????',
]
const REPEATS = 200
const PAGE = 1_024
/** As many as the service reads at a time. */
const CHUNK = 65_536
const NOTHING = Buffer.alloc(0)

const { split } = readDictionary([])

function getSegment(records: readonly DomainRecord[]): Segment {
  const indexed = records.map(({ domain, status, reserve, date_reg }) =>
    listedRecord(split(domain), { name: domain, status, reserved: reserve, date_reg }),
  )
  return new Segment(toColumns(indexed, optionsFor('registered')))
}

/** One segment of all records, as the service has once its merges are done. */
function segmentOfAll(count: number): Segment {
  const segments: Segment[] = []
  let chunk: DomainRecord[] = []
  for (const record of getStream(count)) {
    if (chunk.push(record) < CHUNK) continue
    segments.push(getSegment(chunk))
    chunk = []
  }
  segments.push(getSegment(chunk))
  return new Segment(mergeParts(segments.map(toPart), optionsFor('registered')))
}

function answer(segment: Segment, query: string): Buffer {
  const values = parseFilters(parseQuery(query))
  if (!values.ok) throw new Error(`${query} is not a list`)
  const listing = {
    sources: [{ kind: 'all' }],
    filters: readFilters(values.values),
    order: 'registered',
    ascending: false,
    limit: PAGE,
    context: plainContext(Date.now()),
  } as const
  const found = findPage({ registered: [segment], deleted: [] }, listing, new TimeSlice())
  return hitsToJson(finishNow(found).items, NOTHING, NOTHING)
}

/** @returns median and p99 of the processor time, in milliseconds */
function getTimes(run: () => unknown): string {
  const taken = Array.from({ length: REPEATS }, () => {
    const before = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }).sort((one, other) => one - other)
  const at = (share: number) => (taken[Math.floor((REPEATS - 1) * share)] ?? 0).toPrecision(2)
  return `${at(0.5)} / ${at(0.99)}`
}

const segments = SIZES.map(segmentOfAll)
console.log(`| Query | ${SIZES.join(' | ')} |`)
console.log(`|---|${SIZES.map(() => '---|').join('')}`)
for (const query of QUERIES) {
  const times = segments.map((segment) => getTimes(() => answer(segment, query)))
  console.log(`| ${query === '' ? 'newest' : `\`${query}\``} | ${times.join(' | ')} |`)
}
const floors = segments.map(({ columns: { names } }) => getTimes(() => names.indexOf(0)))
console.log(`| floor: a pass over all names | ${floors.join(' | ')} |`)
