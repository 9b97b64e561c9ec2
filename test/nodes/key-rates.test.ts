import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { LIST } from '../support/domains.ts'
import { call } from '../support/http.ts'
import { limited, perMinute } from '../support/key-limits.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'

const START = '2026-01-01T00:00:00Z'

async function twoNodes() {
  // A window cannot end while the test runs.
  const clock = new ManualClock(START)
  const one = await startService({ clock })
  const other = await startService({ clock, data: one.data })
  return {
    one,
    other,
    clock,
    async [Symbol.asyncDispose]() {
      await other.stop()
      await one[Symbol.asyncDispose]()
    },
  }
}

const isLetThrough = async (service: TestService, api: string) =>
  (await call(service, LIST, { query: { api } })).status === 200

async function letThrough(services: readonly TestService[], api: string, count: number): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const service = services[i % services.length]
      return service !== undefined && (await isLetThrough(service, api))
    }),
  )
  return answers.filter(Boolean).length
}

const newKey = async ({ one }: { one: TestService }, count: number) =>
  (await one.newKey('grupo', 'domainwatch', limited({ rate: perMinute(count) }))).key

suite('the rate of a key on two nodes', () => {
  for (const count of [1, 10, 500]) {
    test(`${count} requests a minute are allowed on both nodes together`, async () => {
      await using nodes = await twoNodes()
      const api = await newKey(nodes, count)
      const passed = await letThrough([nodes.one, nodes.other], api, 2 * count + 20)
      // A node may hold the last batch that it claimed ahead.
      assert.ok(passed <= count && passed >= Math.ceil(count * 0.95), `${passed} of ${count}`)
    })

    test(`${count} requests a minute are allowed on one node if the other is idle`, async () => {
      await using nodes = await twoNodes()
      const api = await newKey(nodes, count)
      assert.equal(await isLetThrough(nodes.other, api), true)
      let passed = 1
      while (await isLetThrough(nodes.one, api)) passed++
      assert.ok(passed <= count && passed >= Math.ceil(count * 0.95), `${passed} of ${count}`)
      assert.equal(await isLetThrough(nodes.one, api), false)
    })
  }

  test('a window that began after a waiting request read the clock is not begun again', async () => {
    await using nodes = await twoNodes()
    const api = await newKey(nodes, 60)
    assert.equal(await letThrough([nodes.one], api, 40), 40)
    await nodes.one.sql('UPDATE key_rates SET ends_at = ends_at + 20000')
    const passed = await letThrough([nodes.other], api, 80)
    assert.ok(passed >= 17 && passed <= 20, `${passed} of 20`)
  })

  test('a restarted node continues the count', async () => {
    await using nodes = await twoNodes()
    const { one, other, clock } = nodes
    const api = await newKey(nodes, 64)
    assert.equal(await letThrough([one, other], api, 30), 30)
    await other.stop()
    const again = await startService({ clock, data: one.data })
    try {
      let passed = 30
      while (await isLetThrough(again, api)) passed++
      assert.ok(passed <= 64 && passed >= 61, String(passed))
    } finally {
      await again.stop()
    }
  })
})
