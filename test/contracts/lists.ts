import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { createAccounts } from '../../src/accounts/index.ts'
import { storeRows } from '../../src/domainwatch/import/writer.ts'
import { plainContext } from '../support/plain-signals.ts'
import { eventOf, occurrenceOf } from '../../src/domainwatch/events/event.ts'
import { markDomains } from '../../src/domainwatch/queries-batches.ts'
import { announceFreed, RegistryList } from '../../src/domainwatch/registry/apply-list.ts'
import { WINDOWS, type ListedRow, type ListKind, type Window } from '../../src/domainwatch/registry/rules.ts'
import { rowValues } from '../../src/storage/database/batch.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { isOneOf, type Dialect } from '../../src/storage/database/dialect.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { propertyRuns } from '../support/effort.ts'
import { ManualClock } from '../support/service.ts'
import { settledHead } from './heard.ts'
import { ListsModel } from './lists-model.ts'
import type { OpenDatabase } from './nodes.ts'

const HOUR = 3_600_000
const BEGIN = Date.parse('2026-05-01T00:00:00Z')
const NAMES = 3
const ANNOUNCED_AFTER = 6 * HOUR
const REGISTRATIONS_WINDOW = 31 * 24 * HOUR

type Fault = 'none' | 'part' | 'few' | 'abandoned' | 'late' | 'repeated'

/** What happens, and how long after what happened before. */
type Step = { readonly minutes: number } & (
  | { readonly kind: 'nothing' }
  /** A name is registered, or deleted if it was. */
  | { readonly kind: 'life'; readonly name: number }
  | { readonly kind: 'deletions'; readonly window: Window; readonly fault: Fault; readonly pick: number }
  | { readonly kind: 'registrations'; readonly fault: 'none' | 'part'; readonly pick: number }
  | { readonly kind: 'statement'; readonly name: number; readonly status: 0 | 1 }
)

/** From one fetch to the next, or an outage. */
const minutes = fc.oneof(
  { arbitrary: fc.integer({ min: 1, max: 120 }), weight: 6 },
  { arbitrary: fc.integer({ min: 120, max: 1_440 }), weight: 3 },
  { arbitrary: fc.integer({ min: 1_440, max: 15_000 }), weight: 1 },
)
const name = fc.nat(NAMES - 1)
const window = fc.constantFrom<Window>('hour', 'day', 'day', 'week')
const fault = fc.constantFrom<Fault>(
  'none',
  'none',
  'none',
  'none',
  'part',
  'few',
  'abandoned',
  'late',
  'repeated',
)
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('nothing' as const), minutes }), weight: 1 },
  { arbitrary: fc.record({ kind: fc.constant('life' as const), minutes, name }), weight: 6 },
  {
    arbitrary: fc.record({ kind: fc.constant('deletions' as const), minutes, window, fault, pick: fc.nat() }),
    weight: 10,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('registrations' as const),
      minutes,
      fault: fc.constantFrom('none' as const, 'none' as const, 'part' as const),
      pick: fc.nat(),
    }),
    weight: 4,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('statement' as const),
      minutes,
      name,
      status: fc.constantFrom(0 as const, 1 as const),
    }),
    weight: 2,
  },
)
const steps = fc.array(step, { minLength: 20, maxLength: 80, size: 'max' })

/**
 * What lists of the registry promise on every database.
 * @param runs of the property; one takes 0.8 s on PostgreSQL, where a transaction waits for its flush
 */
export function listsContract(name: string, make: () => Promise<OpenDatabase>, runs: number): void {
  describe(`${name}: lists of the registry`, () => {
    let place: OpenDatabase
    let database: Database

    before(async () => {
      place = await make()
      database = await place.open()
    })
    after(async () => {
      await database.close()
      await place.remove()
    })

    test('records and events say what the lists determine, whatever the registry and its lists do', async () => {
      let worlds = 0
      const check = async (given: readonly Step[]) => {
        const world = await World.open(database, String(++worlds))
        for (const step of given) await world.take(step)
        await world.end()
      }
      await fc.assert(fc.asyncProperty(steps, check), { numRuns: propertyRuns(runs), endOnFailure: true })
    })
  })
}

/** A registry with the true lives of its names, the service that reads its lists, and what these determine. */
class World {
  readonly #database: Database
  readonly #account: Account
  readonly #names: readonly string[]
  readonly #clock: ManualClock
  readonly #model = new ListsModel()
  /** Registrations and deletions of each name, in turn, in order of time. */
  readonly #lives: ReadonlyMap<string, number[]>
  readonly #spoken = new Set<string>()
  readonly #written = new Map<string, readonly string[]>()
  readonly #completeNames = new Map<string, number>()
  readonly #abandonedAt = new Map<string, number>()
  readonly #registered = new Map<string, Set<string>>()
  /** What a client that follows the events believes. */
  readonly #mirror = new Map<string, number>()
  readonly #freeEvents = new Map<string, number>()
  #registrationsAt = -Infinity
  #cursor: string

  private constructor(
    database: Database,
    account: Account,
    clock: ManualClock,
    cursor: string,
    names: readonly string[],
  ) {
    this.#database = database
    this.#account = account
    this.#clock = clock
    this.#cursor = cursor
    this.#names = names
    this.#lives = new Map(names.map((name) => [name, []]))
  }

  /** @param id distinguishes its account and names from those of other worlds on the database */
  static async open(database: Database, id: string): Promise<World> {
    const clock = new ManualClock(new Date(BEGIN).toISOString())
    const accounts = createAccounts(database, clock)
    await accounts.createKey(id, 'domainwatch')
    const account = (await accounts.ofService('domainwatch')).find((one) => one.name === id)
    assert.ok(account !== undefined)
    const names = ['ana', 'beto', 'cata'].map((name) => `${name}${id}`)
    return new World(database, account, clock, await settledHead(database), names)
  }

  async take(step: Step): Promise<void> {
    this.#clock.advance(step.minutes * 60_000)
    switch (step.kind) {
      case 'nothing':
        break
      case 'life':
        this.#lives.get(this.#names[step.name] ?? '')?.push(this.#clock.now())
        break
      case 'deletions':
        await this.#readDeletions(step)
        break
      case 'registrations':
        await this.#readRegistrations(step)
        break
      case 'statement':
        await this.#state(this.#names[step.name] ?? '', step.status)
        break
    }
    await announceFreed(this.#database, this.#clock)
    await this.#check()
  }

  async end(): Promise<void> {
    this.#clock.advance(ANNOUNCED_AFTER)
    await announceFreed(this.#database, this.#clock)
    await this.#check()
    const records = await this.#records()
    for (const { name, status, drops } of records) {
      assert.equal(this.#mirror.get(name), status, `${name}: a client believes something else`)
      assert.ok((this.#freeEvents.get(name) ?? 0) <= drops, `${name}: told to be free more often than it was`)
    }
    assert.equal(this.#mirror.size, records.length)
  }

  /** The names in a list that was written at a time. Its window begins at noon or midnight. */
  #deletedBefore(at: number, windowMs: number): readonly string[] {
    const start = Math.floor((at - windowMs) / (12 * HOUR)) * 12 * HOUR
    const isListed = (time: number, i: number) => i % 2 === 1 && time > start && time <= at
    return this.#names.filter((name) => this.#lives.get(name)?.some(isListed))
  }

  async #readDeletions({ window, fault, pick }: Extract<Step, { kind: 'deletions' }>): Promise<void> {
    const windowMs = WINDOWS[window]
    const complete = this.#completeNames.get(window) ?? 0
    const writtenAt = this.#clock.now() - (fault === 'late' ? wholeSeconds(pick, 48 * HOUR) : 0)
    // It may be fetched an hour after it was written.
    const lag = wholeSeconds(pick, HOUR)
    this.#clock.advance(lag)
    const whole = this.#deletedBefore(writtenAt, windowMs)
    const part = whole.filter((_, i) => ((pick >> i) & 1) === 1)
    const isFew = fault === 'few' && part.length < complete / 2
    let names = fault === 'part' || fault === 'abandoned' || isFew ? part : whole
    if (fault === 'repeated') names = this.#written.get(window) ?? names
    const list = { source: window, windowMs, at: writtenAt + lag, names, isWhole: fault !== 'part' }
    const isAbandoned = fault === 'abandoned'
    // Whether names are absent that a later list had, of which only a part was read, is left open.
    if (list.at <= (this.#abandonedAt.get(window) ?? 0)) return
    if (isAbandoned) this.#abandonedAt.set(window, list.at)
    this.#model.readDeletions({ ...list, isAbandoned })
    const isTaken = await this.#read('deletions', window, list, names.map(listedRow), isAbandoned)
    if (!isTaken || isAbandoned) return
    this.#written.set(window, names)
    if (list.isWhole && names.length >= complete / 2) this.#completeNames.set(window, names.length)
  }

  async #readRegistrations({ fault, pick }: Extract<Step, { kind: 'registrations' }>): Promise<void> {
    const now = this.#clock.now()
    const rows: ListedRow[] = []
    for (const [i, name] of this.#names.entries()) {
      const life = this.#lives.get(name) ?? []
      const at = life.findLast((time, event) => event % 2 === 0 && time > now - REGISTRATIONS_WINDOW)
      if (at === undefined || (fault === 'part' && ((pick >> i) & 1) === 0)) continue
      const date = shown(at)
      rows.push([name, null, name.length, null, date, date, null])
    }
    const isWhole = fault === 'none'
    const list = { at: now, names: rows.map(([name]) => name), isWhole }
    const isTaken = await this.#read('registrations', 'month', list, rows, false, JSON.stringify(rows))
    if (!isTaken) return
    for (const [name, , , , date] of rows) {
      this.#model.readRegistration(name, Date.parse(`${date}Z`))
      this.#registered.set(name, (this.#registered.get(name) ?? new Set()).add(String(date)))
    }
    const complete = this.#completeNames.get('registrations') ?? 0
    if (!isWhole || rows.length < complete / 2) return
    this.#completeNames.set('registrations', rows.length)
    this.#registrationsAt = now
  }

  /** @returns whether the list was not skipped */
  async #read(
    kind: ListKind,
    window: Window,
    {
      at,
      names,
      isWhole,
    }: { readonly at: number; readonly names: readonly string[]; readonly isWhole: boolean },
    rows: readonly ListedRow[],
    isAbandoned: boolean,
    content = JSON.stringify(names),
  ): Promise<boolean> {
    const target = {
      database: this.#database,
      clock: this.#clock,
      timeZone: 'UTC',
      split: () => [],
      account: this.#account,
    }
    const source = `${kind}/${window}`
    const list = new RegistryList(target, kind, { source, window, at, digest: content, isForced: false })
    if ((await list.skipReason()) !== undefined) return false
    const store = storeRows(target, (tx, batch) => list.apply(tx, batch))
    for (let from = 0; from < rows.length; from += 2) {
      const some = rows.slice(from, from + 2)
      await store({ names: some.map(([name]) => name), json: JSON.stringify(some) })
    }
    if (!isAbandoned) await list.end(isWhole, rows.length)
    return true
  }

  /** A member states the status of a record, where that changes it. */
  async #state(name: string, status: 0 | 1): Promise<void> {
    const record = (await this.#records()).find((one) => one.name === name)
    if (record === undefined || record.status === status) return
    const marks = {
      name,
      revision: null,
      discarded: null,
      reserved: null,
      status,
      agent: null,
      agent_folded: null,
      seen: null,
      note: null,
      tags: null,
    }
    const now = this.#clock.now()
    const json = JSON.stringify([rowValues(markDomains, marks)])
    const constants = [shown(now), now, now, 'grupo']
    await this.#database.transaction((tx) =>
      tx.runMany(markDomains, constants, new Uint8Array(Buffer.from(json))),
    )
    this.#model.state(name, status, now)
    this.#spoken.add(name)
  }

  async #check(): Promise<void> {
    const records = await this.#records()
    for (const record of records) {
      const { name, status } = record
      assert.equal(status, this.#model.status(name), `${name}: the lists determine another status`)
      if (!this.#spoken.has(name)) this.#checkDeletion(record)
      if (record.known === 1)
        assert.ok(this.#registered.get(name)?.has(record.date_reg), `${name}: an invented registration`)
    }
    const recorded = records.map(({ name }) => name)
    assert.deepEqual(
      recorded,
      this.#names.filter((name) => this.#model.status(name) !== undefined),
    )
    const listed = await this.#database.all(listedNames(this.#database.dialect, this.#names))
    for (const { name, not_before, listed_at } of listed) {
      assert.ok(this.#wasDeleted(name, not_before, listed_at), `${name}: it was not deleted then`)
    }
    await this.#follow()
  }

  #checkDeletion({ name, status, deleted_at, deleted_after }: Recorded): void {
    if (status === 1) return
    const [from, to] = [deleted_after, deleted_at].map((text) => Date.parse(`${text}Z`))
    assert.ok(
      this.#wasDeleted(name, from ?? NaN, to ?? NaN),
      `${name}: no deletion from ${deleted_after} to ${deleted_at}`,
    )
  }

  #wasDeleted(name: string, from: number, to: number): boolean {
    return (this.#lives.get(name) ?? []).some((at, i) => i % 2 === 1 && at >= from && at <= to)
  }

  /** Follows the events as a client does. */
  async #follow(): Promise<void> {
    const end = await settledHead(this.#database)
    const page = await this.#database.changes.since(this.#cursor, 1_000)
    assert.ok(page.kind === 'page')
    assert.equal(page.cursor, end)
    this.#cursor = end
    const contextAt = (now: number) => plainContext(now)
    const reading = { nameOf: async () => 'grupo', split: () => [], contextAt }
    for (const change of page.changes) {
      // A change of a world that failed before.
      if (!this.#names.includes(change.key)) continue
      const event = await eventOf(change, reading)
      if (event === undefined) continue
      const { before, after } = event
      assert.ok(after !== null)
      const { name } = after
      assert.equal(before === null, !this.#mirror.has(name), `${name}: recorded once`)
      this.#mirror.set(name, after.status)
      const occurrence = occurrenceOf(event)
      if (occurrence !== 'newFree' && occurrence !== 'released') continue
      this.#freeEvents.set(name, (this.#freeEvents.get(name) ?? 0) + 1)
      assert.equal(this.#model.status(name), 0, `${name}: told to be free`)
      const deletedAt = Date.parse(`${String(change.after?.['released_at'])}Z`)
      const isDue = this.#registrationsAt >= deletedAt || this.#clock.now() >= deletedAt + ANNOUNCED_AFTER
      assert.ok(isDue || this.#spoken.has(name), `${name}: told too early`)
    }
  }

  #records(): Promise<Recorded[]> {
    return this.#database.all(sql<Recorded>`
      SELECT name, status, date_reg, date_reg_known AS known, deleted_at, deleted_after,
        past_drops + CASE WHEN status = 0 THEN 1 ELSE 0 END AS drops
      FROM domains WHERE ${isOneOf(this.#database.dialect, sql`name`, this.#names)} ORDER BY name`)
  }
}

interface Account {
  readonly id: number
  readonly name: string
}

interface Recorded {
  readonly name: string
  readonly status: 0 | 1
  readonly date_reg: string
  readonly known: 0 | 1
  readonly deleted_at: string | null
  readonly deleted_after: string | null
  readonly drops: number
}

const listedNames = (dialect: Dialect, names: readonly string[]) => sql<{
  name: string
  not_before: number
  listed_at: number
}>`
  SELECT name, not_before, listed_at FROM listed_names WHERE ${isOneOf(dialect, sql`name`, names)}`

/** Records have whole seconds. */
const wholeSeconds = (pick: number, limitMs: number) => (pick * 1_000) % limitMs

const listedRow = (name: string): ListedRow => [name, null, name.length, null, null, null, null]

const shown = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ')
