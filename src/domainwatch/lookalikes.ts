import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../lib/clock.ts'
import type { Gate } from '../lib/gate.ts'
import {
  BestMatches,
  explain,
  Matcher,
  type Change,
  type Match,
  type NameBlock,
  type Vocabulary,
  MAX_DISTANCE,
} from '../lib/lookalikes/index.ts'
import type { Database, Reader } from '../storage/database/database.ts'
import { accountClient, type Client } from '../lib/client.ts'
import { VersionedCache } from '../storage/database/versioned-cache.ts'
import { expiryCutoff } from './limits.ts'
import type { NameIndex } from './list/name-index.ts'
import { recordsNamed } from './queries-records.ts'
import { listedFields } from './record-fields.ts'
import { integer, type Parameter } from '../http/parameters.ts'
import { parseLabel } from '../lib/domain-names.ts'

/** How long a search blocks the event loop before it yields. */
const STRETCH_MS = 4
/** Records read and explained between two turns of the event loop: about 3 ms. */
const CHUNK = 64
/** Rankings cached until the next write: a hundred with at most 1,024 names take about 10 MB. */
const MAX_CACHED = 100

interface Lookalikes {
  /** A JSON array of records. */
  readonly json: string
  readonly count: number
}

interface LookalikeRequest {
  readonly name: string
  readonly limit: number
  readonly maxDistance?: number | undefined
}

interface Ranking {
  readonly matches: readonly Match[]
  readonly isCut: boolean
}

interface LookalikeOptions {
  readonly database: Database
  readonly clock: Clock
  readonly nameIndex: Pick<NameIndex, 'current'>
  readonly searches: Gate
  readonly vocabulary: Vocabulary
}

/** Finds recorded names that resemble a given one. */
export class LookalikeSearch {
  readonly #options: LookalikeOptions
  readonly #rankings: VersionedCache<Ranking>

  constructor(options: LookalikeOptions) {
    this.#options = options
    this.#rankings = new VersionedCache(options.database, 'domain', MAX_CACHED)
  }

  /**
   * Returns the names that resemble this one most, best first, ties by name.
   * @param signal ends the search
   * @throws OverloadError if too many searches wait
   */
  async find(request: LookalikeRequest, account?: number, signal?: AbortSignal): Promise<Lookalikes> {
    const { name, limit, maxDistance } = request
    const matcher = new Matcher(name, this.#options.vocabulary, maxDistance)
    const client = accountClient(account)
    const rank = () => this.#rank(matcher, limit, client, signal)
    const cached = await this.#rankings.get(`${limit} ${maxDistance} ${name}`, rank)
    const reader = this.#options.database.readerOf(client)
    const found = await this.#read(reader, matcher, name, cached)
    // Records that expired since the ranking was made leave room for others.
    const isShort = cached.isCut && found.count < limit
    return isShort ? this.#read(reader, matcher, name, await rank()) : found
  }

  #rank(matcher: Matcher, limit: number, client: Client, signal: AbortSignal | undefined): Promise<Ranking> {
    const work = async () => {
      const best = new BestMatches(limit)
      let since = performance.now()
      const shouldPause = () => performance.now() - since > STRETCH_MS
      for await (const block of recordedNames(this.#options.clock, this.#options.nameIndex, signal)) {
        for (let at: number | undefined = 0; at !== undefined;) {
          at = matcher.scan(block, at, best.add, shouldPause)
          if (!shouldPause()) continue
          await nextTurn()
          signal?.throwIfAborted()
          since = performance.now()
        }
      }
      return best.result()
    }
    return this.#options.searches.run(client, work, signal)
  }

  async #read(reader: Reader, matcher: Matcher, name: string, { matches }: Ranking): Promise<Lookalikes> {
    const now = this.#options.clock.now()
    const records: string[] = []
    for (let from = 0; from < matches.length; from += CHUNK) {
      const part = matches.slice(from, from + CHUNK)
      const names = part.map((match) => match.name)
      const rows = await reader.all(recordsNamed(this.#options.database.dialect, names, now))
      const toRow = new Map(rows.map((row) => [row.name, row]))
      if (from > 0) await nextTurn()
      for (const { name: other, cost } of part) {
        const row = toRow.get(other)
        if (row === undefined) continue
        const reason = reasonJson(explain(matcher, name, other), getScore(name, cost))
        records.push(`${JSON.stringify(listedFields(row)).slice(0, -1)},${reason}}`)
      }
    }
    return { json: `[${records.join(',')}]`, count: records.length }
  }
}

/** Returns a score from 1, for names that look the same, down to 0. */
function getScore(name: string, cost: number): number {
  return Math.round(1000 / (1 + cost / (10 * name.length))) / 1000
}

/** Returns the members `reason` (of the most expensive change), `detail` and `score`. */
function reasonJson(changes: readonly Change[], score: number): string {
  const main = changes.reduce((most, change) => (change.cost > most.cost ? change : most))
  const detail = JSON.stringify(changes.map(({ text }) => text).join(', '))
  return `"reason":"${main.reason}","detail":${detail},"score":${score}`
}

/** Reads all names that are recorded now, as of the call: later changes have no effect. */
async function* recordedNames(
  clock: Clock,
  nameIndex: Pick<NameIndex, 'current'>,
  signal?: AbortSignal,
): AsyncGenerator<NameBlock> {
  const { registered } = await nameIndex.current({ left: signal && (() => signal) })
  const cutoff = expiryCutoff(clock.now())
  const snapshots = registered.map((segment) => ({ segment, live: segment.live.slice() }))
  for (const { segment, live } of snapshots) {
    const { names, starts, count } = segment.columns
    const isLive = (position: number) =>
      ((live[position >>> 5] ?? 0) & (1 << (position & 31))) !== 0 &&
      !(segment.discardedAt(position) <= cutoff)
    yield { names, starts, count, isLive, namesWith: (letter) => segment.letterPlane(letter) }
  }
}

const MAX_BRANDS = 50
/** Length of a name in its longest form, `xn--` and `.cl`, and a comma. */
const MAX_BRAND_CHARACTERS = 70

/** Names separated by commas, in their normal form. */
export const brands: Parameter<string> = {
  required: false,
  description: `Only names that resemble one of these, which themselves do not: up to ${MAX_BRANDS}, separated by commas`,
  schema: { type: 'string', maxLength: MAX_BRANDS * MAX_BRAND_CHARACTERS },
  parse: (given) => {
    const labels = given
      .split(',', MAX_BRANDS + 1)
      .map((name) => parseLabel(name.trim().replace(/\.cl\.?$/i, '')))
    const names = new Set(labels.flatMap((label) => (label.ok ? label.name : [])))
    if (labels.length <= MAX_BRANDS && labels.every(({ ok }) => ok)) return { value: [...names].join(',') }
    return {
      takes:
        labels.length === 1
          ? 'debe ser un nombre de dominio .cl'
          : `debe ser una lista de 1 a ${MAX_BRANDS} nombres de dominio .cl, separados por comas`,
    }
  },
}

export const maxDistance = integer(
  'The highest cost of the changes from one name to the other; above 20, errors in names of up to 3 letters too',
  1,
  MAX_DISTANCE,
)
