import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { LIMITS } from '../../src/lib/limits.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { ns, soa, startScriptedDns } from '../dns/scripted.ts'
import { record, stored, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { prepareInstance } from './instance.ts'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const DAY_MS = 86_400_000

const NAMES = Array.from({ length: 16 }, (_, i) => `n${i}`)
/** Look-ups of a name: NS, MX, A and AAAA. */
const LOOKUPS_PER_NAME = 4
const LOOKUPS_PER_SECOND = LIMITS.rechecksPerMinute / 60
/** What is looked up at a time: a second's worth of names. */
const BATCH = LOOKUPS_PER_SECOND / LOOKUPS_PER_NAME

suite('re-checks on several nodes', () => {
  test('another node looks up what is left when the one that does so is killed', async (t) => {
    /** When each look-up arrived, by a monotonic clock. */
    const lookups: number[] = []
    const dns = await startScriptedDns(({ name, question }) => {
      lookups.push(performance.now())
      return question.type === 'NS'
        ? { answers: [ns(name, 'ns1.cl', 0)] }
        : { authorities: [soa('cl', 0, 0)] }
    })
    t.after(() => dns.stop())
    await using founder = await startService({ flags: { 'recheck-every': '0' } })
    await stored(
      founder,
      NAMES.map((name) => record(name)),
    )
    await update(
      founder,
      NAMES.map((domain) => ({ domain, revision: 1 })),
    )
    await founder.stop()
    await using instance = await prepareInstance(founder, { 'dns-servers': dns.address }, NOON)
    const checkedBy = async (node: { readonly url: string }) => {
      const { text } = await call(node, '/metrics')
      return Number(/^catalejo_dns_rechecks_total (\d+)$/m.exec(text)?.[1])
    }
    await using database = await instance.open()
    /** Names that were looked up at this time. */
    const observedAt = async (now: number) => {
      const found = await database.first<{ count: number }>(
        sql`SELECT count(*) AS count FROM name_servers WHERE last_at >= ${now}`,
      )
      return Number(found?.count)
    }

    // It has the lease before there is another node.
    const first = await instance.start()
    const all = NAMES.length
    await eventually(async () => (await observedAt(NOON)) === all, 'every name was looked up once')
    const second = await instance.start()
    lookups.length = 0
    const tomorrow = NOON + DAY_MS
    await instance.setClock(tomorrow)
    await eventually(
      async () => (await checkedBy(first)) >= all + BATCH,
      'the first names were looked up again',
    )
    assert.equal(await checkedBy(second), 0)
    await first.kill()
    const before = lookups.length
    const done = await observedAt(tomorrow)
    const due = all - done
    assert.ok(done >= BATCH && due > 0, `${done} names were looked up`)

    await instance.endLeases()
    await eventually(async () => (await checkedBy(second)) >= due, 'the others were looked up')
    assert.equal(await observedAt(tomorrow), all)
    assert.equal(await checkedBy(second), due)
    // The first batch comes without a pause before it, and a busy machine may be three seconds late. Without the limit some
    // sixty arrive within a second.
    for (const times of [lookups.slice(0, before), lookups.slice(before)]) {
      const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000
      const most = LOOKUPS_PER_SECOND * (seconds + 4)
      assert.ok(times.length <= most, `${times.length} look-ups in ${seconds} s`)
    }
    assert.ok(
      lookups.length <= LOOKUPS_PER_NAME * (all + BATCH),
      `${lookups.length} look-ups of ${all} names`,
    )
    for (const domain of NAMES) {
      const query = { api: founder.domainKey, domain }
      const { body } = await call(second, '/api/v1/domainwatch/history', { query })
      const answers = Object(body).dns.map(({ dns: hosts }: { dns: string[] }) => hosts)
      assert.deepEqual(answers, [['ns1.cl']], domain)
    }
  })
})
