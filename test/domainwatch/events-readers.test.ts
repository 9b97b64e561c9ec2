import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { EVENTS, record, stored } from '../support/domains.ts'
import { EventReader, type ServerSentEvent } from '../support/event-reader.ts'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/service.ts'

const READERS = 60
const BATCHES = 3
const BATCH = 40

const service = await startService()
after(() => service[Symbol.asyncDispose]())

const name = ({ data }: ServerSentEvent) => String(Object(Object(data).record).name)

test('dozens of readers receive everything in the same order, while one reads nothing', async () => {
  // Each process has readers of its own.
  assert.ok(service.app)
  const query = { api: service.domainKey, search: 'todos' }
  // Nothing was written before that would have to settle.
  const { url } = service
  const readers = await Promise.all(Array.from({ length: READERS }, () => EventReader.open({ url }, query)))
  const { hostname, port } = new URL(service.url)
  const stuck = connect(Number(port), hostname)
  stuck.on('error', () => {})
  stuck.write(`GET ${EVENTS}?api=${service.domainKey} HTTP/1.1\r\nhost: x\r\n\r\n`)
  await once(stuck, 'data')
  stuck.pause()

  const heard = readers.map((reader) => reader.take(BATCHES * BATCH))
  for (let batch = 0; batch < BATCHES; batch++) {
    await stored(
      service,
      Array.from({ length: BATCH }, (_, i) => record(`todos-${batch}-${i}`)),
    )
  }
  const [first = [], ...others] = await Promise.all(heard)
  assert.equal(new Set(first.map(name)).size, BATCHES * BATCH)
  const ids = first.map(({ id }) => id)
  for (const other of others) {
    assert.deepEqual(
      other.map(({ id }) => id),
      ids,
    )
  }
  for (const reader of readers) reader.close()
  stuck.destroy()
  await eventually(async () => /event_streams 0/.test(await service.app.context.metrics.text()))
})

test('readers of one account do not get a page before the reader of another', async () => {
  const { url } = service
  const { key: api } = await service.newKey('muchos', 'domainwatch')
  // Filters of their own, so that each text is made separately.
  const many = await Promise.all(
    Array.from({ length: READERS }, (_, i) => EventReader.open({ url }, { api, from: `${1800 + i}-01-01` })),
  )
  const single = await EventReader.open({ url }, { api: service.domainKey })
  // Afterwards all readers are at the same place.
  await stored(service, [record('antes')])
  await Promise.all([...many, single].map((reader) => reader.next()))
  let before = 0
  const others = many.map((reader) => reader.next().then(() => before++))
  const first = single.next().then(() => before)
  await stored(service, [record('primero')])
  assert.ok((await first) < READERS / 2, `${await first} came before`)
  await Promise.all(others)
  for (const reader of [...many, single]) reader.close()
})
