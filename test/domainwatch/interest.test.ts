/** The taste of the group is learned from its decisions, and sorts lists and the queue. */
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import {
  exportedNames,
  LIST,
  names,
  record,
  stored,
  storedNames,
  update,
  walkNames,
  wholeRecords,
} from '../support/domains.ts'
import { noisyDecisions, TASTE_WORDS, tastedNames, type TastedName } from '../support/hidden-taste.ts'
import { call, send, type Fields } from '../support/http.ts'
import { claim, release } from '../support/queue.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const QUEUE = '/api/v1/domainwatch/queue'

const interesting = (service: TestService, query: Fields = {}) =>
  wholeRecords(service, { fields: 'interest,because', ...query })

const get = (service: TestService, query: Fields = {}) =>
  call(service, LIST, { query: { api: service.domainKey, order: 'interest', ...query } })

const forget = (service: TestService) =>
  call(service, '/api/v1/domainwatch/interest', { method: 'DELETE', query: { api: service.domainKey } })

/** Stores names, and the decisions on the first of them. */
async function fill(service: TestService, seed: number, count: number, decided: number) {
  const all = tastedNames(seed, count)
  await stored(
    service,
    all.map(({ name }) => record(name, { status: 0 })),
  )
  const { body } = await update(service, noisyDecisions(all.slice(0, decided), seed + 1_000))
  assert.deepEqual(body, { status: 200, count: decided })
  return all
}

const UNDECIDED = { seen: 0, revision: 0, discarded: 0 }

suite('a hidden taste', () => {
  let service: TestService
  let all: readonly TastedName[]
  test.before(async () => {
    service = await startService({ flags: { words: TASTE_WORDS } })
    all = await fill(service, 1, 2_500, 500)
  })
  after(() => service[Symbol.asyncDispose]())

  test('is learned from 500 decisions with noise, and gives its reasons', async (t) => {
    const isWanted = new Map(all.slice(500).map((one) => [one.name, one.isWanted]))
    const chance = [...isWanted.values()].filter(Boolean).length / isWanted.size
    assert.ok(chance > 0.15 && chance < 0.25, String(chance))
    const best = await interesting(service, { order: 'interest', ...UNDECIDED, limit: 50 })
    const wanted = best.filter(({ name }) => isWanted.get(String(name))).length
    t.diagnostic(`${wanted} of the best 50 are wanted, ${(chance * 100).toFixed(0)} of 100 by chance`)
    assert.ok(wanted >= 40, `only ${wanted} of 50`)
    const all50 = best.flatMap(({ because }): Fields[] => Object(because))
    assert.equal(all50.length, 150)
    for (const reason of all50) {
      assert.deepEqual(Object.keys(reason), ['kind', 'value', 'accepted', 'of', 'text'])
      assert.ok(Number(reason['accepted']) <= Number(reason['of']) && reason['text'] !== '')
    }
    const { value, text } = all50.find(({ kind }) => kind === 'length') ?? {}
    assert.equal(text, `${String(value)} letras`)
  })

  test('sorts lists, on all pages and in both directions, exports and the queue', async () => {
    const order = { order: 'interest', starts: 'c', status: 0 }
    const listed = await names(service, order)
    assert.ok(listed.length > 100 && listed.length < 1_024, String(listed.length))
    const scores = (await interesting(service, order)).map(({ interest }) => Number(interest))
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    )
    assert.ok((scores[0] ?? 0) > 60 && (scores.at(-1) ?? 100) < 10, `${scores[0]} to ${scores.at(-1)}`)
    assert.deepEqual(await walkNames(service, { ...order, limit: 90 }), listed)
    assert.deepEqual(await names(service, { ...order, sort: 'asc' }), listed.toReversed())
    assert.deepEqual(await exportedNames(service, order), listed)
    const { text } = await call(service, '/api/v1/domainwatch/export', {
      query: { api: service.domainKey, format: 'csv', fields: 'interest,because', ...order },
    })
    assert.match(text.split('\r\n')[1] ?? '', /,\d+,"?[^;]+; [^;]+; [^;]+$/)
    const newest = await names(service, { ...order, last_deleted: 30 })
    assert.deepEqual(
      newest,
      listed.filter((name) => newest.includes(name)),
    )
    const undecided = await names(service, { ...order, ...UNDECIDED })
    const claimed = await claim(service, service.domainKey, { ...order, limit: 100 })
    assert.deepEqual(claimed.names, undecided.slice(0, 100))
    assert.equal(claimed.remaining, undecided.length)
    await release(service, service.domainKey)
    const fields = { ...order, limit: 1, fields: 'because' }
    const { body } = await send(service, QUEUE, fields, { query: { api: service.domainKey } })
    assert.equal(Object(body).data[0][0].because.length, 3)
  })
})

suite('training', () => {
  const clock = new ManualClock('2026-03-02T11:00:00Z')
  let service: TestService
  let all: readonly TastedName[]
  test.before(async () => {
    service = await startService({ clock, flags: { words: TASTE_WORDS } })
    all = await fill(service, 21, 400, 100)
  })
  after(() => service[Symbol.asyncDispose]())

  test('is the same on both engines', async () => {
    const { headers } = await get(service, { limit: 1 })
    const cursor = /cursor=([^&>]+)/.exec(headers.get('link') ?? '')?.[1] ?? ''
    assert.equal(Buffer.from(cursor, 'base64url').toString(), '921703 barrorio|||||interest|059eda2229015ca3')
  })

  test('waits for 50 new decisions and an hour until the next one', async () => {
    const scores = async () =>
      (await interesting(service, { order: 'name' })).map(({ name, interest, because }) =>
        JSON.stringify([name, interest, because]),
      )
    const first = await scores()
    clock.advance(HOUR)
    const decide = (from: number, to: number) => update(service, noisyDecisions(all.slice(from, to), 7))
    await decide(100, 149)
    assert.deepEqual(await scores(), first)
    await decide(149, 150)
    const second = await scores()
    assert.notDeepEqual(second, first)
    await decide(150, 250)
    clock.advance(HOUR - 1)
    assert.deepEqual(await scores(), second)
    clock.advance(1)
    assert.notDeepEqual(await scores(), second)
  })

  test('leaves the pages of a cursor to the model that began them', async () => {
    const before = await names(service, { order: 'interest' })
    const walked = await walkNames(service, { order: 'interest', limit: 300 }, async (page) => {
      if (page > 1) return
      // What was liked is not any more.
      const turned = all.slice(250, 310).map(({ name, isWanted }) => ({
        domain: name,
        ...(isWanted ? { discarded: 1 } : { revision: 1 }),
      }))
      assert.equal((await update(service, turned)).status, 200)
      assert.deepEqual(await names(service, { order: 'interest' }), before, 'not twice in an hour')
      clock.advance(HOUR)
      assert.notDeepEqual(await names(service, { order: 'interest' }), before)
    })
    assert.deepEqual(walked, before)
  })
})

suite('decisions', () => {
  const clock = new ManualClock('2026-03-02T11:00:00Z')
  let service: TestService
  test.before(async () => {
    service = await startService({ clock })
  })
  after(() => service[Symbol.asyncDispose]())

  const missing = async () => {
    const { body } = await get(service)
    const { status, msg, missing: counts } = Object(body)
    return status === 200 ? undefined : [msg, counts]
  }
  const decide = (fields: Fields, ...domains: readonly string[]) =>
    update(
      service,
      domains.map((domain) => ({ domain, ...fields })),
    )

  test('must be enough, of each kind and in all', async () => {
    const all = Array.from({ length: 60 }, (_, i) => `nombre${String(i).padStart(2, '0')}`)
    await storedNames(service, all)
    const { status, body } = await get(service)
    assert.equal(status, 400)
    assert.deepEqual(body, {
      status: 400,
      missing: { wanted: 10, unwanted: 10, total: 50 },
      msg: 'Faltan 50 decisiones para ordenar por interés: al menos 10 en revisión y 10 de nombres descartados o vistos',
    })
    const query = { api: service.domainKey }
    const { body: queued } = await send(service, QUEUE, { order: 'interest' }, { query })
    assert.deepEqual(queued, body)
    const exported = await call(service, '/api/v1/domainwatch/export', {
      query: { api: service.domainKey, order: 'interest' },
    })
    assert.deepEqual(exported.body, body)
    const [one] = await interesting(service)
    assert.deepEqual([one?.['interest'], one?.['because']], [null, []])
    await decide({ revision: 1 }, ...all.slice(0, 9))
    await decide({ seen: 1 }, ...all.slice(9, 49))
    assert.deepEqual(await missing(), [
      'Falta 1 decisión para ordenar por interés: al menos 1 en revisión',
      { wanted: 1, unwanted: 0, total: 1 },
    ])
    await decide({ revision: 1, seen: 1 }, all[49] ?? '')
    assert.equal(await missing(), undefined)
  })

  test('are forgotten on demand, and count again when made again', async () => {
    assert.deepEqual((await forget(service)).body, { status: 200, count: 50 })
    assert.deepEqual((await missing())?.[1], { wanted: 10, unwanted: 10, total: 50 })
    assert.deepEqual((await forget(service)).body, { status: 200, count: 0 })
    // Notes and tags do not decide anything.
    await decide({ note: 'x', tags: ['x'] }, 'nombre01', 'nombre12')
    assert.deepEqual((await missing())?.[1], { wanted: 10, unwanted: 10, total: 50 })
    await decide({ revision: 0 }, 'nombre01')
    await decide({ revision: 1 }, 'nombre01')
    await decide({ discarded: 1 }, 'nombre01', 'nombre55')
    assert.deepEqual((await missing())?.[1], { wanted: 10, unwanted: 8, total: 48 })
  })

  test('are withdrawn with their mark, but not by a change of status', async () => {
    await decide({ discarded: 0 }, 'nombre55')
    assert.deepEqual((await missing())?.[1], { wanted: 10, unwanted: 9, total: 49 })
    await decide({ seen: 1 }, 'nombre55')
    await decide({ status: 0 }, 'nombre55')
    assert.deepEqual((await missing())?.[1], { wanted: 10, unwanted: 8, total: 48 })
    const [free] = await interesting(service, { pattern: 'nombre55', seen: 0 })
    assert.equal(free?.['name'], 'nombre55')
  })

  test('count beyond the removal of their records', async () => {
    await decide({ discarded: 1 }, 'nombre56', 'nombre57')
    clock.advance(8 * DAY)
    await stored(service, [record('otro')])
    assert.deepEqual(await names(service, { search: 'nombre56' }), [])
    assert.deepEqual((await missing())?.[1], { wanted: 10, unwanted: 6, total: 46 })
    await stored(service, [record('nombre56')])
    assert.deepEqual((await missing())?.[1], { wanted: 10, unwanted: 6, total: 46 })
  })

  test('of rules know nothing of interest', async () => {
    for (const fields of [{ interest: 1 }, { order: 'interest' }]) {
      const { status } = await send(
        service,
        '/api/v1/domainwatch/rules',
        { name: 'x', action: 'hide', ...fields },
        { query: { api: service.domainKey } },
      )
      assert.equal(status, 400)
    }
  })
})
