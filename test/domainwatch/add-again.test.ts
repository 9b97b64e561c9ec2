import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { add, names, record, records, stored, update, type ListedRecord } from '../support/domains.ts'
import { ManualClock, startService } from '../support/service.ts'

const MINUTE = 60_000
const clock = new ManualClock('2026-01-15T12:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())

async function one(name: string): Promise<ListedRecord | undefined> {
  return (await records(service, { search: name })).find((each) => each.name === name)
}

test('the same record again changes nothing and is counted', async () => {
  await stored(service, [record('igual')])
  const before = await one('igual')
  clock.advance(MINUTE)
  await stored(service, [record('igual')])
  assert.deepEqual(await one('igual'), before)
})

for (const [field, value, shown] of [
  ['reserve', 1, { reserved: 1 }],
  ['status', 0, { status: 0 }],
  ['date_reg', '2020-01-01 00:00:00', { date_reg: '2020-01-01 00:00:00' }],
  ['agent', 'otra', { agent: 'otra' }],
] as const) {
  test(`another ${field} updates the record in place, and its date_mod`, async () => {
    const name = `cambia-${field.replace('_', '')}`
    await stored(service, [record(name)])
    await update(service, [{ domain: name, revision: 1, discarded: 1 }])
    const before = await one(name)
    clock.advance(MINUTE)
    await stored(service, [record(name, { [field]: value })])
    const afterwards = await one(name)
    assert.notEqual(afterwards?.date_mod, before?.date_mod)
    assert.deepEqual(afterwards, { ...before, ...shown, date_mod: afterwards?.date_mod })
    assert.deepEqual([afterwards?.revision, afterwards?.discarded], [1, 1])
  })
}

test('the agent is the account that recorded the domain first, unless a record names another', async () => {
  const { key } = await service.newKey('segundo', 'domainwatch')
  await stored(service, [record('deagente')])
  // Another key may be another process's.
  await service.caughtUp()
  await stored(service, [record('deagente', { reserve: 1 })], { key })
  await service.caughtUp()
  assert.equal((await one('deagente'))?.agent, 'grupo')
  await stored(service, [record('deagente', { agent: 'Íñigo & Cía. ' })], { key })
  await service.caughtUp()
  assert.equal((await one('deagente'))?.agent, 'Íñigo & Cía. ')
  await stored(service, [record('deagente')])
  assert.equal((await one('deagente'))?.agent, 'Íñigo & Cía. ')
  await stored(service, [record('desegundo')], { key })
  await service.caughtUp()
  assert.equal((await one('desegundo'))?.agent, 'segundo')
})

test('of a domain repeated in a batch the last record counts, once', async () => {
  const { body } = await add(service, [
    record('doble', { reserve: 1, status: 0 }),
    record('otro'),
    record('DOBLE', { date_reg: '2024-05-05 05:05:05' }),
  ])
  assert.deepEqual(body, { status: 200, count: 2 })
  const found = await one('doble')
  assert.deepEqual([found?.reserved, found?.status, found?.date_reg], [0, 1, '2024-05-05 05:05:05'])
})

test('a Unicode name and its A-label are one domain', async () => {
  const { body } = await add(service, [
    record('peñón', { reserve: 0 }),
    record('xn--pen-8mak', { length: 5, reserve: 1 }),
  ])
  assert.deepEqual(body, { status: 200, count: 1 })
  assert.equal((await one('peñón'))?.reserved, 1)
})

test('50,000 records are accepted in one call, 50,001 are not', async () => {
  const many = Array.from({ length: 50_000 }, (_, i) => record(`masivo${i}`))
  const { body } = await add(service, [...many, record('masivosobra')])
  const msg = 'El parámetro data admite 50000 registros como máximo'
  assert.deepEqual(body, { status: 500, count: 0, msg, errors: [] })
  assert.deepEqual(await names(service, { search: 'masivo' }), [])
  await stored(service, many, { encoding: 'json' })
  assert.equal((await names(service, { search: 'masivo' })).length, 1_024)
})

test('date_mod is in the time zone that is set', async () => {
  await using other = await startService({ clock, flags: { 'time-zone': 'Asia/Kolkata' } })
  clock.advance(Date.parse('2026-07-15T12:00:00Z') - clock.now())
  await stored(other, [record('julio')])
  await stored(service, [record('julio')])
  const shown = await Promise.all([service, other].map((of) => records(of, { search: 'julio' })))
  assert.deepEqual(
    shown.flat().map(({ date_mod }) => date_mod),
    ['2026-07-15 08:00:00', '2026-07-15 17:30:00'],
  )
})
