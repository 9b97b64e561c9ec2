import assert from 'node:assert/strict'
import { toShape, toSyllables } from '../../src/lib/domain-names.ts'
import { eventually } from './eventually.ts'
import { call, nextQuery, send, type Encoding, type Fields, type Reply } from './http.ts'
import type { TestService } from './service.ts'

export const ADD = '/api/v1/domainwatch/add'
export const LIST = '/api/v1/domainwatch/list'
export const UPDATE = '/api/v1/domainwatch/update'
export const EVENTS = '/api/v1/domainwatch/events'
export const DNS = '/api/v1/domainwatch/dns'

/** A record as `list` returns it. */
export interface ListedRecord {
  readonly name: string
  readonly length: number
  readonly agent: string
  readonly status: number
  readonly reserved: number
  readonly revision: number
  readonly discarded: number
  readonly date_reg: string
  readonly date_mod: string
}

/** A good record of `add`, with what the test is about put in its place. */
export function record(domain: string, fields: Fields = {}) {
  const date_reg = '2025-12-31 14:30:34'
  return { domain, length: [...domain].length, reserve: 0, status: 1, date_reg, ...fields }
}

export interface Options {
  readonly key?: string
  readonly encoding?: Encoding
}

export function add(service: TestService, data: unknown, options: Options = {}): Promise<Reply> {
  const { key = service.domainKey, encoding = 'urlencoded' } = options
  return send(service, ADD, { data }, { encoding, query: { api: key } })
}

/** `add` that must succeed with this many records. */
export async function stored(service: TestService, data: readonly unknown[], options: Options = {}) {
  const { body } = await add(service, data, options)
  assert.deepEqual(body, { status: 200, count: new Set(data.map(nameOf)).size })
}

/** `add` of these names, which must succeed. */
export const storedNames = (service: TestService, names: readonly string[], fields: Fields = {}) =>
  stored(
    service,
    names.map((name) => record(name, fields)),
  )

/** `update` of these names. */
export const updateNames = (
  service: TestService,
  names: readonly string[],
  fields: Fields,
  options: Options = {},
) =>
  update(
    service,
    names.map((domain) => ({ domain, ...fields })),
    options,
  )

function nameOf(record: unknown): unknown {
  return typeof record === 'object' && record !== null && 'domain' in record ? record.domain : record
}

/** Removes all records, claims and dismissed names behind the back of the service: for a test that shares it and reads whole lists. */
export async function removeRecords(service: TestService): Promise<void> {
  await service.sql('DELETE FROM claims')
  await service.sql('DELETE FROM domains')
  await service.sql('DELETE FROM dismissed')
  await service.caughtUp()
  await eventually(async () => (await names(service)).length === 0, 'no records')
}

export function update(service: TestService, data: unknown, options: Options = {}): Promise<Reply> {
  const { key = service.domainKey, encoding = 'urlencoded' } = options
  return send(service, UPDATE, { data }, { encoding, query: { api: key } })
}

export interface Listing {
  readonly status: number
  readonly count: number
  readonly query: string
  readonly data: readonly [readonly ListedRecord[]]
}

/** A list that must succeed, its shape checked to the last field. */
export async function list(service: TestService, query: Fields = {}): Promise<Listing> {
  const reply = await call(service, LIST, { query: { api: service.domainKey, ...query } })
  return listing(reply)
}

function listing(reply: Reply): Listing {
  assert.equal(reply.status, 200, reply.text)
  // Its shape is asserted just below.
  const body = reply.body as Listing
  assert.deepEqual(Object.keys(body), ['status', 'count', 'query', 'data'])
  assert.equal(body.data.length, 1)
  assert.equal(body.data[0].length, body.count)
  for (const each of body.data[0]) assert.deepEqual(Object.keys(each), RECORD_FIELDS)
  return body
}

export const RECORD_FIELDS = [
  'name',
  'length',
  'agent',
  'status',
  'reserved',
  'revision',
  'discarded',
  'date_reg',
  'date_mod',
]

export async function records(service: TestService, query: Fields = {}): Promise<readonly ListedRecord[]> {
  return (await list(service, query)).data[0]
}

/** The records of a list with further fields: all, unless `query` says which. */
export async function wholeRecords(service: TestService, query: Fields = {}): Promise<readonly Fields[]> {
  const given = { api: service.domainKey, fields: 'all', ...query }
  const { status, body, text } = await call(service, LIST, { query: given })
  assert.equal(status, 200, text)
  return Object(body).data[0]
}

/** These fields of the record of a name, which must exist. */
export async function getFields(
  service: TestService,
  name: string,
  ...fields: readonly string[]
): Promise<Fields> {
  const all = await wholeRecords(service, { search: name, length: [...name].length })
  const found = all.find((one) => one['name'] === name)
  assert.ok(found !== undefined, name)
  return Object.fromEntries(fields.map((field) => [field, found[field]]))
}

/** The fields of a new record, with what the test is about put in their place, as a list shows them with `fields=all`. */
export const wholeRecord = (name: string, fields: Fields = {}): Fields => ({
  name,
  length: name.length,
  agent: 'grupo',
  status: 1,
  reserved: 0,
  revision: 0,
  discarded: 0,
  date_reg: '2025-12-31 14:30:34',
  seen: 0,
  seen_by: null,
  seen_at: null,
  note: '',
  tags: [],
  words: [],
  claimed_by: null,
  claimed_until: null,
  deleted_at: null,
  deleted_after: null,
  discarded_at: null,
  date_reg_known: 1,
  dismissed_by: null,
  dismissed_at: null,
  shape: toShape(name),
  syllables: toSyllables(name),
  demand: null,
  twins: [],
  drops: 0,
  age: 0,
  object_until: '2026-01-30 14:30:34',
  interest: null,
  because: [],
  numbers: {},
  ...fields,
})

/** The names in an export, in its order. */
export async function exportedNames(service: TestService, query: Fields = {}): Promise<string[]> {
  const given = { api: service.domainKey, format: 'ndjson', ...query }
  const { text } = await call(service, '/api/v1/domainwatch/export', { query: given })
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => String(JSON.parse(line).name))
}

export async function names(service: TestService, query: Fields = {}): Promise<string[]> {
  return (await records(service, query)).map(({ name }) => name)
}

/** The pages of a list from the first to the last, by their `Link` headers, `between` run after each. */
export async function walk(
  service: TestService,
  query: Fields,
  between: (page: number) => Promise<void> = async () => {},
): Promise<ListedRecord[]> {
  const all: ListedRecord[] = []
  let next: Fields | undefined = { api: service.domainKey, ...query }
  for (let page = 1; next !== undefined; page++) {
    if (page > 1) await between(page - 1)
    const reply = await call(service, LIST, { query: next })
    all.push(...listing(reply).data[0])
    next = nextQuery(service, LIST, reply)
  }
  return all
}

/** The names on the pages of a list from the first to the last. */
export const walkNames = async (...given: Parameters<typeof walk>): Promise<string[]> =>
  (await walk(...given)).map(({ name }) => name)
