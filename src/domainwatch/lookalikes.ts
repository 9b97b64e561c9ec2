import {
  BestMatches,
  explain,
  Matcher,
  type Change,
  type NameBlock,
  type Vocabulary,
  MAX_DISTANCE,
} from '../lib/lookalikes/index.ts'
import { TimeSlice, type Segment } from '../lib/name-index/index.ts'
import { accountClient } from '../lib/client.ts'
import { expiryCutoff } from './limits.ts'
import { RecordOfHit } from './list/hits.ts'
import type { DomainContext } from './context.ts'
import { listedFields } from './record-fields.ts'
import { integer, type Parameter } from '../http/parameters.ts'
import { parseLabel } from '../lib/domain-names.ts'

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

interface LookalikeOptions extends Pick<DomainContext, 'clock' | 'nameIndex' | 'searches'> {
  readonly vocabulary: Vocabulary
}

/** The names of a segment. */
interface SegmentBlock extends NameBlock {
  readonly segment: Segment
}

/** Finds recorded names that resemble a given one. */
export class LookalikeSearch {
  readonly #options: LookalikeOptions

  constructor(options: LookalikeOptions) {
    this.#options = options
  }

  /**
   * Returns the names that resemble this one most, best first, ties by name. Changes during the search have no effect.
   * @param signal ends the search
   * @throws OverloadError if too many searches wait
   */
  find(request: LookalikeRequest, account: number, signal: AbortSignal): Promise<Lookalikes> {
    return this.#options.searches.run(accountClient(account), () => this.#search(request, signal), signal)
  }

  async #search({ name, limit, maxDistance }: LookalikeRequest, signal: AbortSignal): Promise<Lookalikes> {
    const { clock, nameIndex, vocabulary } = this.#options
    const { registered } = await nameIndex.current({ left: () => signal })
    const cutoff = expiryCutoff(clock.now())
    const blocks = registered.map((segment) => toBlock(segment.snapshot(), cutoff))
    const matcher = new Matcher(name, vocabulary, maxDistance)
    const best = new BestMatches<SegmentBlock>(limit)
    const slice = new TimeSlice()
    for (const block of blocks) {
      for (let at: number | undefined = 0; at !== undefined;) {
        at = matcher.scan(block, at, best.add, () => slice.isOver)
        await slice.yieldIfOver()
        signal.throwIfAborted()
      }
    }
    const records: string[] = []
    for (const { name: other, cost, block, i } of best.result()) {
      const record = new RecordOfHit({ segment: block.segment, position: i })
      const reason = reasonJson(explain(matcher, name, other), getScore(name, cost))
      records.push(`${JSON.stringify(listedFields(record)).slice(0, -1)},${reason}}`)
      await slice.yieldIfOver()
    }
    return { json: `[${records.join(',')}]`, count: records.length }
  }
}

/** @param cutoff records that were discarded at this time or before have expired */
function toBlock(segment: Segment, cutoff: number): SegmentBlock {
  const { names, starts, count } = segment.columns
  const isLive = (i: number) => segment.isLive(i) && !(segment.discardedAt(i) <= cutoff)
  return { segment, names, starts, count, isLive, namesWith: (letter) => segment.letterPlane(letter) }
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
