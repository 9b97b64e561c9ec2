import { repeatUntilAborted } from '../../lib/background-jobs.ts'
import { InterruptibleSleep } from '../../lib/clock.ts'
import { abortable } from '../../lib/concurrency.ts'
import { parseLabel } from '../../lib/domain-names.ts'
import { removeRows, storeRows, type Row } from '../../storage/database/rows.ts'
import type { Dns } from '../dns-lookups.ts'
import { answerText } from '../history/dns-observations.ts'
import type { ObservedType } from '../history/queries.ts'
import { storeObservations, type Observation } from '../history/store-observations.ts'
import * as queries from './queries.ts'
import { EVERYBODY, nextCheck, WantedNames, type WantedNamesOptions } from './wanted-names.ts'

/** Look-ups of a name: NS and MX. */
const LOOKUPS_PER_NAME = 2
/** Names checked at a time: about a second's worth, but never more than this. */
const MAX_BATCH = 100
/** How often to look for names that are due. */
const IDLE_MS = 1_000
/** How often to count overdue names, and the limit of the count. */
const COUNT_MS = 10_000
const MAX_COUNTED = 1_000_000

export interface RechecksOptions extends WantedNamesOptions {
  readonly dns: Dns
  /** Maximum number of look-ups per minute. */
  readonly lookupsPerMinute: number
  /** Called when reading or writing fails. It is retried. */
  readonly failed: (error: unknown) => void
}

/** The answers for a name, as observations hold them; undefined for a failed look-up. */
type Found = { readonly name: string } & Readonly<Record<ObservedType, string | null | undefined>>

/**
 * Looks up the name servers and MX records of names regularly, for the history and for watches of DNS changes. Runs
 * on one node only (leased). Every name has its own time in the interval; missed checks are made up as fast as the
 * limit allows.
 */
export class Rechecks {
  readonly #options: RechecksOptions
  readonly #wanted: WantedNames
  readonly #idle: InterruptibleSleep
  #checked = 0
  #failed = 0
  #overdue = 0
  #countedAt = Number.NEGATIVE_INFINITY
  /** Owners take turns at the first place of a batch. */
  #turn = 0

  constructor(options: RechecksOptions) {
    this.#options = options
    this.#wanted = new WantedNames(options)
    this.#idle = options.clock.moved ?? new InterruptibleSleep()
  }

  /** Names checked and failed in this process, and names whose time has passed. */
  get stats() {
    return { checked: this.#checked, failed: this.#failed, overdue: this.#overdue }
  }

  async hasWork(): Promise<boolean> {
    const { database, tags } = this.#options
    return tags.length > 0 || (await database.first(queries.anyToCheck())) !== undefined
  }

  /** Runs until `signal` aborts. Look-ups in progress are abandoned then; their names stay due. */
  async run(signal: AbortSignal): Promise<void> {
    const { failed } = this.#options
    try {
      await Promise.all([
        repeatUntilAborted(() => this.#wanted.run(signal), signal, failed),
        repeatUntilAborted(() => this.#checkDue(signal), signal, failed),
      ])
    } finally {
      this.#overdue = 0
    }
  }

  async #checkDue(signal: AbortSignal): Promise<void> {
    const { lookupsPerMinute } = this.#options
    const msPerName = (60_000 * LOOKUPS_PER_NAME) / lookupsPerMinute
    const size = Math.max(1, Math.min(MAX_BATCH, Math.floor(IDLE_MS / msPerName)))
    const pace = new InterruptibleSleep()
    while (!signal.aborted) {
      const startedAt = performance.now()
      await this.#countOverdue()
      const due = await this.#takeDue(size)
      if (due.length === 0) await this.#idle.sleep(IDLE_MS, signal)
      else {
        const looked = await this.#check(due, signal)
        await pace.sleep(Math.max(0, looked * msPerName - (performance.now() - startedAt)), signal)
      }
    }
  }

  /** Returns due names, with equal shares for those on whose behalf they are looked up. */
  async #takeDue(size: number): Promise<queries.Check[]> {
    const { clock, database } = this.#options
    const { owners } = this.#wanted
    const first = this.#turn++ % Math.max(1, owners.length)
    const inTurn = [...owners.slice(first), ...owners.slice(0, first)]
    const due: queries.Check[] = []
    for (const [i, owner] of inTurn.entries()) {
      const share = Math.ceil((size - due.length) / (inTurn.length - i))
      if (share > 0) due.push(...(await database.all(queries.dueChecks(owner, clock.now(), share))))
    }
    return due
  }

  /** Looks names up, stores the answers and their next times. Returns how many were looked up. */
  async #check(due: readonly queries.Check[], signal: AbortSignal): Promise<number> {
    const { clock, database, intervalMs } = this.#options
    const owners = await this.#wanted.findOwners(due.map(({ name }) => name))
    const removed: Row[] = []
    const wanted: queries.Check[] = []
    for (const check of due) {
      const owner = owners.get(check.name)
      if (owner === undefined) removed.push([check.name])
      else wanted.push({ ...check, account_id: owner })
    }
    const found = await abortable(Promise.all(wanted.map(({ name }) => this.#lookUp(name))), signal)
    const now = clock.now()
    await database.transaction(async (tx) => {
      for (const type of ['ns', 'mx'] as const) {
        const observations = new Map<string, Observation>()
        for (const { name, [type]: servers } of found)
          if (servers !== undefined) observations.set(name, { first: now, last: now, servers })
        if (observations.size > 0) await storeObservations(tx, database.dialect, type, observations)
      }
      // Watches may have been deleted in the meantime.
      const isOwner = new Set(this.#wanted.owners)
      const rows = wanted.map(({ name, account_id }) => [
        name,
        isOwner.has(account_id) ? account_id : EVERYBODY,
        nextCheck(name, now, intervalMs),
      ])
      if (rows.length > 0) await storeRows(tx, database.dialect, queries.CHECKS, rows)
      if (removed.length > 0) await removeRows(tx, database.dialect, queries.CHECKS, removed)
    })
    this.#checked += found.length
    this.#failed += found.filter(({ ns, mx }) => ns === undefined || mx === undefined).length
    return wanted.length
  }

  async #lookUp(name: string): Promise<Found> {
    const { dns } = this.#options
    const label = parseLabel(name)
    // Names that the service did not write itself may be invalid.
    if (!label.ok) return { name, ns: undefined, mx: undefined }
    const domain = `${label.ascii}.cl`
    const [nameServers, mail] = await Promise.all([
      dns.nameServers(domain, 'service'),
      dns.records(domain, 'mx', 'service'),
    ])
    return { name, ns: answerText(nameServers), mx: answerText(mail) }
  }

  async #countOverdue(): Promise<void> {
    if (performance.now() - this.#countedAt < COUNT_MS) return
    const { clock, database } = this.#options
    const { owners } = this.#wanted
    if (owners.length === 0) return
    let overdue = 0
    for (const owner of owners) {
      overdue += (await database.first(queries.countChecks(owner, clock.now(), MAX_COUNTED)))?.count ?? 0
    }
    this.#overdue = overdue
    this.#countedAt = performance.now()
  }
}
