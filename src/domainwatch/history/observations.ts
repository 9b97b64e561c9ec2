import { acceptsMail } from '../events/event.ts'
import { toSeenServers } from '../servers.ts'
import {
  storeServers,
  type SeenServer,
  insertDnsChanges,
  newestObservations,
  observationTable,
  removeExcess,
  type DnsChange,
  type ObservedType,
} from './queries.ts'
import type { Transaction } from '../../storage/database/database.ts'
import { lockInstance, type Dialect } from '../../storage/database/dialect.ts'
import { storeRows, type Row } from '../../storage/database/tables.ts'
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
  const stored: Row[] = []
  const grown: string[] = []
  const changes: DnsChange[] = []
  const servers: SeenServer[] = []
  for (const entry of await tx.all(newestObservations(dialect, type, [...observations.keys()]))) {
    const { name } = entry
    const seen = observations.get(name)
    // Another node has stored a later answer.
    if (seen === undefined || (entry.last !== null && entry.last > seen.last)) continue
    if (entry.first !== null && entry.servers === seen.servers) {
      stored.push([name, entry.first, seen.last, seen.servers])
      continue
    }
    // Entries do not overlap: `first` is part of the primary key.
    const first = Math.max(seen.first, (entry.last ?? -Infinity) + 1)
    stored.push([name, first, Math.max(first, seen.last), seen.servers])
    grown.push(name)
    servers.push(...toSeenServers(type, name, seen.last, seen.servers))
    // The first observation shows no change.
    if (entry.first !== null && isRelevant(type, entry.servers, seen.servers))
      changes.push({ name, type, from: entry.servers, to: seen.servers })
  }
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
  /** Stores a batch: one observation per name. */
  readonly store: (observations: ReadonlyMap<string, Observation>) => Promise<void>
  readonly failed: (error: unknown) => void
}

/**
 * Buffers the last answer of DNS look-ups of one type for each name, and writes them in batches, so that no response waits for the
 * disk. Answers not yet written are lost if the process crashes.
 */
export class DnsObservations {
  readonly #options: DnsObservationsOptions
  readonly #pending = new Map<string, Observation>()
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
    if (known === undefined && this.#pending.size >= MAX_PENDING) {
      this.#lost++
      return
    }
    const first = known?.servers === servers ? known.first : now
    this.#pending.set(name, { first, last: now, servers })
    this.#scheduleWrite(FLUSH_MS)
  }

  /** Writes everything pending. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#write()
    clearTimeout(this.#timer)
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
        const batch = new Map([...this.#pending].slice(0, BATCH))
        for (const name of batch.keys()) this.#pending.delete(name)
        try {
          await this.#options.store(batch)
        } catch (error) {
          this.#options.failed(error)
          for (const [name, seen] of batch) if (!this.#pending.has(name)) this.#pending.set(name, seen)
          this.#scheduleWrite(RETRY_MS)
          return
        }
      }
    })
    return this.#writing
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
