import { repeatUntilAborted } from '../../lib/background-jobs.ts'
import { InterruptibleSleep } from '../../lib/clock.ts'
import { abortable } from '../../lib/concurrency.ts'
import { parseLabel } from '../../lib/domain-names.ts'
import type { Dns } from '../dns-lookups.ts'
import { answerText } from '../history/dns-observations.ts'
import { storeObservations, type Observation } from '../history/store-observations.ts'
import { anyToCheck } from '../watches/queries.ts'
import { Schedule, type ScheduleOptions } from './schedule.ts'

/** What is looked up of a name. */
const TYPES = ['ns', 'mx', 'a', 'aaaa'] as const
/** Names checked at a time: about a second's worth, but never more than this. */
const MAX_BATCH = 100
/** How often to look for names that are due, and for changes of records and watches. */
const IDLE_MS = 1_000

export interface RechecksOptions extends ScheduleOptions {
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
      dns.nameServers(domain, 'service'),
      dns.records(domain, 'mx', 'service'),
      dns.records(domain, 'a', 'service'),
      dns.records(domain, 'aaaa', 'service'),
    ])
    return { name, ns: answerText(ns), mx: answerText(mx), a: answerText(a), aaaa: answerText(aaaa) }
  }
}
