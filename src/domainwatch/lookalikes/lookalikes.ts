import { setImmediate as breathe } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import { OverloadError } from '../../lib/errors.ts'
import { FairSlots } from '../../lib/fair-slots.ts'
import type { Database } from '../../storage/database/database.ts'
import { clientOf } from '../../storage/database/turns.ts'
import { VersionedCache } from '../../storage/database/versioned-cache.ts'
import { rowsToJson } from '../list/page-json.ts'
import { Best, type Candidate } from './best.ts'
import { explain, type Change } from './explain.ts'
import { Matcher, type NameBlock } from './matcher.ts'
import { recordsNamed } from './queries.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Sweeps in line: one takes a part of a core for as long as it runs, and others are waiting to be answered meanwhile. */
const MAX_WAITING = 64
const MAX_WAITING_PER_ACCOUNT = 16
const WAIT_MS = 10_000
/** How long one takes at most: without the index, ten million names are read anew for each, some 20 s. */
const MAX_MS = 60_000
/** How long a sweep holds the event loop at a stretch. */
const STRETCH_MS = 4
/** Records read and explained at a stretch: some 3 ms. */
const CHUNK = 64
/** Rankings kept until something is written: a hundred of at most 1,024 names are some 10 MB. */
const MAX_KEPT = 100

/** All recorded names that have not run out, block by block. */
export type Names = () => AsyncIterable<NameBlock>

export interface Lookalikes {
  /** A JSON array of records. */
  readonly json: string
  readonly count: number
}

interface Ranking {
  readonly candidates: readonly Candidate[]
  readonly isCut: boolean
}

/** Finds recorded names that resemble one. */
export class LookalikeSearch {
  readonly #database: Database
  readonly #clock: Clock
  readonly #names: Names
  readonly #vocabulary: Vocabulary
  readonly #maxMs: number
  readonly #turns = new FairSlots({
    slots: 1,
    slotsPerClient: 1,
    maxWaiting: MAX_WAITING,
    maxWaitingPerClient: MAX_WAITING_PER_ACCOUNT,
    timeoutMs: WAIT_MS,
  })
  readonly #rankings: VersionedCache<Ranking>

  /** @param maxMs how long a sweep takes at most */
  constructor(database: Database, clock: Clock, names: Names, vocabulary: Vocabulary, maxMs = MAX_MS) {
    this.#database = database
    this.#clock = clock
    this.#names = names
    this.#vocabulary = vocabulary
    this.#maxMs = maxMs
    this.#rankings = new VersionedCache(database, 'domain', MAX_KEPT)
  }

  /**
   * The names that resemble this one most, best first, ties by name.
   * @param account its id: accounts take turns
   * @throws OverloadError when too many are looked for at once, and when it takes too long
   */
  async find(name: string, limit: number, account?: number): Promise<Lookalikes> {
    const matcher = new Matcher(name, this.#vocabulary)
    const kept = await this.#rankings.get(`${limit} ${name}`, () => this.#rank(matcher, limit, account))
    const found = await this.#read(matcher, name, kept)
    // Since the ranking was made some of its records ran out, and others may follow.
    const isShort = kept?.isCut === true && found.count < limit
    return isShort ? this.#read(matcher, name, await this.#rank(matcher, limit, account)) : found
  }

  #rank(matcher: Matcher, limit: number, account?: number): Promise<Ranking> {
    return this.#turns.run(clientOf(account), async () => {
      const best = new Best(limit)
      let since = performance.now()
      const isOver = () => performance.now() - since > STRETCH_MS
      const deadline = since + this.#maxMs
      for await (const block of this.#names()) {
        if (performance.now() > deadline) throw new OverloadError()
        for (let at: number | undefined = 0; at !== undefined;) {
          at = matcher.sweep(block, at, best.add, isOver)
          if (!isOver()) continue
          await breathe()
          since = performance.now()
        }
      }
      return best.done()
    })
  }

  async #read(matcher: Matcher, name: string, ranking: Ranking | undefined): Promise<Lookalikes> {
    const candidates = ranking?.candidates ?? []
    const now = this.#clock.now()
    const records: string[] = []
    for (let from = 0; from < candidates.length; from += CHUNK) {
      const part = candidates.slice(from, from + CHUNK)
      const wanted = part.map((candidate) => candidate.name)
      const rows = await this.#database.values(recordsNamed(this.#database.dialect, wanted, now))
      const found = new Map(rows.map((row) => [row[0], row]))
      if (from > 0) await breathe()
      for (const { name: other, cost } of part) {
        const row = found.get(other)
        if (row === undefined) continue
        const why = reasonJson(explain(matcher, name, other), scoreOf(name, cost))
        records.push(`${rowsToJson([row]).slice(1, -2)},${why}}`)
      }
    }
    return { json: `[${records.join(',')}]`, count: records.length }
  }
}

/** From 1 for names that look the same down to 0. */
function scoreOf(name: string, cost: number): number {
  return Math.round(1000 / (1 + cost / (10 * name.length))) / 1000
}

function reasonJson(changes: readonly Change[], score: number): string {
  const main = changes.reduce((most, change) => (change.cost > most.cost ? change : most))
  const detail = JSON.stringify(changes.map(({ text }) => text).join(', '))
  return `"reason":"${main.reason}","detail":${detail},"score":${score}`
}
