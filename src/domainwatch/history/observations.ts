import { acceptsMail } from '../events/event.ts'
import { toSeenServers } from '../servers.ts'
import {
  storeServers,
  type SeenServer,
  insertDnsChanges,
  neighbours,
  observationTable,
  removeExcess,
  type DnsChange,
  type ObservedType,
} from './queries.ts'
import type { Transaction } from '../../storage/database/database.ts'
import { lockInstance, type Dialect } from '../../storage/database/dialect.ts'
import { removeRows, storeRows, type Row } from '../../storage/database/tables.ts'
import type { Clock } from '../../lib/clock.ts'
import { parseDomain } from '../../lib/domain-names.ts'
import type { NameServerAnswer, RecordAnswer } from '../../lib/dns/index.ts'

/** Entries kept per name; the oldest are removed. Daily changes of name servers fill it in three months. */
export const MAX_ENTRIES = 100

/** A period in which the DNS gave the same answer for a name. Times in milliseconds since 1970. */
export interface Observation {
  readonly first: number
  readonly last: number
  /** A JSON array of host names, or of MX records; null if the name does not exist. */
  readonly servers: string | null
}

/** A write that adds an observation to the stored entries of a name. */
interface Merge {
  /** The entry to store. It replaces an entry with the same `first`. */
  readonly entry: Observation
  /** `first` of an entry to remove, because `entry` contains it. */
  readonly replaced?: number
  /** True if the name has one entry more afterwards. */
  readonly isNew: boolean
}

/**
 * Merges an observation into the stored entries of its name, or returns undefined if they contain it. It extends the entry
 * before or after it if that has the same answer. Nodes store observations in any order.
 * @param earlier the last entry with `first` <= `seen.first`
 * @param later the first entry with `first` > `seen.first`
 */
export function mergeObservation(
  seen: Observation,
  earlier: Observation | undefined,
  later: Observation | undefined,
): Merge | undefined {
  if (earlier !== undefined && earlier.servers === seen.servers) {
    return seen.last > earlier.last ? { entry: { ...earlier, last: seen.last }, isNew: false } : undefined
  }
  if (later !== undefined && later.servers === seen.servers) {
    return {
      entry: { ...later, first: seen.first, last: Math.max(later.last, seen.last) },
      replaced: later.first,
      isNew: false,
    }
  }
  // `first` is part of the primary key, so two different answers cannot share it.
  const first = earlier?.first === seen.first ? seen.first + 1 : seen.first
  return { entry: { ...seen, first, last: Math.max(first, seen.last) }, isNew: true }
}

/**
 * Stores one observation per name, and the changes that it shows; of addresses only with which names were seen. Ignores names
 * without a record.
 */
export async function storeObservations(
  tx: Transaction,
  dialect: Dialect,
  type: ObservedType | 'ip',
  observations: ReadonlyMap<string, Observation>,
): Promise<void> {
  if (type === 'ip') {
    const seen = [...observations].flatMap(([name, { last, servers: addresses }]) =>
      toSeenServers(type, name, last, addresses),
    )
    if (seen.length > 0) await tx.run(storeServers(dialect, seen))
    return
  }
  const table = observationTable(type)
  // So that nodes store the same observation once.
  await tx.all(lockInstance(dialect))
  const items = [...observations].map(([name, { first }]) => [name, first] as const)
  const stored: Row[] = []
  const replaced: Row[] = []
  const grown: string[] = []
  const changes: DnsChange[] = []
  const servers: SeenServer[] = []
  for (const row of await tx.all(neighbours(dialect, type, items))) {
    const seen = observations.get(row.name)
    if (seen === undefined) continue
    const earlier = observation(row.first, row.last, row.servers)
    const later = observation(row.next_first, row.next_last, row.next_servers)
    const merge = mergeObservation(seen, earlier, later)
    if (merge === undefined) continue
    const { entry } = merge
    stored.push([row.name, entry.first, entry.last, entry.servers])
    if (merge.replaced !== undefined) replaced.push([row.name, merge.replaced])
    const at = seen.last
    if (merge.isNew) servers.push(...toSeenServers(type, row.name, at, entry.servers))
    else continue
    grown.push(row.name)
    // An observation that arrives late changes the past only, and the first one shows no change.
    const isNews =
      earlier !== undefined && later === undefined && isRelevant(type, earlier.servers, seen.servers)
    if (isNews) changes.push({ name: row.name, type, from: earlier.servers, to: seen.servers })
  }
  if (replaced.length > 0) await removeRows(tx, dialect, table, replaced)
  if (stored.length > 0) await storeRows(tx, dialect, table, stored)
  if (grown.length > 0) await tx.run(removeExcess(dialect, type, grown, MAX_ENTRIES))
  if (servers.length > 0) await tx.run(storeServers(dialect, servers))
  if (changes.length > 0) await tx.run(insertDnsChanges(dialect, changes))
}

/** Any other name servers are news; of MX records only that the domain begins or ceases to accept mail. */
function isRelevant(type: ObservedType, from: string | null, to: string | null): boolean {
  const mail = (servers: string | null) => acceptsMail(JSON.parse(servers ?? '[]'))
  return type === 'ns' || mail(from) !== mail(to)
}

function observation(
  first: number | null,
  last: number | null,
  servers: string | null,
): Observation | undefined {
  return first === null || last === null ? undefined : { first, last, servers }
}

/** Delay from an answer to its write. */
const FLUSH_MS = 500
/** Delay after a failed write. */
const RETRY_MS = 2_000
/** Names written per transaction. */
const BATCH = 2_000
/** Observations in memory, of about 200 bytes. More are dropped and counted. */
const MAX_PENDING = 50_000

type DnsAnswer = NameServerAnswer | RecordAnswer

interface DnsObservationsOptions {
  readonly clock: Clock
  /** Stores a batch: one observation per name, in the order of observation. */
  readonly store: (observations: ReadonlyMap<string, Observation>) => Promise<void>
  readonly failed: (error: unknown) => void
}

/**
 * Buffers the answers of DNS look-ups of one type, and writes them in batches, so that no response waits for the
 * disk. Answers not yet written are lost if the process crashes.
 */
export class DnsObservations {
  readonly #options: DnsObservationsOptions
  /** Per name, in order of time. Consecutive observations differ. */
  readonly #pending = new Map<string, Observation[]>()
  #count = 0
  #lost = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(options: DnsObservationsOptions) {
    this.#options = options
  }

  /** Number of observations dropped because the buffer was full. */
  get lost(): number {
    return this.#lost
  }

  /**
   * Records an answer. Ignores failures and names below a registered one, which have no history.
   * @param domain in A-label form, under .cl
   */
  add(domain: string, answer: DnsAnswer): void {
    const name = toLabel(domain)
    const servers = answerText(answer)
    if (name === undefined || servers === undefined) return
    const now = this.#options.clock.now()
    const known = this.#pending.get(name)
    const last = known?.at(-1)
    if (known !== undefined && last?.servers === servers) {
      known[known.length - 1] = { ...last, last: Math.max(now, last.last) }
      return
    }
    if (this.#count >= MAX_PENDING) {
      this.#lost++
      return
    }
    this.#set(name, [...(known ?? []), { first: now, last: now, servers }])
    this.#scheduleWrite(FLUSH_MS)
  }

  /** Writes everything pending. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#write()
    clearTimeout(this.#timer)
  }

  #set(name: string, observations: Observation[]): void {
    this.#count += observations.length - (this.#pending.get(name)?.length ?? 0)
    if (observations.length === 0) this.#pending.delete(name)
    else this.#pending.set(name, observations)
  }

  #scheduleWrite(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#write()
    }, ms).unref()
  }

  #write(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      while (this.#pending.size > 0) {
        const batch = this.#take()
        try {
          await this.#options.store(batch)
        } catch (error) {
          this.#options.failed(error)
          this.#putBack(batch)
          this.#scheduleWrite(RETRY_MS)
          return
        }
      }
    })
    return this.#writing
  }

  /** Removes and returns the first observation of each name: the ones after it can only be merged once it is stored. */
  #take(): Map<string, Observation> {
    const batch = new Map<string, Observation>()
    for (const [name, [first, ...rest]] of this.#pending) {
      if (first === undefined) continue
      batch.set(name, first)
      this.#set(name, rest)
      if (batch.size === BATCH) break
    }
    return batch
  }

  #putBack(batch: ReadonlyMap<string, Observation>): void {
    for (const [name, first] of batch) this.#set(name, [first, ...(this.#pending.get(name) ?? [])])
  }
}

const SUFFIX = '.cl'

/** Returns the name in the form of records, or undefined for a name below a registered one. */
function toLabel(domain: string): string | undefined {
  if (domain.indexOf('.') !== domain.length - SUFFIX.length) return undefined
  if (!domain.startsWith('xn--')) return domain.slice(0, -SUFFIX.length)
  const parsed = parseDomain(domain)
  return parsed.ok ? parsed.unicode.slice(0, -SUFFIX.length) : undefined
}

/** Returns an answer as observations hold it: JSON, null if the name does not exist, undefined for a failure. */
export function answerText(answer: DnsAnswer): string | null | undefined {
  switch (answer.kind) {
    case 'found':
      return JSON.stringify(answer.servers)
    case 'records':
      return JSON.stringify(answer.records)
    case 'empty':
      return '[]'
    case 'no-such-name':
      return null
    case 'refused':
    case 'failed':
    case 'timeout':
    case 'overloaded':
      return undefined
  }
}
