import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { LIST, names, record, stored, walkNames } from '../support/domains.ts'
import { propertyRuns } from '../support/effort.ts'
import { call, type Fields } from '../support/http.ts'
import { startService } from '../support/service.ts'

/**
 * What others do between two pages: a new record or a change of one, at a date that may fall anywhere in the list.
 * Few dates, so that names break many ties.
 */
const write = fc.record({
  name: fc.integer({ min: 0, max: 39 }),
  day: fc.integer({ min: 1, max: 5 }),
  status: fc.constantFrom(0, 1),
  reserve: fc.constantFrom(0, 1),
})
type Write = typeof write extends fc.Arbitrary<infer T> ? T : never

const dated = ({ name, day, status, reserve }: Write, prefix: string) =>
  record(`${prefix}${name}`, { date_reg: `2025-01-0${day} 00:00:00`, status, reserve })

const WALKS: readonly Fields[] = [
  {},
  { status: 1 },
  { reserve: '' },
  { search: '1' },
  { last_register: 9 },
  { last_deleted: 9 },
  { last_register: 7, last_deleted: 6 },
  { last_register: 5, reserve: '' },
  { order: 'deleted' },
  { order: 'deleted', reserved: 1 },
  { order: 'modified' },
  { order: 'name' },
  { order: 'length', status: 0 },
  { last_register: 7, last_deleted: 6, order: 'deleted' },
  { last_deleted: 9, order: 'length' },
]

const service = await startService()
after(() => service[Symbol.asyncDispose]())
let runs = 0

test('pages neither skip nor repeat an unchanged record during concurrent writes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(write, { minLength: 1, maxLength: 30, selector: ({ name }) => name }),
      fc.array(fc.array(write, { maxLength: 4 }), { maxLength: 8 }),
      fc.constantFrom(...WALKS),
      fc.constantFrom('asc', 'desc'),
      fc.integer({ min: 1, max: 7 }),
      async (initial, writes, filters, sort, limit) => {
        // A prefix of its own keeps each run apart from the records of those before.
        const prefix = `p${runs++}x`
        const search = 'search' in filters ? `${prefix}1` : prefix
        const query = { ...filters, search, sort }
        await stored(
          service,
          initial.map((each) => dated(each, prefix)),
        )
        const expected = await names(service, query)
        const touched = new Set<string>()
        const seen = await walkNames(service, { ...query, limit }, async (page) => {
          const now = writes[page - 1] ?? []
          if (now.length === 0) return
          for (const { name } of now) touched.add(`${prefix}${name}`)
          const last = new Map(now.map((each) => [each.name, dated(each, prefix)]))
          await stored(service, [...last.values()])
        })
        const unchanged = (name: string) => !touched.has(name)
        assert.deepEqual(seen.filter(unchanged), expected.filter(unchanged))
      },
    ),
    { numRuns: propertyRuns(150) },
  )
})

test('the next page keeps the parameters, unusual characters included', async () => {
  await stored(service, [
    record('odd1', { agent: 'a?b&c=d #é' }),
    record('odd2', { agent: 'a?b&c=d #é' }),
    record('odd3', { agent: 'otro' }),
  ])
  const query = { search: '?b&c=d #é', agent: '', limit: 1, sort: 'asc' }
  assert.deepEqual(await walkNames(service, query), ['odd1', 'odd2'])
})

test('a cursor does not replace the key', async () => {
  const query = { api: service.domainKey, limit: 1 }
  const link = (await call(service, LIST, { query })).headers.get('link') ?? ''
  const cursor = new URL(/<([^>]*)>/.exec(link)?.[1] ?? '').searchParams.get('cursor')
  assert.equal((await call(service, LIST, { query: { cursor } })).status, 401)
})

test('a cursor has exactly one encoding', async () => {
  const records = ['una', 'doss', 'treses'].map((end) => record(`deletreo${end}`))
  await stored(service, records)
  const query = { api: service.domainKey, search: 'deletreo', limit: 1 }
  const next = (await call(service, LIST, { query })).headers.get('link') ?? ''
  const cursor = new URL(/<([^>]*)>/.exec(next)?.[1] ?? '').searchParams.get('cursor') ?? ''
  assert.equal((await call(service, LIST, { query: { ...query, cursor } })).status, 200)
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const others = [...letters].map((last) => cursor.slice(0, -1) + last).filter((other) => other !== cursor)
  for (const other of [`${cursor}=`, ` ${cursor}`, `${cursor}!`, cursor.replace(/^.{4}/, '$& ')]) {
    assert.equal((await call(service, LIST, { query: { ...query, cursor: other } })).status, 400, other)
  }
  // Where the last character has unused bits, texts that differ in them only decode to the same cursor.
  const decoded = Buffer.from(cursor, 'base64url')
  for (const other of others.filter((one) => Buffer.from(one, 'base64url').equals(decoded))) {
    assert.equal((await call(service, LIST, { query: { ...query, cursor: other } })).status, 400, other)
  }
})
