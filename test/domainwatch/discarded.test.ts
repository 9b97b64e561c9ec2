import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import {
  list,
  names,
  record,
  records,
  removeRecords,
  stored,
  storedNames,
  update,
  updateNames,
  walkNames,
} from '../support/domains.ts'
import { ManualClock, startService } from '../support/service.ts'

const SECOND = 1_000
const DAY = 86_400 * SECOND
const WEEK = 7 * DAY
const START = '2026-03-01T10:20:30.400Z'

const clock = new ManualClock(START)
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())

beforeEach(async () => {
  await removeRecords(service)
  clock.advance(Date.parse(START) - clock.now())
})

const mark = (domain: string, discarded: 0 | 1) => ({ domain, discarded })

test('a discarded record is listed for exactly 7 days, then in no response', async () => {
  await stored(service, [record('queda'), record('se-va'), record('borrado', { status: 0 })])
  await update(service, [mark('se-va', 1), mark('borrado', 1)])
  clock.advance(WEEK - 1)
  assert.deepEqual(await names(service), ['se-va', 'queda', 'borrado'])
  assert.deepEqual(await names(service, { dis: '' }), ['se-va', 'borrado'])
  assert.equal((await update(service, [{ domain: 'se-va', revision: 1 }])).status, 200)
  clock.advance(1)
  // No sweep was due since: the record leaves by the clock alone.
  for (const query of [
    {},
    { dis: '' },
    { search: 'se-va' },
    { last_register: 9 },
    { length: 5 },
    { rev: '' },
  ]) {
    assert.equal((await names(service, query)).includes('se-va'), false, JSON.stringify(query))
  }
  assert.deepEqual(await names(service, { last_deleted: 9 }), [])
  assert.equal((await list(service)).count, 1)
  assert.deepEqual((await update(service, [mark('se-va', 0)])).body, {
    status: 500,
    count: 0,
    msg: 'Hay 1 registro con errores',
    errors: [{ index: 0, field: 'domain', msg: 'El dominio no está registrado en el servicio' }],
  })
})

test('marking again does not restart the 7 days, unmarking stops them', async () => {
  await stored(service, [record('dos-veces'), record('perdonado'), record('otra-vez')])
  await update(service, [mark('dos-veces', 1), mark('perdonado', 1), mark('otra-vez', 1)])
  clock.advance(6 * DAY)
  await update(service, [mark('dos-veces', 1), mark('perdonado', 0), mark('otra-vez', 0)])
  await update(service, [mark('otra-vez', 1)])
  // Sending the record itself again leaves the mark as it is.
  await stored(service, [record('dos-veces', { reserve: 1 })])
  clock.advance(DAY)
  assert.deepEqual(await names(service), ['perdonado', 'otra-vez'])
  assert.equal((await records(service, { search: 'perdonado' }))[0]?.discarded, 0)
  clock.advance(6 * DAY - 1)
  assert.deepEqual(await names(service), ['perdonado', 'otra-vez'])
  clock.advance(1)
  assert.deepEqual(await names(service), ['perdonado'])
  clock.advance(100 * DAY)
  assert.deepEqual(await names(service), ['perdonado'])
})

test('a domain added again after its 7 days is a new record', async () => {
  const { key } = await service.newKey('otro', 'domainwatch')
  await stored(service, [record('vuelve', { reserve: 1 })])
  await update(service, [{ domain: 'vuelve', discarded: 1, revision: 1, status: 0 }])
  clock.advance(WEEK)
  await stored(service, [record('vuelve', { status: 0, date_reg: '2019-01-01 00:00:00' })], { key })
  await stored(service, [record('reciente', { status: 0, date_reg: '2020-01-01 00:00:00' })], { key })
  const [, found] = await records(service)
  assert.deepEqual(found, {
    name: 'vuelve',
    length: 6,
    agent: 'otro',
    status: 0,
    reserved: 0,
    revision: 0,
    discarded: 0,
    date_reg: '2019-01-01 00:00:00',
    date_mod: '2026-03-08 07:20:30',
  })
  // Its deletion time is of the new record as well.
  assert.deepEqual(await names(service, { last_deleted: 2 }), ['reciente', 'vuelve'])
})

test('among very many expired records, those written again are new records', async () => {
  const domains = Array.from({ length: 2_500 }, (_, i) => `n${i}`)
  await storedNames(service, domains)
  await updateNames(service, domains, { discarded: 1, revision: 1 })
  clock.advance(WEEK)
  // Spread over all of them: whichever go first, others are left.
  const again = domains.filter((_, i) => i % 25 === 0)
  await storedNames(service, again)
  const found = await records(service, { limit: 1_024 })
  assert.deepEqual(found.map(({ name }) => name).toSorted(), again.toSorted())
  assert.deepEqual(
    new Set(found.map(({ revision, discarded }) => `${revision}${discarded}`)),
    new Set(['00']),
  )
  assert.equal((await update(service, [mark('n2499', 0)])).status, 500)
})

test('records that expire between pages are omitted', async () => {
  const domains = Array.from({ length: 20 }, (_, i) => `x${String(i).padStart(2, '0')}`)
  await storedNames(service, domains)
  await update(
    service,
    domains.filter((_, i) => i % 2 === 0).map((domain) => mark(domain, 1)),
  )
  const walked = await walkNames(service, { limit: 5, sort: 'asc' }, async (page) => {
    if (page === 2) clock.advance(WEEK)
  })
  const kept = domains.filter((_, i) => i < 10 || i % 2 === 1)
  assert.deepEqual(walked, kept)
})

test('after a restart past the 7 days the record is deleted', async () => {
  const first = await startService({ clock })
  await stored(first, [record('queda'), record('se-va')])
  await update(first, [mark('se-va', 1)])
  await first.stop()
  clock.advance(WEEK)
  await using restarted = await startService({ clock, data: first.data })
  assert.deepEqual(await names(restarted), ['queda'])
})
