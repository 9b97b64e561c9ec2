import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sweepChanges } from '../../src/storage/database/changes/change-log.ts'
import { add, EVENTS, record, stored, update } from '../support/domains.ts'
import { EventReader, type ServerSentEvent } from '../support/event-reader.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { ManualClock, onTwoNodes, startService, type TestService } from '../support/service.ts'

const DAY_MS = 86_400_000
const name = ({ data }: ServerSentEvent) => Object(Object(data).record).name
const kindAndName = (event: ServerSentEvent) => `${event.event} ${name(event)}`

const clock = new ManualClock('2026-01-02T12:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())

const open = (query: Record<string, unknown> = {}, headers = {}) =>
  EventReader.open(service, { api: service.domainKey, ...query }, headers)

test('every kind of change has the record before and after it', async () => {
  await using reader = await open({ search: 'vida' })
  assert.equal(reader.headers.get('content-type'), 'text/event-stream')
  assert.equal(reader.headers.get('cache-control'), 'no-store')
  assert.equal(reader.headers.get('x-accel-buffering'), 'no')
  assert.equal(reader.headers.get('access-control-allow-origin'), '*')
  assert.equal(reader.headers.get('content-encoding'), null)
  assert.equal(reader.retry, '3000')
  const state = (fields: object) => ({
    name: 'vida',
    length: 4,
    agent: 'grupo',
    status: 1,
    reserved: 0,
    revision: 0,
    discarded: 0,
    date_reg: '2025-12-31 14:30:34',
    date_mod: '2026-01-02 09:00:00',
    seen: 0,
    note: '',
    tags: [],
    ...fields,
  })
  await stored(service, [record('otra'), record('vida')])
  // An equal record is not a change.
  await stored(service, [record('vida')])
  await stored(service, [record('vida', { status: 0, agent: 'Añá "x" <y>' })])
  for (const discarded of [1, 0, 1]) await update(service, [{ domain: 'vida', discarded }])
  const decision = { seen: 1, note: 'a "b"\nc', tags: ['uno', 'dos'] }
  await update(service, [{ domain: 'vida', ...decision }])
  clock.advance(7 * DAY_MS)
  // What is due goes with the next write.
  await stored(service, [record('tercera')])
  const events = await reader.take(7)
  const sold = { status: 0, agent: 'Añá "x" <y>' }
  const gone = { ...sold, discarded: 1 }
  assert.deepEqual(
    events.map(({ event, data }) => {
      const { at, ...rest } = Object(data)
      assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000 && at.endsWith('Z'), at)
      assert.equal(rest.event, event)
      return rest
    }),
    [
      { event: 'added', account: 'grupo', record: state({}), before: null },
      { event: 'changed', account: 'grupo', record: state(sold), before: state({}) },
      { event: 'discarded', account: 'grupo', record: state(gone), before: state(sold) },
      { event: 'changed', account: 'grupo', record: state(sold), before: state(gone) },
      { event: 'discarded', account: 'grupo', record: state(gone), before: state(sold) },
      {
        event: 'changed',
        account: 'grupo',
        record: state({ ...gone, ...decision }),
        before: state(gone),
      },
      { event: 'deleted', account: null, record: state({ ...gone, ...decision }), before: null },
    ],
  )
})

test('an event matches filters that its record matches before or after it', async () => {
  await using deleted = await open({ status: '0', length: '5' })
  await using marked = await open({ rev: '' })
  await stored(service, [record('comun'), record('cinco', { status: 0 }), record('nonono', { status: 0 })])
  await stored(service, [record('cinco'), record('comun', { status: 0, reserve: 1 })])
  await update(service, [{ domain: 'comun', revision: 1 }])
  await update(service, [{ domain: 'comun', revision: 0 }])
  const heard = (await deleted.take(5)).map(kindAndName)
  // Within a batch the order is the database's.
  assert.deepEqual(new Set(heard.slice(0, 3)), new Set(['added cinco', 'changed cinco', 'changed comun']))
  assert.deepEqual(heard.slice(3), ['changed comun', 'changed comun'])
  assert.deepEqual((await marked.take(2)).map(kindAndName), ['changed comun', 'changed comun'])
})

test('a client that resumes, by header or parameter, misses and repeats nothing', async () => {
  const rounds = 12
  const each = 20
  let reader = await open({ search: 'r' })
  let heard: ServerSentEvent[] = []
  const writing = (async () => {
    for (let round = 0; round < rounds; round++) {
      await add(
        service,
        Array.from({ length: each }, (_, i) => record(`r${round}-${i}`)),
      )
    }
  })()
  for (let turn = 1; heard.length < rounds * each; turn++) {
    // Cut anywhere, also in the middle of a batch.
    heard = heard.concat(await reader.take(Math.min(turn * 7, rounds * each - heard.length)))
    reader.close()
    const id = heard.at(-1)?.id ?? ''
    // The header is newer than the address, which a browser repeats.
    reader =
      turn % 2 === 0
        ? await open({ search: 'r', last_event_id: id })
        : await open({ search: 'r', last_event_id: heard[0]?.id }, { 'last-event-id': id })
  }
  await writing
  reader.close()
  const expected = Array.from({ length: rounds }, (_, round) =>
    Array.from({ length: each }, (_, i) => `r${round}-${i}`),
  )
  const names = heard.map(name)
  // Within a batch the order is the database's.
  assert.deepEqual(
    expected.map((_, round) => new Set(names.slice(round * each, (round + 1) * each))),
    expected.map((batch) => new Set(batch)),
  )
  assert.equal(new Set(heard.map(({ id }) => id)).size, rounds * each)
})

test('deleted changes are reported as a gap before new events', { skip: onTwoNodes }, async () => {
  await using early = await open()
  const [old] = await stored(service, [record('antes1')]).then(() => early.take(1))
  await stored(service, [record('antes2'), record('antes3')])
  await early.take(2)
  const { database } = service.app.context
  await sweepChanges(database, clock, { maxAgeMs: 1e15, maxCount: 1 })
  const gap = 'Los cambios desde el último evento ya no están disponibles: vuelva a leer la lista'
  // Another process, which does not have them in memory.
  const other = await startService({ data: service.data })
  for (const id of [old?.id ?? '', 'abcdefabcdef-7', 'abcdefabcdef-999999999']) {
    const query = { api: service.domainKey, search: 'tarde' }
    await using late = await EventReader.open(other, query, { 'last-event-id': id })
    const event = await late.next()
    assert.deepEqual([event?.event, event?.data], ['gap', { msg: gap }])
    assert.notEqual(event?.id, id)
    await stored(service, [record(`tarde-${id}`)])
    const next = await late.next()
    assert.equal(next?.event, 'added')
  }
  await other.stop()
})

test('invalid parameters are rejected before a stream begins', async () => {
  const refused = async (query: object, headers = {}) =>
    (await call(service, EVENTS, { query: { api: service.domainKey, ...query }, headers })).body
  const msg = 'debe ser el id de un evento recibido'
  assert.deepEqual(await refused({ last_event_id: '7' }), {
    status: 400,
    msg: `El parámetro last_event_id ${msg}`,
  })
  assert.deepEqual(await refused({}, { 'last-event-id': "1' OR 1" }), {
    status: 400,
    msg: `La cabecera Last-Event-ID ${msg}`,
  })
  assert.deepEqual(await refused({ format: 'rss' }), {
    status: 400,
    msg: 'El parámetro format debe ser sse o atom',
  })
  assert.deepEqual(await refused({ agent: '' }), {
    status: 400,
    msg: 'El parámetro agent necesita el parámetro search',
  })
})

test('HEAD opens no stream', async () => {
  const { status, headers } = await call(service, EVENTS, {
    method: 'HEAD',
    query: { api: service.domainKey },
  })
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/event-stream'])
})

test('a revoked key ends its streams, and no others', async () => {
  const { key, id } = await service.newKey('visita', 'domainwatch')
  await using theirs = await open({ api: key })
  await using ours = await open()
  await service.revokeKey(id)
  assert.equal(await theirs.next(), undefined)
  assert.equal(theirs.comments, 0, 'it ends before its next heartbeat')
  await stored(service, [record('siguiendo')])
  assert.deepEqual((await ours.take(1)).map(kindAndName), ['added siguiendo'])
})

test('changes of another process are received, in both directions', { skip: onTwoNodes }, async () => {
  const other = await startService({ data: service.data })
  try {
    await using here = await open({ search: 'proceso' })
    await using there = await EventReader.open(other, { api: service.domainKey, search: 'proceso' })
    const elsewhere: TestService = Object.create(service, { url: { value: other.url } })
    for (const turn of [1, 2, 3]) {
      await stored(elsewhere, [record(`proceso-a${turn}`)])
      await stored(service, [record(`proceso-b${turn}`)])
    }
    const names = [1, 2, 3].flatMap((turn) => [`added proceso-a${turn}`, `added proceso-b${turn}`])
    assert.deepEqual((await here.take(6)).map(kindAndName), names)
    const events = await there.take(6)
    assert.deepEqual(events.map(kindAndName), names)
    // An event has the same id everywhere: a reader may resume at another node.
    await using moved = await open({ search: 'proceso' }, { 'last-event-id': events[2]?.id ?? '' })
    assert.deepEqual((await moved.take(3)).map(kindAndName), names.slice(3))
  } finally {
    await other.stop()
  }
})

test(
  'streams are limited in total and per account, and slots are released',
  { skip: onTwoNodes },
  async () => {
    await using service = await startService({ limits: { eventStreams: 4 } })
    // Each process counts its own streams.
    assert.ok(service.app)
    const another = (await service.newKey('otro', 'domainwatch')).key
    const third = (await service.newKey('tercero', 'domainwatch')).key
    const open = (api: string) => EventReader.open(service, { api })
    const refusal = async (api: string) => {
      const { status, headers, body } = await call(service, EVENTS, { query: { api } })
      assert.equal(headers.get('retry-after'), '1')
      assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
      assert.deepEqual(body, { status, msg: 'El servicio está saturado, inténtelo de nuevo' })
      return status
    }
    const readers = [await open(service.domainKey), await open(service.domainKey)]
    assert.equal(await refusal(service.domainKey), 503)
    readers.push(await open(another), await open(another))
    assert.equal(await refusal(third), 503)
    assert.equal((await call(service, EVENTS, { query: { api: third, format: 'atom' } })).status, 200)
    const count = async () => /event_streams (\d+)/.exec(await service.app.context.metrics.text())?.[1]
    assert.equal(await count(), '4')
    readers[0]?.close()
    await eventually(async () => (await count()) === '3')
    readers.push(await open(third))
    for (const reader of readers) reader.close()
  },
)

test('a shutdown ends streams immediately and cleanly', { skip: onTwoNodes }, async () => {
  await using service = await startService()
  // Nodes are stopped together with their load balancer.
  assert.ok(service.app)
  const readers = await Promise.all(
    Array.from({ length: 20 }, () => EventReader.open(service, { api: service.domainKey })),
  )
  await stored(service, [record('ultimo')])
  const stopped = service.stop()
  // A connection that was cut would reject.
  for (const reader of readers) {
    const last = await reader.next()
    if (last !== undefined) assert.equal(await reader.next(), undefined)
  }
  await stopped
})
