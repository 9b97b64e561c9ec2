/** The taste of the group is learned from its decisions, and sorts lists and the queue. */
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { LIST, names, record, stored, update, walk } from '../support/domains.ts'
import { noisyDecisions, TASTE_WORDS, tastedNames } from '../support/hidden-taste.ts'
import { call, send, type Fields } from '../support/http.ts'
import { claim, release } from '../support/queue.ts'
import { ManualClock, onTwoNodes, startService, type TestService } from '../support/service.ts'

const INTEREST = '/api/v1/domainwatch/interest'
const HOUR = 3_600_000
const DAY = 24 * HOUR

interface Interesting {
  readonly name: string
  readonly interest: number | null
  readonly because: readonly Record<string, unknown>[]
}

async function interesting(service: TestService, query: Fields = {}): Promise<readonly Interesting[]> {
  const given = { api: service.domainKey, fields: 'interest,because', ...query }
  const { body, text } = await call(service, LIST, { query: given })
  assert.equal(Object(body).status, 200, text)
  return Object(body).data[0]
}

const get = (service: TestService, query: Fields = {}) =>
  call(service, LIST, { query: { api: service.domainKey, order: 'interest', ...query } })

const forget = (service: TestService) =>
  call(service, INTEREST, { method: 'DELETE', query: { api: service.domainKey } })

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

suite('a hidden taste is learned', () => {
  for (const seed of [1, 2, 3]) {
    const skip = onTwoNodes !== false && seed > 1
    test(`from 500 decisions with noise, seed ${seed}`, { skip }, async (t) => {
      await using service = await startService({ flags: { words: TASTE_WORDS } })
      const all = await fill(service, seed, 2_500, 500)
      const isWanted = new Map(all.slice(500).map((one) => [one.name, one.isWanted]))
      const chance = [...isWanted.values()].filter(Boolean).length / isWanted.size
      assert.ok(chance > 0.15 && chance < 0.25, String(chance))
      const best = await interesting(service, { order: 'interest', ...UNDECIDED, limit: 50 })
      const wanted = best.filter(({ name }) => isWanted.get(name)).length
      t.diagnostic(`${wanted} of the best 50 are wanted, ${(chance * 100).toFixed(0)} of 100 by chance`)
      assert.ok(wanted >= 40, `only ${wanted} of 50`)
      let last = 100
      for (const { interest, because } of best) {
        assert.ok(interest !== null && interest <= last)
        last = interest
        assert.equal(because.length, 3)
        for (const reason of because) {
          assert.deepEqual(Object.keys(reason), ['kind', 'value', 'accepted', 'of', 'text'])
          assert.ok(Number(reason['accepted']) <= Number(reason['of']) && reason['text'] !== '')
        }
      }
      const { kind, value, text } =
        best.flatMap(({ because }) => because).find((one) => one['kind'] === 'length') ?? {}
      assert.deepEqual([kind, text], ['length', `${String(value)} letras`])
    })
  }
})

suite('lists and the queue', () => {
  test('have one order, on all pages, in both directions and in exports', async () => {
    await using service = await startService({ flags: { words: TASTE_WORDS } })
    await fill(service, 20, 1_000, 300)
    const order = { order: 'interest', status: 0 }
    const listed = await names(service, order)
    assert.equal(listed.length, 1_000)
    const scores = (await interesting(service, order)).map(({ interest }) => interest ?? 0)
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    )
    assert.ok((scores[0] ?? 0) > 60 && (scores.at(-1) ?? 100) < 10, `${scores[0]} to ${scores.at(-1)}`)
    const walked = await walk(service, { ...order, limit: 400 })
    assert.deepEqual(
      walked.map(({ name }) => name),
      listed,
    )
    assert.deepEqual(await names(service, { ...order, sort: 'asc' }), listed.toReversed())
    const { text } = await call(service, '/api/v1/domainwatch/export', {
      query: { api: service.domainKey, format: 'csv', fields: 'interest,because', ...order },
    })
    const lines = text.trimEnd().split('\r\n').slice(1)
    assert.deepEqual(
      lines.map((line) => line.split(',')[0]),
      listed,
    )
    assert.match(lines[0] ?? '', /,\d+,"?[^;]+; [^;]+; [^;]+$/)
    const newest = await names(service, { last_deleted: 30, order: 'interest' })
    assert.deepEqual(
      newest,
      listed.filter((name) => newest.includes(name)),
    )
    const undecided = await names(service, { ...order, ...UNDECIDED })
    const claimed = await claim(service, service.domainKey, { order: 'interest', limit: 100 })
    assert.deepEqual(claimed.names, undecided.slice(0, 100))
    assert.equal(claimed.remaining, undecided.length)
    await release(service, service.domainKey)
    const { body } = await send(
      service,
      '/api/v1/domainwatch/queue',
      { order: 'interest', limit: 1, fields: 'because' },
      { query: { api: service.domainKey } },
    )
    assert.equal(Object(body).data[0][0].because.length, 3)
  })

  test('are the same on both engines', async () => {
    await using service = await startService({ flags: { words: TASTE_WORDS } })
    await fill(service, 21, 200, 100)
    const { headers } = await get(service, { limit: 1 })
    const cursor = /cursor=([^&>]+)/.exec(headers.get('link') ?? '')?.[1] ?? ''
    assert.equal(Buffer.from(cursor, 'base64url').toString(), '0921703barrorio|||||interest|059eda2229015ca3')
  })

  test('a cursor keeps its model', async () => {
    const clock = new ManualClock('2026-03-02T11:00:00Z')
    await using service = await startService({ clock, flags: { words: TASTE_WORDS } })
    const all = await fill(service, 22, 600, 200)
    const before = await names(service, { order: 'interest' })
    const changed = all.slice(200, 260)
    const walked = await walk(service, { order: 'interest', limit: 300 }, async (page) => {
      if (page > 1) return
      // What was liked is not any more.
      const turned = changed.map(({ name, isWanted }) => ({
        domain: name,
        ...(isWanted ? { discarded: 1 } : { revision: 1 }),
      }))
      assert.equal((await update(service, turned)).status, 200)
      assert.deepEqual(await names(service, { order: 'interest' }), before, 'not twice in an hour')
      clock.advance(HOUR)
      assert.notDeepEqual(await names(service, { order: 'interest' }), before)
    })
    assert.deepEqual(
      walked.map(({ name }) => name),
      before,
    )
  })

  test('wait for 50 new decisions and an hour until the next training', async () => {
    const clock = new ManualClock('2026-03-02T11:00:00Z')
    await using service = await startService({ clock, flags: { words: TASTE_WORDS } })
    const all = await fill(service, 23, 400, 100)
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
    await stored(
      service,
      all.map((name) => record(name)),
    )
    const { status, body } = await get(service)
    assert.equal(status, 400)
    assert.deepEqual(body, {
      status: 400,
      missing: { wanted: 10, unwanted: 10, total: 50 },
      msg: 'Faltan 50 decisiones para ordenar por interés: al menos 10 en revisión y 10 de nombres descartados o vistos',
    })
    const { body: queued } = await send(
      service,
      '/api/v1/domainwatch/queue',
      { order: 'interest' },
      { query: { api: service.domainKey } },
    )
    assert.deepEqual(queued, body)
    const exported = await call(service, '/api/v1/domainwatch/export', {
      query: { api: service.domainKey, order: 'interest' },
    })
    assert.deepEqual(exported.body, body)
    const [one] = await interesting(service)
    assert.deepEqual([one?.interest, one?.because], [null, []])
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
    assert.equal(free?.name, 'nombre55')
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
