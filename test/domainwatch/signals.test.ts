import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { names, record, stored, update, walkNames, wholeRecords } from '../support/domains.ts'
import type { Fields } from '../support/http.ts'
import { areTwins } from '../support/plain-signals.ts'
import { ManualClock, startService } from '../support/service.ts'

const DAY = 86_400_000
/** In Santiago it is 8:00. */
const clock = new ManualClock('2026-03-02T11:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())

/** The field of a record. */
const shown = async (pattern: string, fields: string) =>
  (await wholeRecords(service, { pattern, fields }))[0]?.[fields]

const state = async (domain: string, status: number) =>
  assert.equal((await update(service, [{ domain, status }])).status, 200)

test('drops count how often a name became free, also across dismissals', async () => {
  const drops = async () => {
    const count = Number(await shown('caidas', 'drops'))
    const found = [1, 2, 3, 4, 5].map((min) => names(service, { search: 'caidas', drops_min: min }))
    const lists = await Promise.all(found)
    assert.deepEqual(
      lists.map((list) => list.length),
      [1, 2, 3, 4, 5].map((min) => (min <= count ? 1 : 0)),
    )
    return count
  }
  await stored(service, [record('caidas')])
  assert.equal(await drops(), 0)
  await state('caidas', 0)
  assert.equal(await drops(), 1)
  await state('caidas', 1)
  assert.equal(await drops(), 1)
  await state('caidas', 0)
  assert.equal(await drops(), 2)
  await update(service, [{ domain: 'caidas', discarded: 1 }])
  clock.advance(7 * DAY)
  assert.equal(await shown('caidas', 'drops'), undefined)
  await stored(service, [record('caidas', { date_reg: '2026-03-09 08:00:00' })])
  assert.equal(await drops(), 2)
  await state('caidas', 0)
  assert.equal(await drops(), 3)
  await stored(service, [record('primero-libre', { status: 0 })])
  assert.equal(await shown('primero-libre', 'drops'), 1)
  clock.advance(-7 * DAY)
})

test('age is in whole years, to the second', async () => {
  await stored(service, [
    record('bisiesto', { date_reg: '2024-02-29 08:00:01' }),
    record('cumple', { date_reg: '2024-03-02 08:00:00' }),
    record('casi', { date_reg: '2024-03-02 08:00:01' }),
    record('muerto', { date_reg: '2020-01-01 00:00:00' }),
    record('futuro', { date_reg: '2026-03-02 12:00:00' }),
  ])
  clock.advance(-DAY)
  await state('muerto', 0)
  clock.advance(DAY)
  const ages = { bisiesto: 2, cumple: 2, casi: 1, muerto: 6, futuro: 0 }
  for (const [name, age] of Object.entries(ages)) {
    assert.equal(await shown(name, 'age'), age, name)
    assert.deepEqual(await names(service, { pattern: name, age_min: age + 1 }), [], name)
    if (age > 0) assert.deepEqual(await names(service, { pattern: name, age_min: age }), [name], name)
  }
  clock.advance(365 * DAY)
  assert.equal(await shown('muerto', 'age'), 6)
  assert.equal(await shown('casi', 'age'), 2)
  clock.advance(-365 * DAY)
})

test('one can object for 30 days after the registration of a bought name', async () => {
  await stored(service, [
    record('obj-ayer', { date_reg: '2026-03-01 10:00:00' }),
    record('obj-antes', { date_reg: '2026-01-31 08:00:01' }),
    record('obj-pasado', { date_reg: '2026-01-31 08:00:00' }),
    record('obj-libre', { status: 0, date_reg: '2026-03-01 10:00:00' }),
  ])
  assert.equal(await shown('obj-ayer', 'object_until'), '2026-03-31 10:00:00')
  assert.equal(await shown('obj-antes', 'object_until'), '2026-03-02 08:00:01')
  assert.equal(await shown('obj-pasado', 'object_until'), null)
  assert.equal(await shown('obj-libre', 'object_until'), null)
  const found = (query: Fields) => names(service, { starts: 'obj-', sort: 'asc', ...query })
  assert.deepEqual(await found({ objection: 1, order: 'objection' }), ['obj-antes', 'obj-ayer'])
  assert.deepEqual(await found({ objection: 0 }), ['obj-pasado', 'obj-libre'])
  const all = ['obj-antes', 'obj-ayer', 'obj-pasado', 'obj-libre']
  assert.deepEqual(await found({ order: 'objection' }), all)
  const latest = ['obj-ayer', 'obj-antes', 'obj-libre', 'obj-pasado']
  assert.deepEqual(await names(service, { starts: 'obj-', order: 'objection' }), latest)
})

test('pages in the order of objections neither skip nor repeat a name whose time ends meanwhile', async () => {
  const ends = Array.from({ length: 5 }, (_, i) => `2026-01-31 08:00:0${i + 1}`)
  await stored(
    service,
    ends.map((date_reg, i) => record(`fin-${i}`, { date_reg })),
  )
  const query = { starts: 'fin-', order: 'objection', limit: 1 }
  for (const sort of ['asc', 'desc']) {
    const wanted = await names(service, { ...query, sort, limit: 5 })
    assert.deepEqual(await walkNames(service, { ...query, sort }, async () => clock.advance(1_000)), wanted)
    clock.advance(-4_000)
  }
})

test('twins are the first ten by name, bought or free', async () => {
  const twins = ['nandues', 'ñandu', 'nandu', 'na-ndu', 'nandus', 'ñandúes', 'n-andú']
  await stored(service, [
    ...twins.map((name, i) => record(name, { status: i === 0 ? 1 : 0 })),
    record('na-ndu-ss'),
    record('gemelo'),
  ])
  assert.deepEqual(await shown('ñandú', 'twins'), undefined)
  const others = (name: string) =>
    [...twins, 'na-ndu-ss'].filter((one) => one !== name && areTwins(one, name)).sort()
  for (const name of twins) assert.deepEqual(await shown(name, 'twins'), others(name), name)
  assert.deepEqual(await shown('gemelo', 'twins'), [])
  const found = async (twin: number) => (await names(service, { search: 'nd', twin })).toSorted()
  const withBought = twins.filter((name) => name !== 'nandues' && areTwins(name, 'nandues'))
  // The plural of the last one is bought.
  assert.deepEqual(await found(1), [...new Set([...withBought, 'nandus'])].toSorted())
  await state('nandues', 0)
  await state('na-ndu-ss', 0)
  assert.deepEqual(await found(1), [])
  const letters = [...'abcdefghijkl']
  await stored(
    service,
    letters.map((_, i) =>
      record(`${letters.slice(0, i).join('')}-${letters.slice(i).join('')}`.replace(/^-/, '')),
    ),
  )
  const all = (await names(service, { pattern: '*l', starts: 'a' })).toSorted()
  assert.equal(all.length, 12)
  assert.deepEqual(
    await shown('abcdefghijkl', 'twins'),
    all.filter((name) => name !== 'abcdefghijkl').slice(0, 10),
  )
})

test('demand counts the bought names that have each word', async () => {
  const bought = ['casa-sol', 'casa-mar', 'casa-luz', 'sol-luz', 'luz-casa-luz']
  await stored(service, [...bought.map((name) => record(name)), record('mar-sol', { status: 0 })])
  const demand = async () => Promise.all([...bought, 'mar-sol'].map((name) => shown(name, 'demand')))
  assert.deepEqual(await demand(), [2, 1, 3, 2, 3, 1])
  await update(service, [{ domain: 'casa-luz', discarded: 1 }])
  assert.deepEqual(await demand(), [2, 1, 2, 2, 2, 1])
  await state('mar-sol', 1)
  assert.deepEqual(await demand(), [3, 2, 2, 2, 2, 2])
  assert.deepEqual((await names(service, { search: 'sol', demand_min: 3 })).toSorted(), ['casa-sol'])
})
