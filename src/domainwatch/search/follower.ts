import { partsOf, type Cursor } from '../../storage/database/changes/change.ts'
import type { Database } from '../../storage/database/database.ts'
import type { OwnWrites } from './own-writes.ts'

/** Changes in the first read, on the connection for small reads; more are read where they delay nobody. */
const FEW = 300
const MANY = 20_000
/** Further behind than this part of the records, reading all of them anew is quicker; but never for so few changes. */
const BEHIND = 1 / 4
const LEAST_BEHIND = 300_000
/** Of more the texts alone take a quarter of a gigabyte. */
const MOST_BEHIND = 1_000_000
/** A list waits this long for changes to be applied; then the database answers it. */
const PATIENCE_MS = 1_000

/** `behind`: what is committed is not all readable yet, or it takes too long. `lost`: the changes do not go on from here. */
export type Caught = 'current' | 'behind' | 'lost'

/**
 * Applies changes, all of one moment at once, and calls `arrived` at that moment.
 * @param texts JSON of the changes, in their order
 * @param overlapping the first of them may be applied already
 */
type Apply = (texts: readonly string[], count: number, overlapping: boolean) => Promise<unknown>

/** Follows the changes of domains up to moments at which the database was whole. */
export class Follower {
  readonly #database: Database
  readonly #own: OwnWrites
  readonly #apply: Apply
  readonly #records: () => number
  readonly #report: (error: unknown) => void
  #cursor: Cursor | undefined
  /** Up to which version all changes are applied. */
  #applied: number | undefined
  #place: Cursor | undefined
  #arriving: number | undefined
  /** The newest change that is applied. */
  #appliedId = 0
  /** Read, but not yet whole. */
  #texts: string[] = []
  #count = 0
  #overlapping = false
  #running: Promise<Caught> | undefined

  /** @param records how many there are in the lists */
  constructor(
    database: Database,
    own: OwnWrites,
    apply: Apply,
    records: () => number,
    report: (error: unknown) => void,
  ) {
    this.#database = database
    this.#own = own
    this.#apply = apply
    this.#records = records
    this.#report = report
  }

  /** From now on changes are followed; the records are to be read after this. */
  async begin(): Promise<void> {
    this.#start(await this.#database.changes.head(), true)
  }

  /** The lists are as of this place: what came after it is followed. */
  resume(cursor: Cursor): void {
    this.#start(cursor, false)
  }

  #start(cursor: Cursor, overlapping: boolean): void {
    this.#applied = undefined
    this.#texts = []
    this.#count = 0
    this.#overlapping = overlapping
    this.#cursor = cursor
  }

  /** Up to where all changes, and no more, are in effect. */
  get place(): Cursor | undefined {
    return this.#place
  }

  /** Whether all that is committed is applied, but for what nobody has been told of yet. */
  get isCurrent(): boolean {
    if (this.#applied === undefined) return false
    const version = this.#database.version('domain')
    return this.#applied === version || this.#own.cover(this.#appliedId, version)
  }

  /** To be called in the moment in which the changes are in effect. */
  arrived(): void {
    this.#applied = this.#arriving
    this.#place = this.#cursor
    this.#appliedId = partsOf(this.#cursor ?? '')?.id ?? 0
    this.#texts = []
    this.#count = 0
    this.#overlapping = false
  }

  /** Applies what is committed by now. */
  async catchUp(): Promise<Caught> {
    const late = Promise.withResolvers<Caught>()
    const timer = setTimeout(() => late.resolve('behind'), PATIENCE_MS)
    try {
      return await Promise.race([late.promise, this.#catchUp()])
    } finally {
      clearTimeout(timer)
    }
  }

  async #catchUp(): Promise<Caught> {
    // One that runs already may have begun to read before the last commit.
    const earlier = this.#running
    if (earlier !== undefined) {
      const state = await earlier
      if (state === 'lost' || this.isCurrent) return state === 'lost' ? state : 'current'
    }
    this.#running ??= this.#follow().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #follow(): Promise<Caught> {
    const version = this.#database.version('domain')
    try {
      const state = await this.#readOn()
      if (state !== 'current') return state
      this.#arriving = version
      // Kept until they are applied: what fails now is done again at the next call.
      const texts = this.#texts
      if (texts.length === 0) this.arrived()
      else await this.#apply(texts, this.#count, this.#overlapping)
      return 'current'
    } catch (error) {
      this.#report(error)
      return 'behind'
    }
  }

  /** Reads changes up to a moment at which nothing that is committed is left out. */
  async #readOn(): Promise<Caught> {
    const { changes, scanner } = this.#database
    for (let asked = FEW; ; asked = MANY) {
      if (this.#cursor === undefined) return 'lost'
      const page = await changes.text(this.#cursor, 'domain', asked, asked === FEW ? undefined : scanner)
      if (page.kind === 'gap') return 'lost'
      this.#cursor = page.cursor
      this.#count += page.count
      if (page.text !== '') this.#texts.push(page.text)
      if (page.isWhole) return 'current'
      if (this.#count > mostBehind(this.#records())) return 'lost'
      // Somebody's transaction stands before changes that are there already.
      if (page.count < asked) return 'behind'
    }
  }
}

/** Changes that are followed, where there are so many records. */
export function mostBehind(records: number): number {
  return Math.min(MOST_BEHIND, Math.max(LEAST_BEHIND, records * BEHIND))
}
