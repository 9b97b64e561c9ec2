/** Learns the taste of the group, and scores the records of the list index by it. */
import { fileURLToPath } from 'node:url'
import { Segment, toPart, type Columns, type Hit, type SegmentPart } from '../../lib/name-index/index.ts'
import { BACKGROUND_TASK_TIMEOUT_MS, type Tasks, withTransfer } from '../../lib/tasks.ts'
import { splitBy, type WordTrie } from '../../lib/words/index.ts'
import { train, type Decision } from '../interest/learning.ts'
import { demandDigits, InterestModel, scoreOfHit, type TrainedModel, getScores } from '../interest/model.ts'

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
    return (await inThread<Output['score']>(this.#tasks, { kind: 'score', trained, parts })).scores
  }
}

/** Learns from decisions in another thread. */
export const trainInThread = (tasks: Tasks, training: Training): Promise<TrainedModel> =>
  inThread(tasks, { kind: 'train', ...training })

const inThread = <Result>(tasks: Tasks, input: Input): Promise<Result> =>
  tasks.run<Input, Result>(fileURLToPath(import.meta.url), input, { timeoutMs: BACKGROUND_TASK_TIMEOUT_MS })

/** A decision without what follows from the name. */
export type GivenDecision = Omit<Decision, 'demand' | 'words'>

interface Training {
  readonly decisions: readonly GivenDecision[]
  readonly demand: TrainedModel['demand']
  readonly words: WordTrie
}

type Input =
  | ({ readonly kind: 'train' } & Training)
  | {
      readonly kind: 'score'
      readonly trained: TrainedModel
      /** All segments, of which the first is scored. */
      readonly parts: readonly SegmentPart[]
    }

/** What each kind of input becomes. */
interface Output {
  readonly train: TrainedModel
  readonly score: { readonly scores: Uint32Array<ArrayBuffer> }
}

/** Worker-thread task. */
export default function work(input: Input): Output[Input['kind']] {
  if (input.kind === 'train') {
    const { decisions, demand, words } = input
    const split = splitBy(words)
    const known = new Map(demand)
    const given = decisions.map((decision): Decision => {
      const parts = split(decision.name)
      return { ...decision, words: parts, demand: demandDigits(parts, known) }
    })
    return { ...train(given), demand }
  }
  const segments = input.parts.map(({ columns, live }) => new Segment(columns, live))
  const [segment] = segments
  if (segment === undefined) return { scores: new Uint32Array() }
  const scores = getScores(new InterestModel('', input.trained), segment, segments)
  return withTransfer({ scores }, [scores.buffer])
}
