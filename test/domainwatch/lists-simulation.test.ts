import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { localDateTime } from '../../src/lib/dates.ts'
import { corpus } from '../support/corpus.ts'
import { add, record, update } from '../support/domains.ts'
import { isThorough } from '../support/effort.ts'
import { EventReader } from '../support/event-reader.ts'
import { eventually } from '../support/eventually.ts'
import { FEEDS, feedsFile, startWithFeeds } from '../support/feeds.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call } from '../support/http.ts'
import { ManualClock, type TestService } from '../support/service.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const ZONE = 'America/Santiago'
const START = Date.parse('2026-05-04T12:00:00Z')
const DAYS = 21
/** Before the service starts, for its first lists. */
const EARLIER_DAYS = 32

/** In CI as large as the registry; otherwise a fortieth as busy. */
const WHOLE = { names: 60_000, registrations: 450, deletions: 300, everyHours: 1 }
const SMALL = { names: 2_900, registrations: 12, deletions: 8, everyHours: 6 }
const {
  names: NAMES,
  registrations: REGISTRATIONS,
  deletions: DELETIONS,
  everyHours,
} = isThorough() ? WHOLE : SMALL
/** Of the registrations, those of names that were deleted recently. */
const AGAIN = 0.1
/** Records that members discard each day, free and bought ones. */
const DISCARDED = 3

const WINDOWS = { semana: 7 * DAY, mes: 31 * DAY } as const
type List = keyof typeof WINDOWS

/** A generator of random numbers from 0 to 1, the same in each run. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Names that people have registered, in the order in which a directory lists the months. */
function realNames(count: number): string[] {
  const folder = new URL('registrations/', corpus)
  const names = new Set<string>()
  for (const file of readdirSync(folder).toSorted()) {
    const lines = gunzipSync(readFileSync(new URL(file, folder)))
      .toString()
      .split('\n')
      .slice(1)
    for (const line of lines) {
      const [name = ''] = line.split('.cl,')
      if (name !== '') names.add(name)
      if (names.size === count) return [...names]
    }
  }
  return [...names]
}

const shown = (at: number) => localDateTime(at, ZONE)

/** The registry: when each name was registered and deleted, in turn. */
class Registry {
  readonly lives = new Map<string, number[]>()
  readonly #registered: string[] = []
  readonly #deleted: string[] = []
  readonly #unused: string[]
  readonly #random = randomFrom(28)

  constructor(names: readonly string[], stock: number, at: number) {
    this.#unused = names.slice(stock)
    for (const [i, name] of names.slice(0, stock).entries()) this.#register(name, at - i * 60_000)
  }

  /** Lets an interval pass, with its share of registrations and deletions. */
  pass(from: number, to: number): void {
    const share = (to - from) / DAY
    const moment = () => from + Math.floor((this.#random() * (to - from)) / 1_000) * 1_000
    for (const at of moments(DELETIONS * share, moment, this.#random)) this.#delete(at)
    for (const at of moments(REGISTRATIONS * share, moment, this.#random)) {
      const isAgain = this.#random() < AGAIN
      const name = isAgain ? take(this.#deleted, this.#random, at, this.lives) : this.#unused.pop()
      if (name !== undefined) this.#register(name, at)
    }
  }

  #register(name: string, at: number): void {
    const life = this.lives.get(name)
    if (life === undefined) this.lives.set(name, [at])
    else life.push(at)
    this.#registered.push(name)
  }

  #delete(at: number): void {
    const name = take(this.#registered, this.#random, at, this.lives)
    if (name === undefined) return
    this.lives.get(name)?.push(at)
    this.#deleted.push(name)
  }

  /** The plain list of deletions in a window, as it was written at a time. */
  deletions(at: number, windowMs: number): string[] {
    const isListed = (time: number, i: number) => i % 2 === 1 && time <= at && time > at - windowMs
    return [...this.lives].flatMap(([name, life]) => (life.some(isListed) ? [name] : []))
  }

  /** The last month's registrations, newest first. */
  registrations(at: number): [name: string, date: number][] {
    const isListed = (time: number, i: number) => i % 2 === 0 && time <= at && time > at - WINDOWS.mes
    return [...this.lives]
      .flatMap(([name, life]): [string, number][] => {
        const last = life.findLast(isListed)
        return last === undefined ? [] : [[name, last]]
      })
      .toSorted(([, a], [, b]) => b - a)
  }
}

function moments(count: number, moment: () => number, random: () => number): number[] {
  const whole = Math.floor(count) + (random() < count % 1 ? 1 : 0)
  return Array.from({ length: whole }, moment).toSorted((a, b) => a - b)
}

/** Takes a name whose life has no later event. */
function take(
  names: string[],
  random: () => number,
  at: number,
  lives: ReadonlyMap<string, readonly number[]>,
): string | undefined {
  for (let tries = 0; tries < 20 && names.length > 0; tries++) {
    const i = Math.floor(random() * names.length)
    const name = names[i] ?? ''
    if ((lives.get(name)?.at(-1) ?? 0) >= at) continue
    names.splice(i, 1)
    return name
  }
  return undefined
}

/** What the lists that were read determine, of each name. */
class Determined {
  readonly #earliest = new Map<string, number>()
  readonly registered = new Map<string, number>()
  readonly #complete = new Map<List, { readonly at: number; readonly names: ReadonlySet<string> }>()

  readDeletions(list: List, names: readonly string[], at: number, isComplete: boolean): void {
    const last = this.#complete.get(list)
    for (const name of names) {
      const windowStart = at - WINDOWS[list] - DAY
      const bound = last?.names.has(name) === false ? Math.max(windowStart, last.at - HOUR) : windowStart
      this.#earliest.set(name, Math.max(this.#earliest.get(name) ?? -Infinity, bound))
    }
    if (isComplete) this.#complete.set(list, { at, names: new Set(names) })
  }

  readRegistration(name: string, at: number): void {
    this.registered.set(name, Math.max(this.registered.get(name) ?? -Infinity, at))
  }

  earliestDeletion(name: string): number | undefined {
    return this.#earliest.get(name)
  }

  /** Where they decide nothing, a name is registered. */
  isFree(name: string): boolean {
    const earliest = this.#earliest.get(name)
    return earliest !== undefined && (this.registered.get(name) ?? -Infinity) < earliest
  }
}

interface Exported {
  readonly name: string
  readonly status: 0 | 1
  readonly date_reg: string
  readonly deleted_at: string | null
  readonly deleted_after: string | null
  readonly date_reg_known: 0 | 1
  readonly dismissed_by: string | null
}

test('21 days of the registry: no state and no event contradicts its lists, and dismissed names stay away', async () => {
  const clock = new ManualClock(new Date(START).toISOString())
  const names = realNames(NAMES)
  const began = START - EARLIER_DAYS * DAY
  const registry = new Registry(names, Math.floor(names.length * 0.6), began)
  registry.pass(began, START)
  const determined = new Determined()

  /** What the server does at present. */
  let weather: 'fair' | 'outage' | 'truncated' = 'fair'
  const served = new Map<string, { readonly names: readonly string[]; readonly isWhole: boolean }>()
  const writtenAt = () => clock.now() - (clock.now() % HOUR) / 2
  const server = createServer((request, response) => {
    if (weather === 'outage') return response.writeHead(503).end()
    const path = request.url ?? ''
    const list = path === '/semana' ? 'semana' : path === '/mes' ? 'mes' : undefined
    let text: string
    if (list === undefined) {
      const rows = registry.registrations(writtenAt())
      served.set(path, { names: rows.map(([name]) => name), isWhole: true })
      text = `Nombre Dominio,Fecha Inscripción\n${rows.map(([name, at]) => `${name}.cl,${shown(at)}\n`).join('')}`
    } else {
      const deleted = registry.deletions(writtenAt(), WINDOWS[list])
      const isWhole = weather === 'fair'
      const some = isWhole ? deleted : deleted.slice(0, Math.floor(deleted.length * 0.7))
      served.set(path, { names: some, isWhole })
      text = some.map((name) => `${name}.cl\n`).join('') + (isWhole ? '' : 'cortad')
    }
    const etag = `"${createHash('sha256').update(text).digest('hex')}"`
    if (request.headers['if-none-match'] === etag) {
      served.delete(path)
      return response.writeHead(304, { etag }).end()
    }
    return response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', etag }).end(text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await using closing = new AsyncDisposableStack()
  closing.defer(() => void server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const feed = (name: string, format: string, window: string) => ({
    name,
    url: `http://127.0.0.1:${address.port}/${name}`,
    format,
    every: `${everyHours}h`,
    account: 'grupo',
    window,
  })
  const feeds = [
    feed('altas', 'registrations', 'month'),
    feed('semana', 'deletions', 'week'),
    feed('mes', 'deletions', 'month'),
  ]
  await using folder = await temporaryFolder()
  const flags = { feeds: await feedsFile(folder.path, feeds), 'webhook-networks': '127.0.0.0/8' }

  // A group that starts with an old collection.
  const stock = [...registry.lives].filter(([, [first = 0]]) => first <= began)
  weather = 'outage'
  await using service = await startWithFeeds({ clock, flags })
  for (let from = 0; from < stock.length; from += 20_000) {
    const records = stock.slice(from, from + 20_000).map(([name, [first = 0]]) => {
      determined.readRegistration(name, first)
      return record(name, { date_reg: shown(first) })
    })
    assert.equal((await add(service, records)).status, 200)
  }
  weather = 'fair'
  const events = await EventReader.open(service, { api: service.domainKey })
  closing.use(events)

  const dismissals = new Map<string, Exported>()
  const discardedUntil = new Map<string, number>()
  let told = 0
  for (let day = 0; day < DAYS; day++) {
    for (let hour = 0; hour < 24; hour += everyHours) {
      const now = clock.now()
      weather =
        day >= 8 && day < 14 ? 'outage' : day === 5 || (day === 16 && hour < 12) ? 'truncated' : 'fair'
      registry.pass(now, now + everyHours * HOUR)
      served.clear()
      clock.advance(everyHours * HOUR)
      await allFetched(service, clock)
      readServed()
      told += await checkEvents()
    }
    await checkRecords()
    await discardSome()
  }
  assert.ok(told > (DAYS - 7) * DELETIONS * 0.5, `${told} names were told to be free`)
  assert.ok(dismissals.size > DAYS, `${dismissals.size} names were dismissed`)

  function readServed(): void {
    // Deletions come first; an unchanged list says nothing.
    for (const list of ['semana', 'mes'] as const) {
      const one = served.get(`/${list}`)
      if (one !== undefined) determined.readDeletions(list, one.names, clock.now(), one.isWhole)
    }
    for (const name of served.get('/altas')?.names ?? []) {
      const at = registry.lives.get(name)?.findLast((time, i) => i % 2 === 0 && time <= writtenAt())
      if (at !== undefined) determined.readRegistration(name, at)
    }
  }

  /** @returns the number of names that events reported as free */
  async function checkEvents(): Promise<number> {
    const marker = { domain: 'marca', length: 5, reserve: 0, status: 1, date_reg: shown(clock.now()) }
    assert.equal((await add(service, [marker])).status, 200)
    let free = 0
    for (;;) {
      const event = await events.next()
      const { record: is, before } = Object(event?.data)
      if (is.name === 'marca' && is.date_reg === marker.date_reg) return free
      const isTold = is.status === 0 && event?.event !== 'deleted' && before?.status !== 0
      if (!isTold) continue
      free++
      assert.ok(determined.isFree(is.name), `${is.name} was told to be free on ${shown(clock.now())}`)
    }
  }

  async function checkRecords(): Promise<void> {
    const { text } = await call(service, '/api/v1/domainwatch/export', {
      query: { api: service.domainKey, format: 'ndjson', fields: 'all' },
    })
    const recorded = new Map<string, Exported>()
    for (const line of text.trim().split('\n')) {
      const one: Exported = JSON.parse(line)
      if (one.name === 'marca') continue
      recorded.set(one.name, one)
      assert.equal(
        one.status === 0,
        determined.isFree(one.name),
        `${one.name}: ${line} on ${shown(clock.now())}`,
      )
      const [from, to] = [one.deleted_after, one.deleted_at]
      const life = registry.lives.get(one.name) ?? []
      // A free record keeps the date it has, although a list may have a later registration that ended, too.
      if (one.status === 1) assert.equal(one.date_reg, shown(determined.registered.get(one.name) ?? 0), line)
      else if (one.date_reg_known === 1)
        assert.ok(
          life.some((at, i) => i % 2 === 0 && shown(at) === one.date_reg),
          line,
        )
      if (from !== null && to !== null)
        assert.ok(
          life.some((at, i) => i % 2 === 1 && shown(at) >= from && shown(at) <= to),
          line,
        )
    }
    for (const [name, was] of dismissals) {
      const is = recorded.get(name)
      if (is === undefined || clock.now() < (discardedUntil.get(name) ?? 0)) continue
      const earliest = shown(determined.earliestDeletion(name) ?? 0)
      const registered = shown(determined.registered.get(name) ?? 0)
      const isDeletedSince = earliest >= (was.deleted_at ?? was.date_reg)
      const isRegisteredSince =
        was.status === 0 ? registered >= (was.deleted_after ?? '') : registered > was.date_reg
      assert.ok(
        isDeletedSince || isRegisteredSince,
        `${JSON.stringify(was)} came back as ${JSON.stringify(is)}`,
      )
      assert.equal(is.dismissed_by, 'grupo')
      dismissals.delete(name)
    }
    for (const [name, until] of discardedUntil) {
      const one = recorded.get(name)
      if (one !== undefined && clock.now() < until) dismissals.set(name, one)
    }
  }

  async function discardSome(): Promise<void> {
    const { body } = await call(service, '/api/v1/domainwatch/list', {
      query: { api: service.domainKey, last_deleted: DISCARDED, last_register: DISCARDED, discarded: 0 },
    })
    const { data } = Object(body)
    const some = data[0].map(({ name }: { name: string }) => name).filter((name: string) => name !== 'marca')
    assert.equal(
      (
        await update(
          service,
          some.map((domain: string) => ({ domain, discarded: 1 })),
        )
      ).status,
      200,
    )
    for (const name of some) discardedUntil.set(name, clock.now() + 7 * DAY)
  }
})

/** Resolves when every feed was fetched, or failed, at the present time. */
async function allFetched(service: TestService, clock: ManualClock): Promise<void> {
  const now = shown(clock.now())
  const states = async () =>
    Object((await call(service, FEEDS, { query: { api: service.domainKey } })).body).data
  await eventually(async () => {
    const found: { last_attempt: string; last_success: string; error: string | null }[] = await states()
    return found.every(
      ({ last_attempt, last_success, error }) =>
        last_attempt === now && (last_success === now || error !== null),
    )
  }, 'every feed was fetched')
}
