import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { after, before, suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Database } from '../../src/storage/database/database.ts'
import { Leases, type LeasedWork } from '../../src/storage/database/leases.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { databaseFor, type TestDatabase } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openAt } from './instance.ts'

const HOLDER = fileURLToPath(new URL('holder.ts', import.meta.url))
/** Twice as long as a busy machine may stand still, so that a holder that lives renews in time. */
const TTL_MS = 3_000
/** How often a node looks, in these tests. */
const LOOK_MS = 100
const DEADLINE_MS = 20_000

suite('leased work', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let made: TestDatabase
  let address: string
  let one: Database
  let other: Database

  before(async () => {
    folder = await temporaryFolder()
    made = await databaseFor(folder.path)
    address = made.url === '' ? folder.path : made.url
    // Concurrently, as nodes may start: on an empty database.
    ;[one, other] = await Promise.all([openAt(address), openAt(address)])
  })
  after(async () => {
    await Promise.all([one.close(), other.close()])
    await made.drop()
    await folder[Symbol.asyncDispose]()
  })

  const never = new AbortController().signal
  const work = (name: string, run: LeasedWork['run'], everyMs = 0): LeasedWork => ({ name, everyMs, run })

  test('never runs twice concurrently, and once per interval', async () => {
    let running = 0
    let most = 0
    let runs = 0
    const run = async () => {
      most = Math.max(most, ++running)
      runs++
      await pause(20)
      running--
    }
    const nodes = [one, other, one, other].map((database) => new Leases(database))
    for (let round = 0; round < 5; round++) {
      await Promise.all(nodes.map((leases) => leases.run(work('a veces', run), never)))
    }
    assert.equal(most, 1)
    assert.ok(runs >= 5)

    runs = 0
    const done: boolean[] = []
    for (let round = 0; round < 3; round++) {
      for (const leases of nodes) done.push(await leases.run(work('cada hora', run, 3_600_000), never))
    }
    assert.deepEqual([runs, done.filter(Boolean).length, done[0]], [1, 1, true])
  })

  test('does not start, and writes nothing, if there is nothing to do', async () => {
    const before = await leaseRow('nada')
    const idle = { ...work('nada', () => assert.fail('it ran')), pending: async () => false }
    assert.equal(await new Leases(one).run(idle, never), false)
    assert.deepEqual([before, await leaseRow('nada')], [undefined, undefined])
  })

  test('is released immediately if it fails or is stopped', async () => {
    const leases = new Leases(one)
    const failure = new Error('on purpose')
    let left: AbortSignal | undefined
    const fails = (signal: AbortSignal) => {
      left = signal
      return Promise.reject(failure)
    }
    await assert.rejects(leases.run(work('falla', fails, 3_600_000), never), failure)
    assert.equal(left?.aborted, true, 'its abandoned work is aborted')
    const stop = new AbortController()
    const stopped = leases.run(
      work('falla', (signal) => once(signal, 'abort'), 3_600_000),
      stop.signal,
    )
    stop.abort()
    assert.equal(await stopped, false)
    assert.equal(
      await new Leases(other).run(
        work('falla', async () => {}, 3_600_000),
        never,
      ),
      true,
    )
  })

  test('is taken over when its holder dies, not before', async () => {
    const holder = fork(HOLDER, [address, 'muere', String(TTL_MS)])
    try {
      await once(holder, 'message')
      const leases = new Leases(other, TTL_MS)
      const take = () =>
        leases.run(
          work('muere', async () => {}),
          never,
        )
      // Longer than an unrenewed lease lasts.
      for (const end = performance.now() + 1.5 * TTL_MS; performance.now() < end; await pause(LOOK_MS)) {
        assert.equal(await take(), false)
      }
      const exit = once(holder, 'exit')
      holder.kill('SIGKILL')
      await exit
      const died = performance.now()
      while (!(await take())) {
        assert.ok(performance.now() - died < DEADLINE_MS, 'nobody took over')
        await pause(LOOK_MS)
      }
    } finally {
      holder.kill('SIGKILL')
    }
  })

  test('is aborted when its lease is lost', async () => {
    const taken = new Leases(one, 300).run(
      work('perdido', async (signal) => {
        await other.transaction((tx) => tx.run(sql`UPDATE leases SET holder = 'otro' WHERE name = 'perdido'`))
        await once(signal, 'abort', { signal: AbortSignal.timeout(DEADLINE_MS) })
      }),
      never,
    )
    assert.equal(await taken, false)
    assert.equal((await leaseRow('perdido'))?.holder, 'otro')
  })

  test('is not delayed by a clock that was set back', async () => {
    const ahead = Date.now() + 86_400_000
    await one.transaction((tx) =>
      tx.run(
        sql`INSERT INTO leases (name, holder, expires_at, due_at) VALUES ('reloj', 'otro', ${ahead}, ${ahead})`,
      ),
    )
    assert.equal(
      await new Leases(one).run(
        work('reloj', async () => {}, 1_000),
        never,
      ),
      true,
    )
  })

  const leaseRow = (name: string) =>
    one.first<{ holder: string }>(sql`SELECT holder FROM leases WHERE name = ${name}`)
})
