import assert from 'node:assert/strict'
import { RECORD_FIELDS, type ListedRecord } from './domains.ts'
import { send, type Encoding, type Fields, type Reply } from './http.ts'
import type { TestService } from './service.ts'

export const QUEUE = '/api/v1/domainwatch/queue'

export interface Claimed {
  readonly status: number
  readonly count: number
  readonly remaining: number
  readonly until: string
  readonly data: readonly [readonly ListedRecord[]]
}

/** A claim that must succeed, its shape checked to the last field. */
export async function claim(
  service: Pick<TestService, 'url'>,
  api: string,
  fields: Fields = {},
  encoding: Encoding = 'urlencoded',
): Promise<Claimed & { readonly names: readonly string[] }> {
  const reply = await send(service, QUEUE, fields, { encoding, query: { api } })
  assert.equal(reply.status, 200, reply.text)
  // Its shape is asserted just below.
  const body = reply.body as Claimed
  assert.deepEqual(Object.keys(body), ['status', 'count', 'remaining', 'until', 'data'])
  assert.equal(body.data.length, 1)
  assert.equal(body.data[0].length, body.count)
  for (const each of body.data[0]) assert.deepEqual(Object.keys(each), RECORD_FIELDS)
  return { ...body, names: body.data[0].map(({ name }) => name) }
}

/** @param data undefined to release everything */
export function release(
  service: Pick<TestService, 'url'>,
  api: string,
  data?: unknown,
  encoding: Encoding = 'urlencoded',
): Promise<Reply> {
  const fields = data === undefined ? {} : { data }
  return send(service, QUEUE, fields, { encoding, method: 'DELETE', query: { api } })
}
