import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { LIST, names, record, records, stored, update, walk } from '../support/domains.ts'
import { PLAIN_ORDERS, type PlainOrder } from '../support/expected-lists.ts'
import { call, type Fields } from '../support/http.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'

const DAY = 24 * 60 * 60 * 1000
/** In Santiago it is 8:00. */
const clock = new ManualClock('2026-03-02T11:00:00Z')

interface Known {
  readonly domain: string
  readonly status: number
  readonly date_reg: string
  readonly date_mod: string
  /** null if it is bought. */
  readonly deleted_at: string | null
}

/** Of few dates and lengths, so that names break many ties. */
const known: readonly Known[] = ['a', 'b', 'ñ', '1', 'ab', 'b-a', 'ñb', '1a', 'aab', 'zz', 'xx', 'wa'].map(
  (domain, i) => {
    const status = i % 3 === 0 ? 0 : 1
    const date_reg = `2026-0${i % 5 === 1 ? 2 : 1}-0${(i % 4) + 1} 10:00:00`
    const isDeletedLater = i % 6 === 4
    const date_mod = isDeletedLater ? '2026-03-03 08:00:00' : '2026-03-02 08:00:00'
    const deleted_at = isDeletedLater ? date_mod : status === 0 ? date_reg : null
    return { domain, status: isDeletedLater ? 0 : status, date_reg, date_mod, deleted_at }
  },
)

const KEYS: Readonly<Record<PlainOrder, (of: Known) => string | number>> = {
  registered: ({ date_reg }) => date_reg,
  deleted: ({ deleted_at, date_reg }) => deleted_at ?? date_reg,
  modified: ({ date_mod }) => date_mod,
  name: () => 0,
  length: ({ domain }) => domain.length,
  objection: ({ date_reg }) => date_reg,
}

/** In Santiago, 30 days before now is 31 January at 8:00. */
const canBeObjectedTo = ({ status, date_reg }: Known) => status === 1 && date_reg > '2026-01-31 08:00:00'

/** What a list should show, by the words of the reference. */
function sorted(order: PlainOrder, sort: string): string[] {
  const compare = (one: string | number, other: string | number) => (one < other ? -1 : one > other ? 1 : 0)
  const direction = sort === 'asc' ? 1 : -1
  const isLast = (of: Known) =>
    order === 'deleted' ? of.status : order === 'objection' ? Number(!canBeObjectedTo(of)) : 0
  return known
    .toSorted(
      (a, b) =>
        isLast(a) - isLast(b) ||
        direction * (compare(KEYS[order](a), KEYS[order](b)) || compare(a.domain, b.domain)),
    )
    .map(({ domain }) => domain)
}

async function fill(service: TestService) {
  await stored(
    service,
    known.map(({ domain, status, date_reg, date_mod }, i) =>
      record(domain, { status: date_mod.startsWith('2026-03-03') ? 1 : status, date_reg, reserve: i % 2 }),
    ),
  )
  clock.advance(DAY)
  const freed = known.filter(({ date_mod }) => date_mod.startsWith('2026-03-03'))
  assert.equal(freed.length, 2)
  const marks = freed.map(({ domain }) => ({ domain, status: 0 }))
  assert.deepEqual((await update(service, marks)).body, { status: 200, count: 2 })
  clock.advance(-DAY)
}

const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())
before(() => fill(service))

for (const order of PLAIN_ORDERS) {
  for (const sort of ['asc', 'desc']) {
    test(`list and export are sorted by ${order}, ${sort}`, async () => {
      const wanted = sorted(order, sort)
      assert.deepEqual(await names(service, { order, sort }), wanted)
      for (const limit of [1, 5, wanted.length]) {
        const walked = await walk(service, { order, sort, limit })
        assert.deepEqual(
          walked.map(({ name }) => name),
          wanted,
          `pages of ${limit}`,
        )
      }
      assert.deepEqual(await exported(service, { order, sort }), wanted)
      const reserved = wanted.filter((name) => known.findIndex(({ domain }) => domain === name) % 2 === 1)
      assert.deepEqual(await exported(service, { order, sort, reserve: '' }), reserved)
    })
  }
}

async function exported(of: TestService, query: Fields): Promise<string[]> {
  const given = { api: of.domainKey, format: 'ndjson', ...query }
  const { text } = await call(of, '/api/v1/domainwatch/export', { query: given })
  return text
    .trimEnd()
    .split('\n')
    .map((line) => String(JSON.parse(line).name))
}

test('order sorts the records of last_register and last_deleted', async () => {
  const newest = (await names(service, { last_register: 3 })).concat(
    await names(service, { last_deleted: 3 }),
  )
  for (const order of PLAIN_ORDERS) {
    const query = { last_register: 3, last_deleted: 3, order, sort: 'asc' }
    const wanted = sorted(order, 'asc').filter((name) => newest.includes(name))
    assert.deepEqual(await names(service, query), wanted, order)
    const walked = await walk(service, { ...query, limit: 2 })
    assert.deepEqual(
      walked.map(({ name }) => name),
      wanted,
      order,
    )
  }
})

test('filters apply to bought records at the end of an order by deletion', async () => {
  const order = 'deleted'
  const bought = sorted(order, 'desc').filter((name) =>
    known.some((of) => of.domain === name && of.status === 1),
  )
  assert.deepEqual(await names(service, { order, status: 1 }), bought)
  const freed = await names(service, { order, deleted_from: '2026-03-03' })
  assert.deepEqual(freed, ['xx', 'ab'])
})

async function toCursor(query: Fields): Promise<string> {
  const { headers } = await call(service, LIST, { query: { api: service.domainKey, limit: 2, ...query } })
  return new URL(/<([^>]*)>/.exec(headers.get('link') ?? '')?.[1] ?? '').searchParams.get('cursor') ?? ''
}

test('a cursor belongs to its order', async () => {
  const msg = 'El parámetro cursor debe ser el de la cabecera Link de la página anterior'
  const status = async (query: Fields) => {
    const reply = await call(service, LIST, { query: { api: service.domainKey, ...query } })
    if (reply.status !== 200) assert.deepEqual(reply.body, { status: 400, msg })
    return reply.status
  }
  for (const order of PLAIN_ORDERS) {
    const cursor = await toCursor({ order })
    for (const other of PLAIN_ORDERS) {
      const wanted = other === order ? 200 : 400
      assert.equal(await status({ order: other, cursor }), wanted, `${order} under ${other}`)
    }
    assert.equal(await status({ cursor }), order === 'registered' ? 200 : 400, order)
  }
  const ofDefault = await toCursor({})
  assert.equal(await status({ cursor: ofDefault, order: 'registered' }), 200)
  const ofDeleted = await toCursor({ last_deleted: 5 })
  assert.equal(await status({ cursor: ofDeleted, last_deleted: 5, order: 'deleted' }), 200)
})

test('a forged cursor is rejected or finds nothing', async () => {
  const forged = (text: string) => Buffer.from(text).toString('base64url')
  const status = async (query: Fields) =>
    (await call(service, LIST, { query: { api: service.domainKey, ...query } })).status
  for (const [order, text, wanted] of [
    ['length', '02a|||||length', 200],
    ['length', '99a|||||length', 200],
    ['length', '-1a|||||length', 400],
    ['length', '02|||||length', 400],
    ['length', 'xya|||||length', 400],
    ['name', '|||||name', 400],
    ['name', "a'; DROP TABLE domains|||||name", 200],
    ['name', '日本|||||name', 400],
    ['modified', 'a|||||modified', 400],
    ['modified', 'aaaaaaaaaaaaaaaaaaab|||||modified', 400],
    ['modified', '2026-03-02 08:00:00a|||||modificado', 400],
    ['modified', '2026-03-02 08:00:00a|||||modified|modified', 400],
    ['deleted', '2026-03-02 08:00:00a|||||bought', 200],
    ['registered', '2026-03-02 08:00:00a|||||bought', 400],
    ['name', 'a\0|||||name', 400],
    ['num_x', '-1.5 a|||||num_x', 200],
    ['num_x', '1.50 a|||||num_x', 400],
    ['num_x', ' a|||||num_x', 400],
    ['num_x', '1 |||||num_x', 400],
    ['num_x', '1 a|||||num_y', 400],
    ['num_x', '2026-03-02 08:00:00a|||||without_num_x', 200],
    ['num_y', '2026-03-02 08:00:00a|||||without_num_x', 400],
  ] as const) {
    assert.equal(await status({ order, cursor: forged(text) }), wanted, text)
  }
})

test('an unknown order is refused', async () => {
  for (const order of ['', 'date_reg', 'Name', 'name,length', 'num_', 'num_X', 'without_num_x']) {
    const { body } = await call(service, LIST, { query: { api: service.domainKey, order } })
    assert.deepEqual(body, {
      status: 400,
      msg: 'El parámetro order debe ser uno de: registered, deleted, modified, name, length, objection, interest, o num_ y una clave',
    })
  }
})

test('several words must all occur, in any order; one word is a plain text', async () => {
  await stored(service, [record('casa-sol'), record('solcasa'), record('casa'), record('ñandú-sol')])
  const found = async (search: string) =>
    (await names(service, { search, order: 'name', sort: 'asc' })).join()
  assert.equal(await found('casa sol'), 'casa-sol,solcasa')
  assert.equal(await found(' SOL   casa.cl '), 'casa-sol,solcasa')
  assert.equal(await found('sol xn--'), 'ñandú-sol')
  assert.equal(await found('casa\tsol'), '')
  assert.equal(await found(' casa .cl'), 'casa,casa-sol,solcasa')
  const { body } = await call(service, LIST, {
    query: { api: service.domainKey, search: 'Sol CASA', limit: 1 },
  })
  assert.equal((body as { query: string }).query, 'sol casa')
  assert.equal((await records(service, { search: 'gru po', agent: '' })).length, 0)
})
