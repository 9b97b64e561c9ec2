import assert from 'node:assert/strict'
import { test } from 'node:test'
import { record, stored, update } from '../support/domains.ts'
import { claim } from '../support/queue.ts'
import { startService } from '../support/service.ts'
import { startVictim } from './victim.ts'

const RECORDS = 600

test('after kill -9 all claims persist, and decided records are not claimed again', async () => {
  await using founder = await startService()
  const { data, domainKey } = founder
  const others = await Promise.all(
    ['ana', 'beto', 'carla'].map(async (name) => (await founder.newKey(name, 'domainwatch')).key),
  )
  const members = [domainKey, ...others]
  const date_reg = '2026-01-10 10:00:00'
  await stored(
    founder,
    Array.from({ length: RECORDS }, (_, i) => record(`n${i}`, { status: 0, date_reg })),
  )
  await founder.stop()

  /** By name, the last member that got it and has not sent a decision. */
  const holders = new Map<string, number>()
  const decided = new Set<string>()
  for (let round = 0; round < 3; round++) {
    const victim = await startVictim(data, ['--image-workers', '1'])
    const half = Promise.withResolvers<void>()
    let answers = 0
    const work = members.map(async (key, member) => {
      try {
        for (let turn = 0; turn < 8; turn++) {
          const { names } = await claim(victim, key, { status: 0, limit: 5 })
          for (const name of names) {
            assert.ok(!decided.has(name), `${name} was decided`)
            assert.equal(holders.get(name) ?? member, member, `${name} is held`)
            holders.set(name, member)
          }
          if (++answers === 8) half.resolve()
          const marked = names.slice(0, 3)
          // Until it is answered, the record may be decided or still be held.
          for (const name of marked) holders.delete(name)
          const reply = await update(
            { ...founder, url: victim.url },
            marked.map((domain) => ({ domain, status: 1 })),
            { key },
          )
          assert.equal(reply.status, 200)
          for (const name of marked) decided.add(name)
        }
      } catch (error) {
        // What fetch throws when a connection breaks.
        if (!(error instanceof TypeError)) throw error
      }
    })
    await Promise.race([half.promise, Promise.all(work)])
    await victim.kill()
    await Promise.all(work)
  }
  assert.ok(decided.size > 0 && holders.size > 0, 'some work was done between the kills')

  await using last = await startService({ data })
  for (const [member, key] of members.entries()) {
    const { names } = await claim(last, key, { status: 0, limit: 100 })
    for (const name of names) {
      assert.ok(!decided.has(name), `${name} was decided`)
      assert.equal(holders.get(name) ?? member, member, `${name} is held`)
      holders.set(name, member)
    }
    const own = [...holders].filter(([, holder]) => holder === member).map(([name]) => name)
    assert.deepEqual(
      own.filter((name) => !names.includes(name)),
      [],
    )
  }
})
