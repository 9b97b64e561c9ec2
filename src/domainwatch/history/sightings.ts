import type { Clock } from '../../lib/clock.ts'
import { parseDomain } from '../../lib/domain-names.ts'
import type { NameServerAnswer } from '../routes/dns.ts'
import type { Sighting } from './sighting.ts'

/** From an answer until it is written down. */
const FLUSH_MS = 500
/** After a write that failed. */
const RETRY_MS = 2_000
/** Names written down in one transaction. */
const BATCH = 2_000
/** Sightings in memory, of some 200 bytes. What comes while the database does not keep up is counted, and lost. */
const MAX_WAITING = 50_000

export interface SightingsOptions {
  readonly clock: Clock
  /** Each name once, in the order in which it was seen. */
  readonly store: (sightings: ReadonlyMap<string, Sighting>) => Promise<void>
  readonly failed: (error: unknown) => void
}

/**
 * Gathers what the DNS said of names, and writes it down some at a time: no answer waits for the disk. What was not yet
 * written when a process dies was not seen.
 */
export class Sightings {
  readonly #options: SightingsOptions
  /** Of each name in the order of time; neighbours differ. */
  readonly #waiting = new Map<string, Sighting[]>()
  #count = 0
  #lost = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(options: SightingsOptions) {
    this.#options = options
  }

  get lost(): number {
    return this.#lost
  }

  /** @param domain in A-label form, under .cl; only what is registered there has a history, nothing below it */
  see(domain: string, answer: NameServerAnswer): void {
    const name = labelOf(domain)
    const servers = serversOf(answer)
    if (name === undefined || servers === undefined) return
    const now = this.#options.clock.now()
    const known = this.#waiting.get(name)
    const last = known?.at(-1)
    if (known !== undefined && last?.servers === servers) {
      known[known.length - 1] = { ...last, last: Math.max(now, last.last) }
      return
    }
    if (this.#count >= MAX_WAITING) {
      this.#lost++
      return
    }
    this.#add(name, [...(known ?? []), { first: now, last: now, servers }])
    this.#writeIn(FLUSH_MS)
  }

  /** Writes down all that waits. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#write()
    clearTimeout(this.#timer)
  }

  #add(name: string, sightings: Sighting[]): void {
    this.#count += sightings.length - (this.#waiting.get(name)?.length ?? 0)
    if (sightings.length === 0) this.#waiting.delete(name)
    else this.#waiting.set(name, sightings)
  }

  #writeIn(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#write()
    }, ms).unref()
  }

  #write(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      while (this.#waiting.size > 0) {
        const batch = this.#take()
        try {
          await this.#options.store(batch)
        } catch (error) {
          this.#options.failed(error)
          this.#putBack(batch)
          this.#writeIn(RETRY_MS)
          return
        }
      }
    })
    return this.#writing
  }

  /** The first of each name: what else was seen of it depends on that. */
  #take(): Map<string, Sighting> {
    const batch = new Map<string, Sighting>()
    for (const [name, [first, ...others]] of this.#waiting) {
      if (first === undefined) continue
      batch.set(name, first)
      this.#add(name, others)
      if (batch.size === BATCH) break
    }
    return batch
  }

  #putBack(batch: ReadonlyMap<string, Sighting>): void {
    for (const [name, sighting] of batch) this.#add(name, [sighting, ...(this.#waiting.get(name) ?? [])])
  }
}

const SUFFIX = '.cl'

/** The name as records have it; undefined for what is below one. */
function labelOf(domain: string): string | undefined {
  if (domain.indexOf('.') !== domain.length - SUFFIX.length) return undefined
  if (!domain.startsWith('xn--')) return domain.slice(0, -SUFFIX.length)
  const parsed = parseDomain(domain)
  return parsed.ok ? parsed.unicode.slice(0, -SUFFIX.length) : undefined
}

/** Undefined where the answer says nothing of the name. */
function serversOf(answer: NameServerAnswer): string | null | undefined {
  switch (answer.kind) {
    case 'found':
      return JSON.stringify(answer.servers)
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
