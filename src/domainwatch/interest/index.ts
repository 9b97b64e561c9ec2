import { hash } from 'node:crypto'
import { invalidCursor } from '../../http/headers.ts'
import type { Clock } from '../../lib/clock.ts'
import { withTimeout } from '../../lib/concurrency.ts'
import { OverloadError } from '../../lib/errors.ts'
import { lruCache } from '../../lib/lru-cache.ts'
import { TimeSlice } from '../../lib/name-index/index.ts'
import type { Tasks } from '../../lib/tasks.ts'
import type { Database, Reader } from '../../storage/database/database.ts'
import { lockInstance } from '../../storage/database/dialect.ts'
import { domainErrors, type MissingDecisions } from '../errors.ts'
import type { NameIndex } from '../list/name-index.ts'
import { splitTags } from '../filtered-record.ts'
import * as queries from '../queries-records.ts'
import { InterestModel, trainInThread, type GivenDecision, type TrainedModel } from '../tasks/scores.ts'
import type { Dictionary } from '../words.ts'

/** Decisions that a first model needs. */
const MIN_OF_EACH = 10
const MIN_DECISIONS = 50
/** When the next model is trained: after this many more decisions, and not earlier. */
const NEW_DECISIONS = 50
const MIN_INTERVAL_MS = 3_600_000
/** The last decisions of each kind that are learned from: a second of training. */
const MAX_OF_EACH = 10_000
/** How long cursors find their model. */
const KEEP_MS = 24 * 3_600_000
/** Models in memory, a few hundred kilobytes each. */
const MAX_CACHED = 4
/** How long a request waits for a training. */
const MAX_WAIT_MS = 30_000
const ID_DIGITS = 16

export interface InterestOptions {
  readonly database: Database
  readonly clock: Clock
  readonly tasks: Tasks
  readonly nameIndex: Pick<NameIndex, 'commonWords' | 'contextAt' | 'current'>
  readonly dictionary: Pick<Dictionary, 'trie'>
}

/** Learns the taste of the group from its decisions. All nodes share the models, which are stored. */
export class Interest {
  readonly #options: InterestOptions
  readonly #models = lruCache<InterestModel>(MAX_CACHED)
  #training: Promise<void> | undefined

  constructor(options: InterestOptions) {
    this.#options = options
  }

  /**
   * Returns the model of a cursor, or the newest one, trained now if it is due.
   * @throws HttpError 400 if there are too few decisions, or the model of the cursor is gone
   */
  async getModel(cursorModel?: string): Promise<InterestModel> {
    if (cursorModel !== undefined) {
      const model = await this.#read(cursorModel)
      if (model === undefined) throw invalidCursor()
      return model
    }
    const model = await this.find()
    if (model !== undefined) return model
    const missing = (await this.#missing()) ?? { wanted: 0, unwanted: 0, total: 0 }
    throw domainErrors.too_few_decisions(missing).with({ fields: { missing } })
  }

  /** Returns the newest model without training one; undefined if there is none. */
  async newest(): Promise<InterestModel | undefined> {
    const newest = await this.#options.database.first(queries.newestModel())
    return newest && this.#read(newest.id)
  }

  /** Forgets all decisions, and what was learned from them. @returns the number of decisions */
  forget(account: number): Promise<number> {
    this.#models.clear()
    return this.#options.database.transaction(async (tx) => {
      await tx.run(queries.deleteModels())
      return tx.run(queries.deleteDecisions())
    }, account)
  }

  /** Returns the newest model, trained now if it is due; undefined if there are too few decisions. */
  async find(): Promise<InterestModel | undefined> {
    if (await this.#isDue(this.#options.database)) {
      this.#training ??= this.#train().finally(() => (this.#training = undefined))
      if (!(await withTimeout(this.#training, MAX_WAIT_MS))) throw new OverloadError()
    }
    return this.newest()
  }

  /** Returns what is missing for a first model; undefined if nothing is. */
  async #missing(reader: Reader = this.#options.database): Promise<MissingDecisions | undefined> {
    const counts = await reader.first(queries.countDecisions(MIN_DECISIONS))
    const { wanted = 0, unwanted = 0 } = counts ?? {}
    const ofEach = {
      wanted: Math.max(0, MIN_OF_EACH - wanted),
      unwanted: Math.max(0, MIN_OF_EACH - unwanted),
    }
    const total = Math.max(ofEach.wanted + ofEach.unwanted, MIN_DECISIONS - wanted - unwanted)
    return total > 0 ? { ...ofEach, total } : undefined
  }

  async #isDue(reader: Reader): Promise<boolean> {
    const newest = await reader.first(queries.newestModel())
    if (newest === undefined) return (await this.#missing(reader)) === undefined
    if (this.#options.clock.now() - newest.trained_at < MIN_INTERVAL_MS) return false
    const counts = await reader.first(queries.countDecisions(NEW_DECISIONS, newest.decided_until))
    return counts !== undefined && counts.wanted + counts.unwanted >= NEW_DECISIONS
  }

  async #train(): Promise<void> {
    const { clock, database, dictionary, nameIndex, tasks } = this.#options
    const wanted = await database.scanner.all(queries.lastDecisions(1, MAX_OF_EACH))
    const unwanted = await database.scanner.all(queries.lastDecisions(0, MAX_OF_EACH))
    const rows = [...wanted, ...unwanted]
    // The index knows what other records say of the names.
    await nameIndex.current()
    const decisions = await this.#given(rows)
    const training = { decisions, demand: nameIndex.commonWords(), words: dictionary.trie }
    const model = JSON.stringify(await trainInThread(tasks, training))
    const row = {
      id: hash('sha256', model).slice(0, ID_DIGITS),
      trained_at: clock.now(),
      decided_until: rows.reduce((last, { decided_at }) => Math.max(last, decided_at), 0),
    }
    await database.transaction(async (tx) => {
      await tx.all(lockInstance(database.dialect))
      // Another process has trained one meanwhile.
      if (!(await this.#isDue(tx))) return
      await tx.run(queries.deleteModels(row.trained_at - KEEP_MS))
      await tx.run(queries.storeModel(row, model))
    })
  }

  async #given(rows: readonly queries.DecisionRow[]): Promise<readonly GivenDecision[]> {
    const { clock, nameIndex } = this.#options
    const context = nameIndex.contextAt(clock.now())
    const slice = new TimeSlice()
    const decisions: GivenDecision[] = []
    for (const { name, wanted, tags } of rows) {
      const hasTwin = context.hasBoughtTwin(Buffer.from(name, 'latin1'))
      decisions.push({ name, isWanted: wanted === 1, tags: splitTags(tags), hasTwin })
      await slice.yieldIfOver()
    }
    return decisions
  }

  async #read(id: string): Promise<InterestModel | undefined> {
    const known = this.#models.get(id)
    if (known !== undefined) return known
    const row = await this.#options.database.first(queries.modelById(id))
    if (row === undefined) return undefined
    const trained: TrainedModel = JSON.parse(row.model)
    const model = new InterestModel(id, trained)
    this.#models.set(id, model)
    return model
  }
}
