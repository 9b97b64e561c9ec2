import { toPart, type Columns, type Hit, type Segment } from '../../lib/name-index/index.ts'
import { BACKGROUND_TASK_TIMEOUT_MS, taskModule, type Tasks } from '../../lib/tasks.ts'
import type { Input, Output } from '../tasks/learn.ts'
import { type InterestModel, scoreOfHit, getScores } from './model.ts'

export const LEARN = taskModule('../tasks/learn', import.meta)

/** This many records are scored on the event loop, in some milliseconds; more are scored in another thread. */
const SMALL_SEGMENT = 1_000
/** Models whose scores a segment keeps: 4 bytes a record each. Cursors of older ones have them computed again. */
const MAX_MODELS = 2

/** Sorts records by their interest, as of one model. */
export class Ranking {
  readonly model: InterestModel
  readonly #segments: readonly Segment[]
  readonly #known: ReadonlyMap<Columns, Uint32Array>

  constructor(model: InterestModel, segments: readonly Segment[], known: ReadonlyMap<Columns, Uint32Array>) {
    this.model = model
    this.#segments = segments
    this.#known = known
  }

  /** Returns the scores of the records of a segment, by their positions. */
  readonly getScores = (columns: Columns): Uint32Array => this.#known.get(columns) ?? NO_SCORES

  /** Returns the score of a record, also in the order of deletions, whose segments have no scores. */
  getScore(hit: Hit): number {
    const known = this.#known.get(hit.segment.columns)
    return known?.[hit.position] ?? scoreOfHit(this.model, hit, this.#segments)
  }
}

const NO_SCORES = new Uint32Array()

/** The scores of the records of the list index, which are computed once per segment and model. */
export class Scores {
  readonly #tasks: Tasks
  /** The scores by the model that computed them, in the order of their last computation. */
  readonly #known = new WeakMap<Columns, Map<string, Uint32Array>>()
  #latest: InterestModel | undefined

  constructor(tasks: Tasks) {
    this.#tasks = tasks
  }

  /** The model of the last scores, by which merged segments are scored. */
  get latest(): InterestModel | undefined {
    return this.#latest
  }

  isComplete({ id }: InterestModel, segments: readonly Segment[]): boolean {
    return segments.every(({ columns }) => this.#known.get(columns)?.has(id) === true)
  }

  #find(columns: Columns, { id }: InterestModel): Uint32Array | undefined {
    return this.#known.get(columns)?.get(id)
  }

  /** Returns what sorts records by their interest. @param segments all records, whose scores are complete */
  ranking(model: InterestModel, segments: readonly Segment[]): Ranking {
    const known = new Map<Columns, Uint32Array>()
    for (const { columns } of segments) {
      const scores = this.#find(columns, model)
      if (scores !== undefined) known.set(columns, scores)
    }
    return new Ranking(model, segments, known)
  }

  /** Computes the scores of a segment, unless they are known. @param others all segments with it */
  async add(model: InterestModel, segment: Segment, others: readonly Segment[]): Promise<void> {
    this.#latest = model
    const { columns } = segment
    if (this.#find(columns, model) !== undefined) return
    const scores =
      columns.count <= SMALL_SEGMENT
        ? getScores(model, segment, others)
        : await this.#inThread(model, segment, others)
    const known = this.#known.get(columns) ?? new Map<string, Uint32Array>()
    this.#known.set(columns, known.set(model.id, scores))
    for (const id of known.keys()) if (known.size > MAX_MODELS) known.delete(id)
  }

  async #inThread({ trained }: InterestModel, segment: Segment, others: readonly Segment[]) {
    const parts = [segment, ...others.filter((other) => other !== segment)].map(toPart)
    const input: Input = { kind: 'score', trained, parts }
    const options = { timeoutMs: BACKGROUND_TASK_TIMEOUT_MS }
    return (await this.#tasks.run<Input, Output['score']>(LEARN, input, options)).scores
  }
}
