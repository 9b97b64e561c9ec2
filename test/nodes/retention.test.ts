import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { sql } from '../../src/storage/database/sql.ts'
import { record, stored } from '../support/domains.ts'
import { EventReader } from '../support/event-reader.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { ManualClock, startService } from '../support/service.ts'

const HOUR = 60 * 60_000
const DAY = 24 * HOUR

test('addresses, changes and histories are kept for the configured days', async () => {
  // Changes and deletions use the clock of the database, not the manual one.
  const clock = new ManualClock(new Date().toISOString())
  const flags = { 'ip-days': '2', 'history-days': '4d' }
  await using service = await startService({ clock, flags, limits: { changesMs: 3 * DAY } })
  const client = new ImageClient(service.url, service.imageKey)
  await client.upload(await gradient(30, 20).png().toBuffer(), { ip: '203.0.113.9' })
  await stored(service, [record('casa')])
  await service.sql(`DELETE FROM domains WHERE name = 'casa'`)
  // The newest change of all always stays.
  await stored(service, [record('otra')])

  const reported = async () => {
    const query = { api: service.domainKey, domain: 'casa' }
    const { body } = await call(service, '/api/v1/domainwatch/history', { query })
    return Number(Object(body).count)
  }
  const kept = async () => {
    const row = await service.app.context.database.first(
      sql<{ addresses: number; floor: number }>`
        SELECT (SELECT count(*) FROM images WHERE ip <> '') AS addresses, floor FROM change_log`,
    )
    return {
      addresses: Number(row?.addresses),
      followed: Number(row?.floor) === 0,
      reported: await reported(),
    }
  }
  /** Triggers another sweep, and waits for its result. */
  async function come(wanted: Awaited<ReturnType<typeof kept>>): Promise<void> {
    await service.sql('DELETE FROM leases')
    await eventually(async () => isDeepStrictEqual(await kept(), wanted), JSON.stringify(wanted))
  }

  assert.deepEqual(await kept(), { addresses: 1, followed: true, reported: 2 })
  clock.advance(3 * DAY + HOUR)
  await come({ addresses: 0, followed: false, reported: 2 })
  clock.advance(DAY)
  await come({ addresses: 0, followed: false, reported: 0 })
})

test('only the configured number of changes can be followed; older ones are a gap', async () => {
  const limits = { changesMax: 1_000 }
  await using first = await startService({ limits })
  const ids: string[] = []
  {
    await using reader = await EventReader.open(first, { api: first.domainKey })
    for (let batch = 0; batch < 5; batch++) {
      const names = Array.from({ length: 300 }, (_, i) => record(`n${batch * 300 + i}`))
      await stored(first, names)
      ids.push(...(await reader.take(names.length)).map(({ id }) => id))
    }
  }
  // After a restart it does not have them in memory, and runs everything that is due.
  await first.stop()
  await first.sql('DELETE FROM leases')
  await using service = await startService({ limits, data: first.data })
  const floor = async () => {
    const { database } = service.app.context
    return Number((await database.first(sql<{ floor: number }>`SELECT floor FROM change_log`))?.floor)
  }
  await eventually(async () => (await floor()) > 0)

  const resumed = (place: number) =>
    EventReader.open(service, { api: service.domainKey }, { 'last-event-id': ids[place] ?? '' })
  await using late = await resumed(400)
  const gap = await late.next()
  assert.equal(gap?.event, 'gap')
  assert.deepEqual(gap?.data, {
    msg: 'Los cambios desde el último evento ya no están disponibles: vuelva a leer la lista',
  })
  await using early = await resumed(600)
  assert.deepEqual(
    (await early.take(899)).map(({ id }) => id),
    ids.slice(601),
  )
  await stored(service, [record('despues')])
  for (const reader of [late, early])
    assert.equal(Object(Object((await reader.next())?.data).record).name, 'despues')

  // What happened to a record is not forgotten with that.
  const query = { api: service.domainKey, domain: 'n0' }
  const { body } = await call(service, '/api/v1/domainwatch/history', { query })
  assert.equal(Object(body).count, 1)
})
