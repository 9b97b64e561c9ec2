import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { record, stored, storedNames, update, UPDATE, wholeRecords } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call, send, type Fields } from '../support/http.ts'
import { acceptedId, BULK, ended, IMPORTS, jobOf, upload } from '../support/jobs.ts'
import { ManualClock, startService } from '../support/service.ts'

const clock = new ManualClock('2026-03-01T12:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())
const other = (await service.newKey('vecina', 'domainwatch')).key
const query = { api: service.domainKey }

const change = (fields: Fields, key = service.domainKey) =>
  send(service, BULK, fields, { encoding: 'json', query: { api: key } })
const changed = async (fields: Fields) => ended(service, BULK, acceptedId(await change(fields)))
const undone = async (id: string) =>
  ended(service, BULK, acceptedId(await send(service, `${BULK}/undo`, { id }, { query })))

/** The records of a search by their names, with some fields. */
async function fields(search: string, ...names: string[]) {
  const found = await wholeRecords(service, { search, order: 'name', sort: 'asc' })
  return Object.fromEntries(found.map((one) => [one['name'], names.map((name) => one[name])]))
}

beforeEach(() => clock.advance(60_000))

test('all matches get what is set, and only those', async () => {
  await storedNames(service, ['tanda1', 'tanda2', 'tanda3', 'suelta'])
  await update(service, [
    { domain: 'tanda1', tags: ['vieja', 'otra'] },
    { domain: 'tanda3', status: 0 },
  ])
  const set = {
    seen: 1,
    revision: 1,
    reserve: 1,
    note: 'en tanda',
    add_tags: ['Oferta'],
    remove_tags: ['vieja'],
  }
  const job = await changed({ search: 'tanda', status: 1, set, expect: 2 })
  assert.deepEqual(job, {
    status: 200,
    id: job.id,
    state: 'done',
    waiting: 0,
    created_at: '2026-03-01 09:01:00',
    started_at: '2026-03-01 09:01:00',
    ended_at: '2026-03-01 09:01:00',
    seconds_left: null,
    error: null,
    matched: 2,
    done: 2,
    skipped: 0,
    filters: { search: 'tanda', status: '1' },
    set: { ...set, add_tags: ['oferta'] },
    undo_of: null,
  })
  const names = ['seen', 'seen_by', 'seen_at', 'revision', 'reserved', 'note', 'tags', 'date_mod']
  const now = '2026-03-01 09:01:00'
  assert.deepEqual(await fields('tanda', ...names), {
    tanda1: [1, 'grupo', now, 1, 1, 'en tanda', ['otra', 'oferta'], now],
    tanda2: [1, 'grupo', now, 1, 1, 'en tanda', ['oferta'], now],
    tanda3: [0, null, null, 0, 0, '', [], now],
  })
  assert.deepEqual(await fields('suelta', 'seen', 'tags'), { suelta: [0, []] })
  const { body } = await call(service, '/api/v1/domainwatch/history', {
    query: { ...query, domain: 'tanda2.cl' },
  })
  assert.partialDeepStrictEqual(Object(body).data[0], { account: 'grupo' })
  // The other way round.
  clock.advance(60_000)
  await changed({ search: 'tanda', set: { seen: 0, revision: 0, note: '', discarded: 1 } })
  assert.deepEqual(await fields('tanda', 'seen', 'revision', 'reserved', 'note', 'discarded', 'tags'), {
    tanda1: [0, 0, 1, '', 1, ['otra', 'oferta']],
    tanda2: [0, 0, 1, '', 1, ['oferta']],
    tanda3: [0, 0, 0, '', 1, []],
  })
})

test('it is undone as a whole, except for records that someone has changed since', async () => {
  const data = ['deshecha1', 'deshecha2', 'deshecha3', 'deshecha4'].map((name) => record(name))
  await stored(service, data)
  await send(
    service,
    UPDATE,
    {
      data: [
        { domain: 'deshecha1', seen: 1, note: 'de vecina', tags: ['suya'] },
        { domain: 'deshecha4', discarded: 1 },
      ],
    },
    { query: { api: other } },
  )
  const names = ['seen', 'seen_by', 'seen_at', 'revision', 'discarded', 'discarded_at', 'note', 'tags']
  const before = await fields('deshecha', ...names)
  clock.advance(60_000)
  const job = await changed({
    search: 'deshecha',
    set: { seen: 0, revision: 1, discarded: 0, note: 'x', remove_tags: ['suya'] },
  })
  assert.partialDeepStrictEqual(job, { matched: 4, done: 4, skipped: 0 })
  const between = await fields('deshecha', ...names)
  assert.notDeepEqual(between, before)
  clock.advance(60_000)
  // The same account changes one too, and another a second one.
  await update(service, [{ domain: 'deshecha2', note: 'después' }])
  await send(service, UPDATE, { data: [{ domain: 'deshecha3', status: 0 }] }, { query: { api: other } })
  clock.advance(60_000)
  const undo = await undone(job.id)
  assert.partialDeepStrictEqual(undo, { state: 'done', matched: 4, done: 2, skipped: 2, undo_of: job.id })
  const after = await fields('deshecha', ...names, 'date_mod')
  assert.deepEqual(after['deshecha1'], [...(before['deshecha1'] ?? []), '2026-03-01 09:06:00'])
  assert.deepEqual(after['deshecha4'], [...(before['deshecha4'] ?? []), '2026-03-01 09:06:00'])
  assert.deepEqual(after['deshecha2']?.[6], 'después')
  assert.deepEqual(after['deshecha3']?.[3], 1)
  // Undoing that does it again, and doing so twice changes nothing more.
  clock.advance(60_000)
  assert.partialDeepStrictEqual(await undone(undo.id), { state: 'done', matched: 4, done: 4, skipped: 0 })
  const again = await fields('deshecha', ...names)
  for (const name of ['deshecha1', 'deshecha4']) assert.deepEqual(again[name], between[name])
  assert.partialDeepStrictEqual(await undone(undo.id), { done: 2, skipped: 2 })
  assert.deepEqual(await fields('deshecha', ...names), again)
})

test('a record that someone decides on before its turn is skipped', async () => {
  await stored(service, [record('turno1'), record('turno2')])
  // It waits for an import, which is stopped then.
  const names = Array.from({ length: 100_000 }, (_, i) => `larga${i}.cl\n`).join('')
  const first = acceptedId(await upload(service, names, { format: 'deletions' }))
  const id = acceptedId(await change({ search: 'turno', seen: 0, set: { note: 'x' } }))
  await eventually(async () => (await jobOf(service, IMPORTS, first))['waiting'] === 0, 'the import runs')
  const state = { state: 'running', waiting: 1, matched: 2, done: 0, skipped: 0, started_at: null }
  assert.partialDeepStrictEqual(await jobOf(service, BULK, id), state)
  const early = await send(service, `${BULK}/undo`, { id }, { query })
  assert.deepEqual(early.body, { status: 409, msg: 'El trabajo aún no termina' })
  await send(service, UPDATE, { data: [{ domain: 'turno1', seen: 1 }] }, { query: { api: other } })
  await call(service, IMPORTS, { method: 'DELETE', query: { ...query, id: first } })
  assert.partialDeepStrictEqual(await ended(service, BULK, id), { matched: 2, done: 1, skipped: 1 })
  assert.deepEqual(await fields('turno', 'note'), { turno1: [''], turno2: ['x'] })
})

test('only the given names are changed, if they match', async () => {
  await storedNames(service, ['dada1', 'dada2', 'dada3'])
  const data = ['dada1', 'dada2', 'no-guardada', 'dada1']
  const job = await changed({ data, set: { add_tags: ['x'] } })
  assert.partialDeepStrictEqual(job, { matched: 3, done: 2, skipped: 1, filters: {} })
  assert.deepEqual(await fields('dada', 'tags'), { dada1: [['x']], dada2: [['x']], dada3: [[]] })
  await changed({ data, tag: 'x', search: 'dada2', set: { remove_tags: ['x'] } })
  assert.deepEqual(await fields('dada', 'tags'), { dada1: [['x']], dada2: [[]], dada3: [[]] })
  for (const wrong of ['dada1', [1], ['no_vale'], Array.from({ length: 1_001 }, (_, i) => `n${i}`)]) {
    const { status, text } = await change({ data: wrong, set: { seen: 1 } })
    assert.equal(status, 400)
    assert.match(text, /"msg":"El parámetro data debe ser un arreglo de nombres de dominio .cl válidos/)
  }
})

test('changes are undone one after the other', async () => {
  await stored(service, [record('capas1'), record('capas2')])
  const before = await fields('capas', 'seen', 'tags', 'note')
  const [first, second] = [
    await changed({ search: 'capas', set: { seen: 1 } }),
    await changed({ search: 'capas', set: { add_tags: ['b'], note: 'c' } }),
  ]
  assert.partialDeepStrictEqual(await undone(second.id), { done: 2, skipped: 0 })
  assert.partialDeepStrictEqual(await undone(first.id), { done: 2, skipped: 0 })
  assert.deepEqual(await fields('capas', 'seen', 'tags', 'note'), before)
})

test('it ends the claims of its account on what it decides', async () => {
  await stored(service, [record('tomada1'), record('tomada2')])
  const claims = async () => fields('tomada', 'claimed_by')
  await send(service, '/api/v1/domainwatch/queue', { search: 'tomada' }, { query })
  await changed({ search: 'tomada', set: { add_tags: ['x'] } })
  assert.deepEqual(await claims(), { tomada1: ['grupo'], tomada2: ['grupo'] })
  await changed({ search: 'tomada1', set: { seen: 1 } })
  assert.deepEqual(await claims(), { tomada1: [null], tomada2: ['grupo'] })
})

test('a record that would get too many tags is skipped', async () => {
  await stored(service, [record('llena1'), record('llena2')])
  const tags = Array.from({ length: 10 }, (_, i) => `t${i}`)
  await update(service, [{ domain: 'llena1', tags }])
  assert.partialDeepStrictEqual(await changed({ search: 'llena', set: { add_tags: ['otra'] } }), {
    done: 1,
    skipped: 1,
  })
  assert.deepEqual(await fields('llena', 'tags'), { llena1: [tags], llena2: [['otra']] })
})

test('other matches than the caller saw are a 409', async () => {
  await stored(
    service,
    Array.from({ length: 101 }, (_, i) => record(`contada${i}`)),
  )
  const ask = (expect: number) => change({ search: 'contada', set: { seen: 1 }, expect })
  const msg = 'Ahora coinciden 101 registros'
  assert.deepEqual((await ask(99)).body, { status: 409, matched: 101, msg })
  assert.deepEqual((await ask(103)).body, { status: 409, matched: 101, msg })
  assert.deepEqual((await ask(0)).body, { status: 409, matched: 101, msg })
  const accepted = await ask(102)
  assert.equal(Object(accepted.body).matched, 101)
  assert.equal((await ended(service, BULK, acceptedId(accepted)))['done'], 101)
  acceptedId(await ask(100))
  const none = await changed({ search: 'ninguna-de-estas', set: { seen: 1 }, expect: 0 })
  assert.partialDeepStrictEqual(none, { state: 'done', matched: 0, done: 0, skipped: 0 })
})

test('what is not a set, and what cannot be undone, is refused', async () => {
  assert.deepEqual((await change({ search: 'a' })).body, { status: 400, msg: 'Falta el parámetro set' })
  for (const set of [
    {},
    [],
    1,
    'no',
    { seen: 2 },
    { status: 1 },
    { tags: ['a'] },
    { add_tags: 'a' },
    { note: 1 },
  ]) {
    const { status, text } = await change({ search: 'a', set })
    assert.equal(status, 400, JSON.stringify(set))
    assert.match(text, /"msg":"El parámetro set debe ser un objeto JSON /)
  }
  const asText = await send(service, BULK, { search: 'ninguna-de-estas', set: '{"seen":1}' }, { query })
  const { id } = await ended(service, BULK, acceptedId(asText))
  const undo = (fieldsOf: Fields, key = service.domainKey) =>
    send(service, `${BULK}/undo`, fieldsOf, { query: { api: key } })
  assert.deepEqual((await undo({})).body, { status: 400, msg: 'Falta el parámetro id' })
  const gone = { status: 404, msg: 'El trabajo no existe' }
  assert.deepEqual((await undo({ id: 'nada' })).body, gone)
  assert.deepEqual((await undo({ id }, other)).body, gone)
  assert.deepEqual(
    (await call(service, '/api/v1/domainwatch/imports', { query: { ...query, id } })).body,
    gone,
  )
  clock.advance(24 * 60 * 60_000)
  assert.deepEqual((await undo({ id })).body, {
    status: 410,
    msg: 'Pasó más de un día desde que terminó el cambio',
  })
})
