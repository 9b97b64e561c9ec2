// Measures lists by signals in process, in turns with PostgreSQL, which has each signal as a column with the index that suits the
// query. A page of 100 records as JSON; both must return the same names. `--records` sets their number.
import { toColumns, finishNow, Segment, TimeSlice } from '../src/lib/name-index/index.ts'
import { toShape, toSyllables } from '../src/lib/domain-names.ts'
import { FilterContext } from '../src/domainwatch/filtered-record.ts'
import { parseFilters, readFilters } from '../src/domainwatch/filters.ts'
import { InterestModel, getScores, Ranking } from '../src/domainwatch/tasks/scores.ts'
import { train } from '../src/domainwatch/interest/learning.ts'
import { Demand, firstTwins, hasBoughtTwin } from '../src/domainwatch/list/signals.ts'
import { optionsFor, hitsToJson } from '../src/domainwatch/list/hits.ts'
import { orderParameter } from '../src/domainwatch/list/order.ts'
import { findPage } from '../src/domainwatch/list/search.ts'
import { readDictionary } from '../src/domainwatch/words.ts'
import { compileParameters, parseQuery } from '../src/http/parameters.ts'
import { listedRecord } from './lib/listed-record.ts'
import { connect, copyIn, startDatabaseServer } from './lib/postgres.ts'
import { getStream } from './lib/names.ts'
import { RECORDS } from './lib/options.ts'
import { withWorkspace } from './lib/workspace.ts'

const PAGE = 100
const REPEATS = 31
const COPY_ROWS = 50_000
const NOTHING = Buffer.alloc(0)
/** Within a month of the newest registrations. */
const NOW = '2026-01-10 00:00:00'
const NEWEST = 'date_reg DESC, name DESC'
/** The query, and its condition and order in PostgreSQL. */
const QUERIES: readonly (readonly [query: string, where: string, order: string])[] = [
  ['shape=CVCV', "shape = 'CVCV'", NEWEST],
  ['shape=CVCVCV&status=0', "shape = 'CVCVCV' AND status = 0", NEWEST],
  ['syllables=2&length=5', 'syllables = 2 AND length = 5', NEWEST],
  ['demand_min=50', 'demand >= 50', NEWEST],
  ['demand_min=5000', 'demand >= 5000', NEWEST],
  ['twin=1', 'twin = 1', NEWEST],
  ['drops_min=3', 'drops >= 3', NEWEST],
  ['age_min=3', `date_reg <= timestamp '${NOW}' - interval '3 years' AND status = 1`, NEWEST],
  ['objection=1', `status = 1 AND date_reg > timestamp '${NOW}' - interval '30 days'`, NEWEST],
  ['num_volumen_min=99000', 'volumen >= 99000', NEWEST],
  ['order=num_volumen', 'volumen IS NOT NULL', 'volumen DESC, name DESC'],
  ['order=interest', 'true', 'interest DESC, name DESC'],
]
const TABLE = `
  CREATE TABLE domains (
    name text COLLATE "C" PRIMARY KEY, length integer NOT NULL, status integer NOT NULL, date_reg timestamp NOT NULL, shape text NOT NULL,
    syllables integer, demand integer, twin integer NOT NULL, drops integer NOT NULL, volumen integer, interest integer NOT NULL
  )`
const INDEXES = `
  CREATE INDEX ON domains (date_reg, name);
  CREATE INDEX ON domains (shape, date_reg, name);
  CREATE INDEX ON domains (syllables, length, date_reg, name);
  CREATE INDEX ON domains (demand);
  CREATE INDEX ON domains (twin, date_reg, name);
  CREATE INDEX ON domains (drops);
  CREATE INDEX ON domains (volumen, name);
  CREATE INDEX ON domains (interest, name);
  VACUUM ANALYZE domains`

const dictionary = readDictionary([])
const listed = [...getStream(RECORDS)].map(({ domain: name, status, date_reg }, i) => {
  const words = dictionary.split(name)
  const number = (i * 7_919) % 100_003
  return { name, words, status, date_reg, past_drops: i % 4, volumen: i % 10 === 0 ? number : null }
})
const segment = new Segment(
  toColumns(
    listed.map(({ words, volumen, ...record }) =>
      listedRecord(words, { ...record, numbers: volumen === null ? null : `volumen=${volumen}` }),
    ),
    optionsFor('registered'),
  ),
)
const demand = new Demand()
await demand.add(segment.columns)
const context = new FilterContext(Date.parse(`${NOW.replace(' ', 'T')}Z`), 'UTC', {
  getDemand: demand.of,
  inDemand: demand.candidates,
  hasBoughtTwin: (name, at) => hasBoughtTwin([segment], name, at),
  firstTwins: (name, at) => firstTwins([segment], name, at),
})
const decisions = listed
  .filter((_, i) => i % 250 === 0)
  .map(({ name, words }) => ({
    name,
    words,
    isWanted: name.length < 10,
    tags: [],
    demand: null,
    hasTwin: false,
  }))
const model = new InterestModel('', { ...train(decisions), demand: [] })
const scores = getScores(model, segment, [segment])
const ranking = new Ranking(model, [segment], new Map([[segment.columns, scores]]))

function answer(query: string): Buffer {
  const { order, ...given } = parseQuery(query)
  const values = parseFilters(given)
  const sorted = compileParameters({ order: orderParameter('Order') })(order === undefined ? {} : { order })
  if (!values.ok || !sorted.ok) throw new Error(`${query} is not a list`)
  const listing = {
    sources: [{ kind: 'all' }],
    filters: readFilters(values.values),
    order: sorted.values.order ?? 'registered',
    ascending: false,
    limit: PAGE,
    context,
    ranking,
  } as const
  const found = findPage({ registered: [segment], deleted: [] }, listing, new TimeSlice())
  return hitsToJson(finishNow(found).items, NOTHING, NOTHING)
}

const getScore = new Map<string, number>()
for (let position = 0; position < segment.columns.count; position++)
  getScore.set(Buffer.from(segment.nameOf(position)).toString('latin1'), scores[position] ?? 0)
const lines = listed.map(({ name, words, status, date_reg, past_drops, volumen }) => {
  const twin = Number(context.hasBoughtTwin(Buffer.from(name, 'latin1')))
  const drops = past_drops + 1 - status
  const values = [
    name,
    name.length,
    status,
    date_reg,
    toShape(name),
    toSyllables(name),
    context.getDemand(words),
  ]
  return [...values, twin, drops, volumen, getScore.get(name)].map((value) => value ?? '\\N').join('\t')
})

const median = (times: readonly number[]) =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? NaN
const namesIn = (json: string) => [...json.matchAll(/"name":"([^"]*)"/g)].map(([, name]) => name).join()

await withWorkspace(async (workspace) => {
  const server = await startDatabaseServer(workspace)
  const client = await connect(await server.make())
  await client.query(TABLE)
  for (let from = 0; from < lines.length; from += COPY_ROWS) {
    const text = lines.slice(from, from + COPY_ROWS).join('\n')
    await copyIn(client, 'COPY domains FROM STDIN', Buffer.from(`${text}\n`))
  }
  for (const statement of INDEXES.split(';')) await client.query(statement)
  console.log('| Query | index: ms | PostgreSQL: ms | ratio |\n|---|---|---|---|')
  for (const [query, where, order] of QUERIES) {
    const text = `SELECT name, length, status, date_reg FROM domains WHERE ${where} ORDER BY ${order} LIMIT ${PAGE}`
    const peer = async () => JSON.stringify((await client.query({ name: query, text })).rows)
    const [ours, theirs] = [namesIn(answer(query).toString()), namesIn(await peer())]
    if (ours !== theirs)
      throw new Error(`${query}: ${ours.slice(0, 200)} differs from ${theirs.slice(0, 200)}`)
    const [mine, others]: [number[], number[]] = [[], []]
    for (let i = 0; i < REPEATS; i++) {
      const start = performance.now()
      answer(query)
      const half = performance.now()
      await peer()
      mine.push(half - start)
      others.push(performance.now() - half)
    }
    const [one, other] = [median(mine), median(others)]
    const cells = [one, other].map((ms) => ms.toPrecision(2)).join(' | ')
    console.log(`| \`${query}\` | ${cells} | ${(other / one).toPrecision(2)} |`)
  }
  await client.end()
})
