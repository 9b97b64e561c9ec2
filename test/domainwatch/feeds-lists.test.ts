/** Lists of the registry that feeds fetch. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { localDateTime } from '../../src/lib/dates.ts'
import { record, records, stored, update, wholeRecords } from '../support/domains.ts'
import { EventReader } from '../support/event-reader.ts'
import { eventually } from '../support/eventually.ts'
import { FEEDS, feedsFile, startWithFeeds } from '../support/feeds.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call, type Fields } from '../support/http.ts'
import { listen } from '../support/listen.ts'
import { ManualClock, type TestService } from '../support/service.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const BEGIN = '2026-01-15T15:00:00Z'

/** What the server answers to each path. Without a length, the end of the connection is that of the list. */
const lists = new Map<string, { readonly text: string; readonly hasLength?: boolean }>()
/** Resolves before the list of a path is sent. */
const held = new Map<string, Promise<void>>()
const server = createServer((request, response) => {
  const path = request.url ?? ''
  const { text = '', hasLength = true } = lists.get(path) ?? {}
  const send = () => {
    if (!hasLength) response.shouldKeepAlive = false
    response.useChunkedEncodingByDefault = hasLength
    response.writeHead(200, { 'content-type': 'text/plain' })
    response.end(text)
  }
  void (held.get(path) ?? Promise.resolve()).then(send)
})
after(() => server.close())
const port = await listen(server)

const feed = (name: string, format: string, more: Fields = {}) => {
  return {
    name,
    url: `http://127.0.0.1:${port}/${name}`,
    format,
    every: '1h',
    account: 'grupo',
    window: 'day',
    ...more,
  }
}

async function start(feeds: readonly object[]) {
  const clock = new ManualClock(BEGIN)
  const folder = await temporaryFolder()
  const flags = { feeds: await feedsFile(folder.path, feeds), 'webhook-networks': '127.0.0.0/8' }
  const service = await startWithFeeds({ clock, flags })
  return {
    clock,
    service,
    now: () => localDateTime(clock.now(), 'America/Santiago'),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

async function states(service: TestService): Promise<readonly Fields[]> {
  const { body } = await call(service, FEEDS, { query: { api: service.domainKey } })
  return Object(body).data
}

/** Resolves to the states when every feed was fetched, or failed, at that time. */
async function fetched(service: TestService, at: string): Promise<readonly Fields[]> {
  let found: readonly Fields[] = []
  await eventually(async () => {
    found = await states(service)
    const isDone = (state: Fields) => state['last_success'] === at || state['error'] !== null
    return found.every((state) => state['last_attempt'] === at && isDone(state))
  }, 'every feed was fetched')
  return found
}

const lines = (...names: string[]) => names.map((name) => `${name}.cl\n`).join('')

test('of lists that are due together deletions come first, and events tell the result', async () => {
  lists.set('/bajas', { text: lines('vuelve', 'libre') })
  lists.set('/altas', { text: 'Nombre,Fecha\nvuelve.cl,2026-01-15 14:59:00\n' })
  const deletions = Promise.withResolvers<void>()
  held.set('/bajas', deletions.promise)
  await using run = await start([
    feed('altas', 'registrations', { window: 'month', zone: 'UTC' }),
    feed('bajas', 'deletions'),
  ])
  const { service, now } = run
  await stored(service, [record('vuelve'), record('libre')])
  await using events = await EventReader.open(service, { api: service.domainKey })
  deletions.resolve()
  const found = await fetched(service, now())
  assert.deepEqual(
    found.map(({ changed, complete, last_complete: at }) => [changed, complete, at]),
    [
      [1, 1, now()],
      [2, 1, now()],
    ],
  )
  const told = (await events.take(2)).map(({ data }) => {
    const { record: is, before } = Object(data)
    return [is.name, before.status, is.status]
  })
  assert.deepEqual(told.toSorted(byText), [
    ['libre', 1, 0],
    ['vuelve', 0, 1],
  ])
  assert.equal((await records(service, { search: 'vuelve' }))[0]?.date_reg, '2026-01-15 11:59:00')
  held.delete('/bajas')
})

test('feeds take registrations and deletions from exports, but no marks, and say so in the log', async () => {
  const head =
    'name,length,agent,status,reserved,revision,discarded,date_reg,date_mod,deleted_at,discarded_at'
  const line = (name: string, status: number, deleted: string) =>
    `${name},${name.length},otro,${status},1,1,1,2025-06-01 10:00:00,2025-06-01 10:00:00,${deleted},2020-01-01T00:00:00.000Z\n`
  const text = `${head}\n${line('mia', 1, '')}${line('libre', 0, '2026-01-10 10:00:00')}${line('nueva', 1, '')}`
  lists.set('/copia', { text })
  const copy = Promise.withResolvers<void>()
  held.set('/copia', copy.promise)
  await using run = await start([feed('copia', 'csv')])
  const { service, now } = run
  await stored(service, [record('mia', { date_reg: '2025-01-01 10:00:00' }), record('libre')])
  await update(service, [{ domain: 'mia', note: 'importante', tags: ['venta'] }])
  copy.resolve()
  await fetched(service, now())
  const read = async (search: string) => {
    const fields = 'note,tags,deleted_at,deleted_after,discarded_at'
    const [{ date_mod: _, ...rest } = {}] = await wholeRecords(service, { search, fields })
    return rest
  }
  const plain = { agent: 'grupo', reserved: 0, revision: 0, discarded: 0, discarded_at: null }
  const bought = {
    ...plain,
    status: 1,
    date_reg: '2025-06-01 10:00:00',
    deleted_at: null,
    deleted_after: null,
  }
  assert.deepEqual(await read('mia'), {
    ...bought,
    name: 'mia',
    length: 3,
    note: 'importante',
    tags: ['venta'],
  })
  assert.deepEqual(await read('nueva'), { ...bought, name: 'nueva', length: 5, note: '', tags: [] })
  assert.deepEqual(await read('libre'), {
    ...plain,
    deleted_at: '2026-01-10 10:00:00',
    deleted_after: '2026-01-10 10:00:00',
    name: 'libre',
    length: 5,
    status: 0,
    date_reg: '2025-12-31 14:30:34',
    note: '',
    tags: [],
  })
  assert.match(
    await service.log(),
    /"feed":"copia","msg":"feed is an export: only registrations and deletions/,
  )
  held.delete('/copia')
})

test('a list that is empty unlike the last one is a failure; gaps and rows are metrics', async () => {
  const names = Array.from({ length: 12 }, (_, i) => `n${i}`)
  lists.set('/bajas', { text: lines(...names) })
  await using run = await start([feed('bajas', 'deletions')])
  const { service, clock, now } = run
  await fetched(service, now())
  const lastComplete = now()
  for (const text of ['', '', 'Nombre Dominio\n']) {
    lists.set('/bajas', { text })
    clock.advance(HOUR)
    const [empty] = await fetched(service, now())
    assert.deepEqual(
      [empty?.['error'], empty?.['last_complete'], empty?.['read']],
      ['La lista está vacía, y la anterior no lo estaba', lastComplete, 12],
    )
  }
  lists.set('/bajas', { text: lines(...names.slice(1), 'malo malo', 'otro') })
  clock.advance(2 * DAY)
  const [late] = await fetched(service, now())
  assert.deepEqual(
    [late?.['error'], late?.['complete'], late?.['gaps'], late?.['last_gap'], late?.['refused']],
    [null, 0, 1, now(), 1],
  )
  // Without a length, the connection may have ended too early.
  lists.set('/bajas', { text: lines(...names), hasLength: false })
  clock.advance(HOUR)
  const [open] = await fetched(service, now())
  assert.deepEqual([open?.['complete'], open?.['gaps']], [0, 1])
  const { text } = await call(service, '/metrics')
  const metric = (name: string) =>
    new RegExp(`^catalejo_feed_${name}\\{feed="bajas"\\} (\\d+)$`, 'm').exec(text)?.[1]
  assert.deepEqual(['rows_read', 'rows_changed', 'rows_refused', 'gaps_total'].map(metric), [
    '12',
    '1',
    '0',
    '1',
  ])
  assert.match(await service.log(), /"feed":"bajas","from":"[^"]+","to":"[^"]+","msg":"feed has a gap/)
})

const byText = (one: unknown, other: unknown) => (String(one) < String(other) ? -1 : 1)
