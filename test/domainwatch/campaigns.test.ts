import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { campaigns, seenWith } from '../support/campaigns.ts'
import { call } from '../support/http.ts'
import { startService } from '../support/service.ts'

const PATH = '/api/v1/domainwatch/campaigns'

const service = await startService()
after(() => service[Symbol.asyncDispose]())

const at = (name: string, date_reg: string) => record(name, { date_reg })

test('without records there are no groups', async () => {
  const { count, data } = await campaigns(service)
  assert.deepEqual([count, data], [0, []])
})

test('names of a day are grouped by skeleton, rare word and server', async () => {
  await stored(service, [
    ...['pago-xkq1', 'cuenta-xkq2', 'acceso-xkq33', 'clave-xkq4', 'tarjeta-xkq5'].map((name, i) =>
      at(name, `2025-03-0${i < 4 ? 1 : 2} 1${i}:00:00`),
    ),
    ...['jirafa-azul', 'jirafa-roja', 'casajirafa', 'jirafa'].map((name, i) =>
      at(name, `2025-03-05 2${i % 3}:00:00`),
    ),
    // The first is more than a day before the last.
    ...['wzk1', 'wzk2', 'wzk3', 'wzk4'].map((name, i) =>
      at(name, `2025-03-${10 + (i > 2 ? 1 : 0)} 10:00:0${i}`),
    ),
    ...['uvwxk', 'lmnpq', 'rstvw', 'ghjkl'].map((name) => at(name, '2025-03-20 10:00:00')),
    ...Array.from({ length: 20 }, (_, i) =>
      at(`z${'abcdefghijklmnopqrst'[i]}qx`, `2025-03-25 10:00:${10 + i}`),
    ),
  ])
  const siblings = ['ghjkl', 'lmnpq', 'rstvw', 'uvwxk']
  await seenWith(service, 'ns1.malo.example', siblings)
  await seenWith(service, 'ns2.malo.example', siblings)
  // It shares a server with 16 others, of which only 4 were registered within the span that is asked for first.
  await seenWith(
    service,
    'ns1.hosting.example',
    [...'abcdefghijklmnop'].map((letter) => `z${letter}qx`),
  )

  const until = await campaigns(service, { from: '2025-03-01', to: '2025-03-25 10:00:13' })
  assert.deepEqual(
    until.data.map(({ kind, key, names }) => [kind, key, names]),
    [
      ['server', 'ns=ns1.malo.example', siblings],
      ['word', 'jirafa', ['jirafa', 'jirafa-azul', 'jirafa-roja', 'casajirafa']],
      ['skeleton', '*-xkq#', ['pago-xkq1', 'cuenta-xkq2', 'acceso-xkq33', 'clave-xkq4']],
    ],
  )
  const { from, to, data } = await campaigns(service, { limit: 1 })
  assert.deepEqual([from, to], ['2025-02-24 00:00:00', '2025-03-25 23:59:59'])
  assert.deepEqual(
    data.map(({ key, count, from: first, to: last }) => [key, count, first, last]),
    [['ns=ns1.hosting.example', 16, '2025-03-25 10:00:10', '2025-03-25 10:00:25']],
  )
})

test('a span is 92 days at most, from its beginning to its end', async () => {
  for (const [query, wanted] of [
    [{ from: '2025-01-01', to: '2025-04-03' }, 'debe abarcar a lo más 92 días hasta to'],
    [{ from: '2025-04-03', to: '2025-04-02' }, 'debe ser anterior o igual a to'],
  ] as const) {
    const { status, text } = await call(service, PATH, { query: { api: service.domainKey, ...query } })
    assert.equal(status, 400)
    assert.ok(text.includes(wanted), text)
  }
})
