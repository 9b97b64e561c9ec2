import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  record,
  stored,
  storedNames,
  update,
  updateNames,
  wholeRecord,
  wholeRecords,
} from '../support/domains.ts'
import type { Fields } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'

const clock = new ManualClock('2026-01-15T12:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())
const MSG = 'El registro cambió mientras tanto'
const NOW = '2026-01-15 09:00:00'

const fresh = (name: string, fields: Fields = {}) => wholeRecord(name, { date_mod: NOW, ...fields })
const whole = async (name: string) => (await wholeRecords(service, { starts: name }))[0]

const conflict = (index: number, domain: string, fields: readonly string[], is: Fields) => ({
  index,
  field: 'expect',
  msg: `Ya no coincide: ${fields.join(', ')}`,
  domain,
  fields,
  record: fresh(domain, is),
})

test('a record that matches is stored: each field, all, none', async () => {
  await stored(service, [record('zigual')])
  const all = { status: 1, reserved: 0, revision: 0, discarded: 0, seen: 0, date_mod: NOW }
  for (const expect of [{}, all, ...Object.entries(all).map(([field, value]) => ({ [field]: value }))]) {
    const { body } = await update(service, [{ domain: 'zigual', expect }], { encoding: 'json' })
    assert.deepEqual(body, { status: 200, count: 1 })
  }
  assert.deepEqual(await whole('zigual'), fresh('zigual'))
})

test('a record that differs: 409 with the current records, and nothing is stored', async () => {
  await storedNames(service, ['zquieto', 'zotro', 'zvisto'])
  await update(service, [{ domain: 'zvisto', seen: 1, note: 'ya', discarded: 1 }])
  const reply = await update(
    service,
    [
      { domain: 'zotro', note: 'de paso' },
      { domain: 'ZVISTO', note: 'mío', expect: { seen: 0, discarded: 0, status: 1, date_mod: NOW } },
      { domain: 'zquieto', expect: { status: 1 } },
      { domain: 'zquieto', expect: { date_mod: '2026-01-15 08:59:59', status: 0 } },
      { domain: 'zvisto', expect: { revision: 1, reserved: 1 } },
    ],
    { encoding: 'json' },
  )
  const is = { seen: 1, seen_by: 'grupo', seen_at: NOW, note: 'ya', discarded: 1, discarded_at: NOW }
  assert.equal(reply.status, 409)
  assert.deepEqual(reply.body, {
    status: 409,
    count: 0,
    msg: MSG,
    errors: [
      conflict(1, 'zvisto', ['discarded', 'seen'], is),
      conflict(3, 'zquieto', ['status', 'date_mod'], {}),
      conflict(4, 'zvisto', ['reserved', 'revision'], is),
    ],
  })
  assert.deepEqual(await whole('zotro'), fresh('zotro'))
  assert.deepEqual(await whole('zvisto'), fresh('zvisto', is))
})

test('of very many conflicts the first hundred are listed', async () => {
  const names = Array.from({ length: 250 }, (_, i) => `muchos-${i}`)
  await storedNames(service, names)
  const { status, body } = await updateNames(service, names, { seen: 1, expect: { status: 0 } })
  assert.equal(status, 409)
  const { errors } = body as { errors: { index: number }[] }
  assert.deepEqual(
    errors.map(({ index }) => index),
    Array.from({ length: 100 }, (_, i) => i),
  )
})

test('of concurrent decisions one wins, and the others get its result', async () => {
  for (let round = 0; round < 3; round++) {
    const names = [`carrera-${round}-a`, `carrera-${round}-b`]
    await storedNames(service, names)
    const replies = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const marks = names.map((domain) => ({ domain, seen: 1, note: `de ${i}`, expect: { seen: 0 } }))
        return { i, reply: await update(service, i % 2 === 0 ? marks : marks.toReversed()) }
      }),
    )
    const winners = replies.filter(({ reply }) => reply.status === 200)
    assert.equal(winners.length, 1)
    const is = { seen: 1, seen_by: 'grupo', seen_at: NOW, note: `de ${winners[0]?.i}` }
    for (const { i, reply } of replies) {
      if (reply.status === 200) continue
      const order = i % 2 === 0 ? names : names.toReversed()
      const errors = order.map((domain, index) => conflict(index, domain, ['seen'], is))
      assert.deepEqual(reply.body, { status: 409, count: 0, msg: MSG, errors })
    }
    for (const name of names) assert.deepEqual(await whole(name), fresh(name, is))
  }
})
