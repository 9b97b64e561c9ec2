import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectedList, sorted } from '../../../test/support/expected-lists.ts'
import { getSegment, type SomeFields } from '../../../test/support/segments.ts'
import { finishNow, TimeSlice, type EntryKey } from '../../lib/name-index/index.ts'
import { FilterContext, splitTags } from '../filtered-record.ts'
import { parseFilters, readFilters, type Filters } from '../filters.ts'
import { getScores, InterestModel, Ranking } from '../tasks/scores.ts'
import { train } from '../interest/learning.ts'
import type { ListPage } from './order.ts'
import { Demand } from './signals.ts'
import { nameOfHit, RecordOfHit } from './hits.ts'
import type { Listing, ListOrder, StageName } from './order.ts'
import { findPage } from './search.ts'

/** Less than a block, some blocks, and many. */
const SIZES = [20, 150, 1_000]
const PAGE = 40
const ORDERS: readonly ListOrder[] = ['modified', 'name', 'length', 'num_x', 'num_y', 'num_z', 'interest']
const NONE = {}
const FILTERS: readonly Record<string, string>[] = [
  NONE,
  { num_x_min: '95' },
  { num_x_max: '2' },
  { num_y_max: '1', num_x_min: '50' },
  { num_z_min: '0' },
  { age_min: '1' },
  { age_min: '5' },
  { age_min: '9', num_x_min: '50' },
  { demand_min: '2' },
  { demand_min: '60' },
  { demand_min: '200' },
  { demand_min: '2000' },
]

const random = (below: number) => Math.floor(Math.random() * below)
const date = (years: number) =>
  `${2017 + random(years)}-0${1 + random(9)}-1${random(10)} 00:00:0${random(10)}`
const WORDS = ['casa', 'de', 'sol', 'mar', 'luz', 'azul', 'rosa', 'vino']
/** Few words are in most names. */
const randomWord = () => WORDS[Math.floor(WORDS.length * Math.random() ** 3)] ?? ''

function getRecords(count: number, prefix: string): readonly SomeFields[] {
  return Array.from({ length: count }, (_, i) => {
    const words = random(3) === 0 ? [] : [randomWord(), randomWord()]
    const isFree = random(2) === 0
    // Few records have y, so that most blocks have none.
    const numbers = [`x=${random(100)}`, ...(random(60) === 0 ? [`y=${random(5) - 2}`] : [])]
    return {
      name: [...words, `${prefix}${i}`].join('-'),
      words: words.length === 0 ? null : ` ${words.join(' ')} `,
      status: isFree ? 0 : 1,
      date_reg: date(8),
      date_mod: date(2),
      // Also after now.
      deleted_at: isFree ? date(12) : null,
      date_reg_known: random(9) === 0 ? 0 : 1,
      discarded_at: random(9) === 0 ? Date.parse('2026-01-01') : null,
      numbers: random(2) === 0 ? null : numbers.join(' '),
    }
  })
}

test('searches that leave out blocks of records find what a search of all records finds', async () => {
  const segments = SIZES.map((count, i) => getSegment(getRecords(count, 'abc'[i] ?? '')))
  const demand = new Demand()
  for (const { columns } of segments) await demand.add(columns)
  const context = new FilterContext(Date.parse('2026-01-02T00:00:00Z'), 'UTC', {
    getDemand: demand.of,
    inDemand: demand.candidates,
    hasBoughtTwin: () => false,
    firstTwins: () => [],
  })
  const all = segments.flatMap((segment) =>
    Array.from({ length: segment.columns.count }, (_, position) => new RecordOfHit({ segment, position })),
  )
  const decisions = all.slice(0, 200).map(({ name, words }) => ({
    name,
    words: splitTags(words),
    isWanted: name.length < 10,
    tags: [],
    demand: null,
    hasTwin: false,
  }))
  const model = new InterestModel('', { ...train(decisions), demand: [] })
  const scores = new Map(
    segments.map((segment) => [segment.columns, getScores(model, segment, segments)] as const),
  )
  const scoresByName = new Map(
    segments.flatMap((segment) =>
      Array.from(scores.get(segment.columns) ?? [], (score, position) => [
        nameOfHit({ segment, position }),
        score,
      ]),
    ),
  )
  const shared = {
    context,
    ranking: new Ranking(model, segments, scores),
    sources: [{ kind: 'all' as const }],
  }
  const findAll = (filters: Filters, order: ListOrder, ascending: boolean) => {
    const names: string[] = []
    let [after, stage]: [EntryKey | undefined, StageName | undefined] = [undefined, undefined]
    do {
      const listing: Listing = { ...shared, filters, order, ascending, limit: PAGE, after, stage }
      const page: ListPage = finishNow(
        findPage({ registered: segments, deleted: [] }, listing, new TimeSlice()),
      )
      names.push(...page.items.map(nameOfHit))
      ;[after, stage] = [page.next?.after, page.next?.stage]
    } while (after !== undefined)
    return names
  }
  for (const given of FILTERS) {
    const parsed = parseFilters(given)
    assert.ok(parsed.ok)
    const filters = readFilters(parsed.values)
    for (const order of given === NONE ? ORDERS : (['registered', 'num_x'] as const)) {
      for (const ascending of [false, true]) {
        const expected =
          order === 'interest'
            ? sorted(all, ({ name }) => scoresByName.get(name) ?? NaN, ascending)
            : expectedList(all, { filters, order, ascending }, context)
        const found = findAll(filters, order, ascending)
        assert.deepEqual(
          found,
          expected.map(({ name }) => name),
          JSON.stringify({ given, order, ascending }),
        )
      }
    }
  }
})
