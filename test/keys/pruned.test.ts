import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { LIST } from '../support/domains.ts'
import { call } from '../support/http.ts'
import { EXPIRED, limited } from '../support/key-limits.ts'
import { ManualClock, startService } from '../support/service.ts'

const DAY = 86_400_000
const clock = new ManualClock('2026-01-01T00:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())

test('a key is removed 30 days after it expired', async () => {
  const { accounts } = service.app.context
  const kept = await service.newKey('grupo', 'domainwatch', limited({ expiresAt: clock.now() + 2 * DAY }))
  const { key: api, id } = await service.newKey(
    'grupo',
    'domainwatch',
    limited({ expiresAt: clock.now() + DAY }),
  )
  const admin = await service.newKey('dueña', 'admin', limited({ expiresAt: clock.now() + DAY }))
  const list = async () => (await call(service, LIST, { query: { api } })).body
  assert.partialDeepStrictEqual(await list(), { status: 200 })
  await accounts.writeUses()
  clock.advance(31 * DAY)
  await accounts.sweepKeys()
  assert.deepEqual(await list(), EXPIRED)
  clock.advance(1)
  await accounts.sweepKeys()
  assert.deepEqual(await list(), { status: 401, msg: 'La clave de API no es válida' })
  const ids = (await accounts.keys()).map((one) => one.id)
  assert.deepEqual(
    [id, admin.id, kept.id].map((one) => ids.includes(one)),
    [false, false, true],
  )
})
