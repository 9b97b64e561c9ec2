import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { record, stored, update } from '../support/domains.ts'
import { call, type Fields } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'

const EXPORT = '/api/v1/domainwatch/export'
const HEAD = 'name,length,agent,status,reserved,revision,discarded,date_reg,date_mod,deleted_at,discarded_at'

const clock = new ManualClock('2026-01-02T12:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())

async function exported(query: Fields = {}) {
  return call(service, EXPORT, { query: { api: service.domainKey, ...query } })
}

test('both formats have every record and field, with the filters and orders of list', async () => {
  await stored(service, [
    record('uno'),
    record('ñandú', { status: 0, agent: 'a,"b"', date_reg: '2025-12-30 00:00:00' }),
  ])
  await update(service, [{ domain: 'uno', discarded: 1, revision: 1 }])
  const csv = await exported()
  assert.equal(csv.status, 200)
  assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
  assert.equal(csv.headers.get('content-disposition'), 'attachment; filename="dominios.csv"')
  const now = '2026-01-02 09:00:00'
  assert.equal(
    csv.text,
    [
      HEAD,
      `uno,3,grupo,1,0,1,1,2025-12-31 14:30:34,${now},,${now}`,
      `ñandú,5,"a,""b""",0,0,0,0,2025-12-30 00:00:00,${now},2025-12-30 00:00:00,`,
      '',
    ].join('\r\n'),
  )
  const ndjson = await exported({ format: 'ndjson', sort: 'asc', status: 0 })
  assert.equal(ndjson.headers.get('content-type'), 'application/x-ndjson')
  assert.equal(
    ndjson.text,
    `{"name":"ñandú","length":5,"agent":"a,\\"b\\"","status":0,"reserved":0,"revision":0,"discarded":0,` +
      `"date_reg":"2025-12-30 00:00:00","date_mod":"${now}","deleted_at":"2025-12-30 00:00:00","discarded_at":null}\n`,
  )
  // The seven days count here too.
  clock.advance(7 * 24 * 3_600_000)
  assert.equal((await exported({ search: 'uno' })).text, `${HEAD}\r\n`)
})

test('invalid parameters and keys are rejected like those of list', async () => {
  assert.deepEqual((await exported({ format: 'xml' })).body, {
    status: 400,
    msg: 'El parámetro format debe ser csv o ndjson',
  })
  const flagged = await exported({ agent: '' })
  assert.deepEqual(flagged.body, { status: 400, msg: 'El parámetro agent necesita el parámetro search' })
  assert.equal(flagged.headers.get('content-disposition'), null)
  assert.equal((await exported({ api: service.imageKey })).status, 403)
})
