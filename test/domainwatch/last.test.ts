import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { names, record, stored, update } from '../support/domains.ts'
import type { Fields } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'

const HOUR = 3_600_000

/**
 * By registration: r4 r3 (both of 2025-04) r2 r1. By deletion: d3, then soltado (its status became 0 today), then
 * d1 and d2 of one moment.
 */
const clock = new ManualClock('2025-06-01T12:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())
before(async () => {
  await stored(service, [
    record('r1', { date_reg: '2025-01-01 00:00:00' }),
    record('r2', { date_reg: '2025-02-01 00:00:00', reserve: 1 }),
    record('r3', { date_reg: '2025-04-01 00:00:00' }),
    record('r4', { date_reg: '2025-04-01 00:00:00', reserve: 1 }),
    record('soltado', { date_reg: '2010-01-01 00:00:00' }),
    record('d1', { date_reg: '2025-05-01 00:00:00', status: 0 }),
    record('d2', { date_reg: '2025-05-01 00:00:00', status: 0, reserve: 1 }),
    record('d3', { date_reg: '2025-12-01 00:00:00', status: 0 }),
  ])
  clock.advance(HOUR)
  await stored(service, [record('soltado', { date_reg: '2010-01-01 00:00:00', status: 0 })])
})

const CASES: readonly [Fields, readonly string[]][] = [
  [{ last_register: 1 }, ['r4']],
  [{ last_register: 3 }, ['r4', 'r3', 'r2']],
  [{ last_register: 3, sort: 'asc' }, ['r2', 'r3', 'r4']],
  [{ last_register: 1024 }, ['r4', 'r3', 'r2', 'r1']],
  [{ last_register: 2, reserve: '' }, ['r4', 'r2']],
  [{ last_register: 2, search: '1' }, ['r1']],
  [{ last_register: 2, status: 0 }, []],
  [{ last_deleted: 1 }, ['d3']],
  [{ last_deleted: 3 }, ['d3', 'soltado', 'd2']],
  [{ last_deleted: 3, sort: 'asc' }, ['d2', 'soltado', 'd3']],
  [{ last_deleted: 1024 }, ['d3', 'soltado', 'd2', 'd1']],
  [{ last_deleted: 1, reserve: '' }, ['d2']],
  [{ last_deleted: 9, length: 2, sort: 'asc' }, ['d1', 'd2', 'd3']],
  [{ last_deleted: 2, status: 1 }, []],
  [{ last_register: 2, last_deleted: 2 }, ['d3', 'r4', 'r3', 'soltado']],
  [{ last_register: 2, last_deleted: 2, sort: 'asc' }, ['soltado', 'r3', 'r4', 'd3']],
  [{ last_register: 2, last_deleted: 2, status: 1 }, ['r4', 'r3']],
  [{ last_register: 1024, last_deleted: 1024, limit: 3 }, ['d3', 'd2', 'd1']],
]

for (const [query, wanted] of CASES) {
  test(`list with ${JSON.stringify(query)}`, async () => {
    assert.deepEqual(await names(service, query), wanted)
  })
}

test('last_deleted is ordered by the time of deletion', async () => {
  const at = (domain: string, status: number) => record(domain, { status, date_reg: '2020-01-01 00:00:00' })
  const order = () => names(service, { last_deleted: 9, min_length: 4, not: 'soltado' })
  await stored(service, [record('fija', { status: 0, date_reg: '2025-06-01 12:00:00' })])
  await stored(service, [at('primera', 1), at('segunda', 1), at('siempre', 0)])
  // First recorded as deleted: at date_reg.
  assert.deepEqual(await order(), ['fija', 'siempre'])
  clock.advance(10 * HOUR)
  await stored(service, [at('segunda', 0)])
  clock.advance(HOUR)
  await update(service, [{ domain: 'primera', status: 0 }])
  assert.deepEqual(await order(), ['primera', 'segunda', 'fija', 'siempre'])
  // Sent again, or marked again: it was deleted when it was.
  clock.advance(HOUR)
  await stored(service, [at('segunda', 0)])
  await update(service, [{ domain: 'segunda', status: 0, reserve: 1 }])
  assert.deepEqual(await order(), ['primera', 'segunda', 'fija', 'siempre'])
  // Bought and deleted again: from now on.
  await stored(service, [at('segunda', 1)])
  assert.deepEqual(await order(), ['primera', 'fija', 'siempre'])
  await update(service, [{ domain: 'segunda', status: 0 }])
  assert.deepEqual(await order(), ['segunda', 'primera', 'fija', 'siempre'])
  // Bought by an update and deleted again.
  await update(service, [{ domain: 'siempre', status: 1 }])
  clock.advance(HOUR)
  await stored(service, [at('siempre', 0)])
  assert.deepEqual(await order(), ['siempre', 'segunda', 'primera', 'fija'])
})
