import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type pg from 'pg'
import { domainChanges, logState } from '../../src/storage/database/changes/change-log.ts'
import { toCursor, type Change } from '../../src/storage/database/changes/change.ts'
import { postgresDialect } from '../../src/storage/database/dialect.ts'
import { DatabaseFault } from '../../src/storage/database/postgres/faults.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { propertyRuns } from '../support/effort.ts'
import { newDatabase, noPostgres } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { openSession, runStatement } from '../support/postgres.ts'
import { assertChained, follow, settledHead } from './heard.ts'

const WRITERS = 4
const DOMAINS = domainChanges(postgresDialect)
const NAMES = ['a', 'b', 'c']

/** A step of one of several transactions that are open side by side. */
type Step =
  | { readonly writer: number; readonly kind: 'write'; readonly name: string }
  | { readonly writer: number; readonly kind: 'commit' | 'rollback' }

const steps = fc.array(
  fc.record({
    writer: fc.nat(WRITERS - 1),
    kind: fc.constantFrom(
      'write' as const,
      'write' as const,
      'write' as const,
      'commit' as const,
      'rollback' as const,
    ),
    name: fc.constantFrom(...NAMES),
  }),
  { minLength: 5, maxLength: 40 },
)

describe('changes of transactions that overlap on PostgreSQL', { skip: noPostgres, timeout: 300_000 }, () => {
  async function open() {
    const made = await newDatabase()
    const database = await openPostgres(made.url)
    const clients = await Promise.all(Array.from({ length: WRITERS }, () => openSession(made.url)))
    return {
      database,
      clients,
      async [Symbol.asyncDispose]() {
        await Promise.all(clients.map((client) => client.end()))
        await database.close()
        await made.drop()
      },
    }
  }

  const write = (name: string, agent: string) =>
    `INSERT INTO domains (name, length, agent, agent_folded, status, reserved, date_reg, date_mod)
     VALUES ('${name}', 1, '${agent}', '', 1, 0, '', '') ON CONFLICT (name) DO UPDATE SET agent = excluded.agent`

  test('changes are followed also after 2,147,483,647 transactions', async () => {
    await using made = await newDatabase()
    await runStatement(
      made.url,
      `CREATE SCHEMA later; CREATE FUNCTION later.age(xid) RETURNS integer LANGUAGE sql
      AS 'SELECT 2147483647'`,
    )
    const later = new URL(made.url)
    later.searchParams.set('options', '-c search_path=later,public,pg_catalog')
    await using database = await openPostgres(made.url, undefined, undefined, { listenUrl: String(later) })
    const log = await database.first(logState())
    assert.ok(log !== undefined)
    assert.equal((await database.changes.since(toCursor(log.epoch, 0), 100)).kind, 'page')
  })

  test('a closed database does not wait for changes', async () => {
    await using place = await open()
    const { database } = place
    await database.close()
    await assert.rejects(database.changes.head(), DatabaseFault)
  })

  test('a follower that is behind reads on while it is not known what was committed last', async () => {
    await using place = await open()
    const { database, clients } = place
    const [client] = clients
    assert.ok(client !== undefined)
    const cursor = await settledHead(database)
    for (const name of NAMES) await client.query(write(name, ''))
    await settledHead(database)
    const listening = `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE '%pg_current_snapshot()%' AND pid <> pg_backend_pid()`
    const [listener] = (await client.query<{ pid: number }>(listening)).rows
    assert.ok(listener !== undefined)
    process.kill(listener.pid, 'SIGSTOP')
    try {
      await database.transaction((tx) => tx.run(sql`UPDATE domains SET note = 'x' WHERE name = 'a'`))
      const page = await database.changes.since(cursor, 2)
      assert.ok(page.kind === 'page')
      assert.deepEqual(
        page.changes.map(({ key }) => key),
        ['a', 'b'],
      )
    } finally {
      process.kill(listener.pid, 'SIGCONT')
    }
  })

  test('a change with a low number that is committed late is not skipped', async () => {
    await using place = await open()
    const { database, clients } = place
    const [slow, fast] = clients
    assert.ok(slow !== undefined && fast !== undefined)
    let cursor: string = await settledHead(database)
    const read = async () => {
      const page = await database.changes.since(cursor, 100)
      assert.ok(page.kind === 'page')
      cursor = page.cursor
      return page.changes.map(({ key }) => key)
    }
    await slow.query(`BEGIN; ${write('lento', '')}`)
    const before = database.version('domain')
    await fast.query(write('rápido', ''))
    await eventually(() => database.version('domain') !== before, 'the commit is noticed')
    // It must not pass the one that is still to come.
    assert.deepEqual(await read(), [])
    await slow.query('COMMIT')
    const heard: string[] = []
    // A transaction that another test has open on the same server holds them back, too.
    await eventually(async () => {
      heard.push(...(await read()))
      return heard.length >= 2
    })
    assert.deepEqual(heard, ['lento', 'rápido'])
  })

  test('a change does not wait for transactions that began after it', async () => {
    await using place = await open()
    const { database, clients } = place
    const [early, fast, late] = clients
    assert.ok(early !== undefined && fast !== undefined && late !== undefined)
    const cursor = await settledHead(database)
    const read = async () => {
      const page = await database.changes.since(cursor, 100)
      assert.ok(page.kind === 'page')
      return page.changes.map(({ key }) => key)
    }
    await early.query(`BEGIN; ${write('a', '')}`)
    for (const name of ['b', 'c']) {
      const before = database.version('domain')
      await fast.query(write(name, ''))
      await eventually(() => database.version('domain') !== before, 'the commit is noticed')
    }
    assert.deepEqual(await read(), [])
    await late.query(`BEGIN; ${write('d', '')}`)
    await early.query('COMMIT')
    await eventually(async () => (await read()).join() === 'a,b,c', 'the change after which it began')
    await late.query('ROLLBACK')
  })

  test('every change is delivered once and in order per record, for any order of writes and commits', async () => {
    await using place = await open()
    const { database, clients } = place
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const stop = new AbortController()
        const heard: Change[] = []
        const end = `fin${randomBytes(6).toString('hex')}`
        const head = await settledHead(database)
        const following = (async () => {
          for await (const change of follow(database.changes, head, stop.signal)) {
            assert.ok(change !== 'gap')
            heard.push(change)
            if (change.key === end) return
          }
        })()
        const committed = await perform(clients, plan)
        await clients[0]?.query(write(end, ''))
        const late = setTimeout(() => stop.abort(), 30_000)
        await following
        clearTimeout(late)
        assert.deepEqual(
          heard.map(({ after }) => String(after?.['agent'])).toSorted(),
          [...committed, ''].toSorted(),
        )
        assertChained(heard)
      }),
      { numRuns: propertyRuns(15) },
    )
  })

  test('every commit is visible immediately, and once, whatever is still open', async () => {
    await using place = await open()
    const { clients } = place
    const { changes } = place.database
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        let seen = await changes.view()
        const agents = new Map<string, unknown>()
        const heard: string[] = []
        /** Reads pages of two: each begins after the last id of the one before. */
        const read = async () => {
          const first = await changes.unseen(seen, DOMAINS, { after: 0, count: 100 })
          assert.ok(first !== undefined && first.total === first.count)
          const texts: string[] = []
          for (let after = 0, left = first.total; left > 0;) {
            const page = await changes.unseen(seen, DOMAINS, { after, count: 2 })
            assert.ok(page !== undefined && page.total === left)
            texts.push(page.text)
            ;({ last: after } = page)
            left -= page.count
          }
          assert.equal(texts.join(), first.text)
          for (const [name, before, after] of JSON.parse(`[${first.text}]`)) {
            assert.equal(
              before?.[0],
              agents.get(name),
              'each change of a record begins where the last one ended',
            )
            agents.set(name, after[0])
            heard.push(String(after[0]))
          }
          seen = first.view
        }
        for (const name of NAMES) {
          const { rows } = (await clients[0]?.query(`SELECT agent FROM domains WHERE name = '${name}'`)) ?? {
            rows: [],
          }
          agents.set(name, rows[0]?.agent)
        }
        const committed = await perform(clients, plan, async (now) => {
          await read()
          assert.deepEqual(heard.toSorted(), now.toSorted())
        })
        await read()
        assert.deepEqual(heard.toSorted(), committed.toSorted())
      }),
      { numRuns: propertyRuns(15) },
    )
  })

  /**
   * @param onCommit called after each commit
   * @returns the agents that the committed transactions left, in no order
   */
  async function perform(
    clients: readonly pg.Client[],
    plan: readonly Step[],
    onCommit: (committed: readonly string[]) => Promise<void> = async () => {},
  ): Promise<string[]> {
    const open = new Map<number, { name: string; agent: string }[]>()
    const committed: string[] = []
    const finish = async (writer: number, how: 'COMMIT' | 'ROLLBACK') => {
      if (how === 'COMMIT') committed.push(...(open.get(writer) ?? []).map(({ agent }) => agent))
      open.delete(writer)
      await clients[writer]?.query(how)
      await onCommit(committed)
    }
    for (const step of plan) {
      const own = open.get(step.writer)
      if (step.kind !== 'write') {
        if (own !== undefined) await finish(step.writer, step.kind === 'commit' ? 'COMMIT' : 'ROLLBACK')
        continue
      }
      // It would wait for a transaction that commits later: this one runs later.
      const isTaken = [...open].some(
        ([writer, rows]) => writer !== step.writer && rows.some(({ name }) => name === step.name),
      )
      if (isTaken) continue
      if (own === undefined) await clients[step.writer]?.query('BEGIN')
      const agent = randomBytes(6).toString('hex')
      await clients[step.writer]?.query(write(step.name, agent))
      open.set(step.writer, [...(own ?? []), { name: step.name, agent }])
    }
    for (const writer of open.keys()) await finish(writer, 'COMMIT')
    return committed
  }
})
