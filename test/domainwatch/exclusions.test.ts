/** The filters that exclude apply wherever filters do. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { names, record, stored, update } from '../support/domains.ts'
import { EventReader } from '../support/event-reader.ts'
import { call, type Fields } from '../support/http.ts'
import { claim, release } from '../support/queue.ts'
import { startService } from '../support/service.ts'
import { watch } from '../support/watches.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

const service = await startService({ flags: { 'webhook-networks': '127.0.0.0/8' } })
after(() => service[Symbol.asyncDispose]())

before(async () => {
  const agents = { casa: 'Grupo Sur', 'mi-casa': 'Águila', sol: 'grupo', mar: 'grupo sur' }
  const records = Object.entries(agents).map(([name, agent], day) =>
    record(name, { agent, status: 0, date_reg: `2025-03-0${9 - day} 10:00:00` }),
  )
  await stored(service, records)
  await update(service, [
    { domain: 'casa', tags: ['basura', 'a'] },
    { domain: 'sol', tags: ['a'] },
  ])
})

const EXCLUSIONS: readonly [Fields, readonly string[]][] = [
  [{ not: 'casa' }, ['sol', 'mar']],
  [{ not: '- ol' }, ['casa', 'mar']],
  [{ not_word: 'casa,sol' }, ['mar']],
  [{ not_tag: 'basura' }, ['mi-casa', 'sol', 'mar']],
  [{ not_tag: 'B, A' }, ['mi-casa', 'mar']],
  [{ not_agent: 'grupo' }, ['casa', 'mi-casa', 'mar']],
  [{ not_agent: 'GRUPO SUR, águila' }, ['sol']],
  [{ not: 'z', not_tag: 'basura', not_agent: 'grupo' }, ['mi-casa', 'mar']],
]

for (const [filters, wanted] of EXCLUSIONS) {
  test(`lists, exports, statistics and the queue with ${JSON.stringify(filters)}`, async () => {
    const query = { api: service.domainKey, ...filters }
    assert.deepEqual(await names(service, filters), wanted)
    const { text } = await call(service, '/api/v1/domainwatch/export', {
      query: { ...query, format: 'ndjson' },
    })
    const exported = text
      .trim()
      .split('\n')
      .map((line): string => JSON.parse(line).name)
    assert.deepEqual(exported.toSorted(), wanted.toSorted())
    const stats = await call(service, '/api/v1/domainwatch/stats', { query })
    assert.equal(Object(stats.body).totals.records, wanted.length)
    const claimed = await claim(service, service.domainKey, filters)
    assert.deepEqual(claimed.names.toSorted(), wanted.toSorted())
    await release(service, service.domainKey)
  })
}

test('events and webhooks of watches', async () => {
  using receiver = await WebhookReceiver.start()
  const filters = { not: 'o', not_tag: 'x,b', not_agent: 'otro, Grupo', not_word: 'luna' }
  await using reader = await EventReader.open(service, { api: service.domainKey, ...filters })
  await watch(service, { ...filters, changes: 'all', url: receiver.url })
  const added = { agua: 'Grupo', aire: 'uno', fuego: 'uno', luna: 'uno', tierra: 'dos' }
  await stored(
    service,
    Object.entries(added).map(([name, agent]) => record(name, { agent })),
  )
  await update(service, [{ domain: 'tierra', tags: ['b'] }])
  await update(service, [{ domain: 'tierra', tags: [] }])
  const events = await reader.take(4)
  const expected = ['added aire', 'added tierra', 'changed tierra', 'changed tierra']
  const told = events.map(({ event, data }) => `${event} ${Object(Object(data).record).name}`)
  assert.deepEqual(told, expected)
  const changes = () => receiver.received.flatMap(({ body }) => Object(body.data).changes)
  while (changes().length < 4) await receiver.until(receiver.received.length + 1)
  assert.deepEqual(
    changes().map(({ event, record: { name } }) => `${event} ${name}`),
    expected,
  )
})
