import { hash } from 'node:crypto'
import { InterruptibleSleep } from '../lib/clock.ts'
import type { Vocabulary } from '../lib/lookalikes/index.ts'
import { allMatches, finish, TimeSlice } from '../lib/name-index/index.ts'
import { newestObservations } from './history/queries.ts'
import { nameOfHit } from './list/hits.ts'
import type { DomainContext } from './context.ts'
import { indexQuery } from './list/search.ts'
import { readSavedFilters } from './watches/watch-filters.ts'
import { dnsWatches, type DnsWatch, anyToCheck } from './watches/queries.ts'
import { abortable, repeatUntilAborted } from '../lib/concurrency.ts'
import { parseLabel } from '../lib/domain-names.ts'
import type { Dns } from './dns-lookups.ts'
import { answerText, storeObservations, type Observation } from './history/observations.ts'

/** Names whose last observations are read in one query. */
const PAGE = 1_000
/** Names that the watches of an account can have looked up again. */
const MAX_NAMES_PER_ACCOUNT = 100_000
/** Rest after a search for wanted names, as a multiple of the time that it took: records may change all the time. */
const REST_FACTOR = 20
/** Stands for all members, in place of the account whose watch asks for a name. */
const EVERYBODY = 0

interface ScheduleOptions extends Pick<DomainContext, 'clock' | 'database' | 'nameIndex'> {
  readonly vocabulary: Vocabulary
  readonly intervalMs: number
  /** Records with one of these tags are looked up again. */
  readonly tags: readonly string[]
}

/** A name to look up again. */
interface Check {
  readonly name: string
  /** On whose behalf: `EVERYBODY` or an account. */
  readonly owner: number
  /** When, in milliseconds since 1970. */
  readonly at: number
}

/**
 * The names to look up again and when, in memory: the list index tells which are wanted, and the history when each was looked up
 * last. A name that was not looked up since its last regular time is due, so a process that takes over continues.
 */
class Schedule {
  readonly #options: ScheduleOptions
  #checks = new Map<string, Check>()
  /** What the names were found from. */
  #state = ''
  #restsUntil = -Infinity
  /** Owners take turns at the first place of a batch. */
  #turn = 0
  /** Names that were due when some were last taken. */
  overdue = 0

  constructor(options: ScheduleOptions) {
    this.#options = options
  }

  /** Finds the wanted names again if records or watches have changed, and once in each interval: some filters depend on the time. */
  async refresh(signal: AbortSignal): Promise<void> {
    const { clock, database, intervalMs, tags, vocabulary } = this.#options
    const startedAt = performance.now()
    if (startedAt < this.#restsUntil) return
    const now = clock.now()
    const watches = await database.all(dnsWatches(now))
    const state = JSON.stringify([database.version('domain'), watches, Math.floor(now / intervalMs)])
    if (state === this.#state) return
    const owners = new Map<string, number>()
    for (const watch of [...standingRules(tags), ...watches])
      await this.#addMatches(watch, vocabulary, owners, signal)
    const added = [...owners.keys()].filter((name) => !this.#checks.has(name))
    const observed = await this.#lastObserved(added)
    const firstCheck = (name: string): number => {
      const next = nextCheck(name, clock.now(), intervalMs)
      return (observed.get(name) ?? 0) >= next - intervalMs ? next : next - intervalMs
    }
    this.#checks = new Map(
      [...owners].map(([name, owner]) => [
        name,
        { name, owner, at: this.#checks.get(name)?.at ?? firstCheck(name) },
      ]),
    )
    this.#state = state
    this.#restsUntil = performance.now() + REST_FACTOR * (performance.now() - startedAt)
  }

  /** Returns names that are due, the longest overdue first, with equal shares for those on whose behalf they are looked up. */
  findDue(size: number): string[] {
    const now = this.#options.clock.now()
    const due = [...this.#checks.values()].filter(({ at }) => at <= now)
    this.overdue = due.length
    const groups = [...Map.groupBy(due, ({ owner }) => owner).values()]
    const first = this.#turn++ % Math.max(1, groups.length)
    const inTurn = [...groups.slice(first), ...groups.slice(0, first)].map((group) =>
      group.toSorted((a, b) => a.at - b.at),
    )
    const names: string[] = []
    for (let place = 0; names.length < Math.min(size, due.length); place++)
      for (const { [place]: check } of inTurn) if (check !== undefined) names.push(check.name)
    return names.slice(0, size)
  }

  /** Schedules names that were looked up for their next time. */
  checked(names: readonly string[]): void {
    const { clock, intervalMs } = this.#options
    for (const name of names) {
      const check = this.#checks.get(name)
      if (check !== undefined)
        this.#checks.set(name, { ...check, at: nextCheck(name, clock.now(), intervalMs) })
    }
  }

  /** Adds the names that a watch asks for and no other one did before. */
  async #addMatches(
    watch: DnsWatch,
    vocabulary: Vocabulary,
    owners: Map<string, number>,
    signal: AbortSignal,
  ): Promise<void> {
    const wanted = readSavedFilters(watch.filters, vocabulary)
    // Undefined if the filters are not those of this version.
    if (wanted?.looksUpDns !== true) return
    const { account_id: owner } = watch
    let left = owner === EVERYBODY ? Infinity : MAX_NAMES_PER_ACCOUNT
    for (const other of owners.values()) if (other === owner) left--
    const slice = new TimeSlice()
    const { clock, nameIndex } = this.#options
    const { filters } = wanted
    const { registered } = await nameIndex.current({ filters, isFresh: true, left: () => signal })
    const query = indexQuery(filters, nameIndex.contextAt(clock.now()))
    const find = allMatches(registered, query, slice, (segment, position) => {
      const name = nameOfHit({ segment, position })
      if (left <= 0 || owners.has(name) || !wanted.resembles(name)) return
      owners.set(name, owner)
      left--
    })
    await finish(find, slice, signal)
  }

  /** Returns when names were looked up last; those that never were are left out. */
  async #lastObserved(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { database } = this.#options
    const observed = new Map<string, number>()
    for (let from = 0; from < names.length; from += PAGE) {
      const page = names.slice(from, from + PAGE)
      for (const { name, last } of await database.scanner.all(
        newestObservations(database.dialect, 'ns', page),
      ))
        if (last !== null) observed.set(name, last)
    }
    return observed
  }
}

/** The rules that apply without any watch, in the form of watches: records in review, and those with one of some tags. */
function standingRules(tags: readonly string[]): readonly DnsWatch[] {
  return [{ revision: '1' }, ...tags.map((tag) => ({ tag }))].map((filters) => ({
    account_id: EVERYBODY,
    filters: JSON.stringify({ ...filters, dns: '1' }),
  }))
}

/**
 * Returns the next regular time after `now` at which a name is looked up. Each name has its own offset in the interval, derived
 * from a hash, so that look-ups are spread evenly and keep their times across restarts. All times in milliseconds.
 */
function nextCheck(name: string, now: number, intervalMs: number): number {
  const offset = Number.parseInt(hash('sha256', name).slice(0, 12), 16) % intervalMs
  return (Math.floor((now - offset) / intervalMs) + 1) * intervalMs + offset
}

/** What is looked up of a name. */
const TYPES = ['ns', 'mx', 'a', 'aaaa'] as const
/** Names checked at a time: about a second's worth, but never more than this. */
const MAX_BATCH = 100
/** How often to look for names that are due, and for changes of records and watches. */
const IDLE_MS = 1_000

interface RechecksOptions extends ScheduleOptions {
  readonly dns: Dns
  /** Maximum number of look-ups per minute. */
  readonly lookupsPerMinute: number
  /** Called when reading or writing fails. It is retried. */
  readonly failed: (error: unknown) => void
}

/** The answers for a name, as observations hold them; undefined for a failed look-up. */
type Found = { readonly name: string } & Readonly<Record<(typeof TYPES)[number], string | null | undefined>>

/**
 * Looks up the name servers, MX records and addresses of names regularly, for the history, for watches of DNS changes and for lists
 * of names that share a server. Runs on one node only (leased). A name is looked up when it is new, and then at its own time in each interval; missed checks are made
 * up as fast as the limit allows.
 */
export class Rechecks {
  readonly #options: RechecksOptions
  readonly #idle: InterruptibleSleep
  #schedule: Schedule | undefined
  #checked = 0
  #failed = 0

  constructor(options: RechecksOptions) {
    this.#options = options
    this.#idle = options.clock.moved ?? new InterruptibleSleep()
  }

  /** Names checked and failed in this process, and names whose time has passed. */
  get stats() {
    return { checked: this.#checked, failed: this.#failed, overdue: this.#schedule?.overdue ?? 0 }
  }

  async hasWork(): Promise<boolean> {
    const { database, tags } = this.#options
    return tags.length > 0 || (await database.first(anyToCheck())) !== undefined
  }

  /** Runs until `signal` aborts. Look-ups in progress are abandoned then; their names stay due. */
  async run(signal: AbortSignal): Promise<void> {
    const schedule = new Schedule(this.#options)
    this.#schedule = schedule
    try {
      await repeatUntilAborted(() => this.#checkDue(schedule, signal), signal, this.#options.failed)
    } finally {
      this.#schedule = undefined
    }
  }

  async #checkDue(schedule: Schedule, signal: AbortSignal): Promise<void> {
    const msPerName = (60_000 * TYPES.length) / this.#options.lookupsPerMinute
    const size = Math.max(1, Math.min(MAX_BATCH, Math.floor(IDLE_MS / msPerName)))
    const pace = new InterruptibleSleep()
    while (!signal.aborted) {
      const startedAt = performance.now()
      await schedule.refresh(signal)
      const due = schedule.findDue(size)
      if (due.length === 0) await this.#idle.sleep(IDLE_MS, signal)
      else {
        await this.#check(due, signal)
        schedule.checked(due)
        await pace.sleep(Math.max(0, due.length * msPerName - (performance.now() - startedAt)), signal)
      }
    }
  }

  /** Looks names up and stores the answers. */
  async #check(names: readonly string[], signal: AbortSignal): Promise<void> {
    const { clock, database } = this.#options
    const found = await abortable(Promise.all(names.map((name) => this.#lookUp(name))), signal)
    const now = clock.now()
    await database.transaction(async (tx) => {
      for (const type of TYPES) {
        const observations = new Map<string, Observation>()
        for (const { name, [type]: servers } of found)
          if (servers !== undefined) observations.set(name, { first: now, last: now, servers })
        const kind = type === 'a' || type === 'aaaa' ? 'ip' : type
        if (observations.size > 0) await storeObservations(tx, database.dialect, kind, observations)
      }
    })
    this.#checked += found.length
    this.#failed += found.filter((one) => TYPES.some((type) => one[type] === undefined)).length
  }

  async #lookUp(name: string): Promise<Found> {
    const { dns } = this.#options
    const label = parseLabel(name)
    // Names that the service did not write itself may be invalid.
    if (!label.ok) return { name, ns: undefined, mx: undefined, a: undefined, aaaa: undefined }
    const domain = `${label.ascii}.cl`
    const [ns, mx, a, aaaa] = await Promise.all([
      dns.nameServers(domain),
      dns.records(domain, 'mx'),
      dns.records(domain, 'a'),
      dns.records(domain, 'aaaa'),
    ])
    return { name, ns: answerText(ns), mx: answerText(mx), a: answerText(a), aaaa: answerText(aaaa) }
  }
}
