import type { Clock } from '../../lib/clock.ts'
import { parseDomain } from '../../lib/domain-names.ts'
import type { NameServerAnswer, RecordAnswer } from '../../lib/dns/index.ts'
import type { Observation } from './store-observations.ts'

/** Delay from an answer to its write. */
const FLUSH_MS = 500
/** Delay after a failed write. */
const RETRY_MS = 2_000
/** Names written per transaction. */
const BATCH = 2_000
/** Observations in memory, of about 200 bytes. More are dropped and counted. */
const MAX_PENDING = 50_000

type DnsAnswer = NameServerAnswer | RecordAnswer

export interface DnsObservationsOptions {
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
