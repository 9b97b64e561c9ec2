/** Learns the taste of the group, and scores the records of the list index by it. */
import { fileURLToPath } from 'node:url'
import { Segment, toPart, type Columns, type Hit, type SegmentPart } from '../../lib/name-index/index.ts'
import { BACKGROUND_TASK_TIMEOUT_MS, type Tasks, withTransfer } from '../../lib/tasks.ts'
import { splitBy, type WordTrie } from '../../lib/words/index.ts'
import { splitTags, type FilterContext } from '../filtered-record.ts'
import {
  toFeatures,
  featureText,
  forEachFeature,
  train,
  type Decision,
  type FeatureKind,
  type Subject,
  sigmoid,
  type Weights,
} from '../interest/learning.ts'
import { nameOfHit } from '../list/hits.ts'
import { hasBoughtTwin, MIN_LETTERS } from '../list/signals.ts'

/** The digits of the demand of a word that the model does not list. */
const LEAST_DIGITS = 1

/** What is stored of a model. */
export interface TrainedModel extends Weights {
  /** Words that many bought records had when it was trained, and how many digits their number had. */
  readonly demand: readonly (readonly [word: string, digits: number])[]
}

/** What of a record decides how interesting it is. */
type Scored = Omit<Subject, 'demand'>

/** A reason for the interest of a name. */
export interface Reason {
  readonly kind: FeatureKind
  readonly value: string
  /** How many of the names that have it were wanted, and of how many. */
  readonly accepted: number
  readonly of: number
  /** In Spanish. */
  readonly text: string
}

/** Scores are whole numbers up to this one, so that cursors hold them exactly. */
export const MAX_SCORE = 1_000_000
const REASONS = 3
/** A feature of fewer decisions is a reason only if there are no others. */
const MIN_DECISIONS = 3

type Weight = readonly [weight: number, accepted: number, of: number]
const UNKNOWN: Weight = [0, 0, 0]

/** The taste of the group, as of a training. Its scores depend on nothing that changes but the record and its twins. */
export class InterestModel {
  readonly id: string
  readonly trained: TrainedModel
  readonly #weights = new Map<FeatureKind, Map<string | number, Weight>>()
  readonly #demand: ReadonlyMap<string, number>

  /** @param id the digest of what is stored */
  constructor(id: string, trained: TrainedModel) {
    this.id = id
    this.trained = trained
    this.#demand = new Map(trained.demand)
    for (const [kind, value, ...weight] of trained.features) {
      const known = this.#weights.get(kind) ?? new Map<string | number, Weight>()
      this.#weights.set(kind, known.set(value, weight))
    }
  }

  /** Returns how interesting a record is, from 0 to `MAX_SCORE`. */
  getScore(scored: Scored): number {
    let sum = this.trained.bias
    forEachFeature(this.#subject(scored), (kind, value) => {
      sum += this.#weightOf(kind, value)[0]
    })
    return Math.round(sigmoid(sum) * MAX_SCORE)
  }

  /** Returns the strongest reasons for the score, for and against. */
  reasonsFor(scored: Scored): readonly Reason[] {
    return toFeatures(this.#subject(scored))
      .map((feature) => {
        const [weight, accepted, of] = this.#weightOf(feature.kind, feature.value)
        const strength = of < MIN_DECISIONS ? of - MIN_DECISIONS : Math.abs(weight)
        return { ...feature, accepted, of, strength }
      })
      .toSorted((one, other) => other.strength - one.strength)
      .slice(0, REASONS)
      .map(({ kind, value, accepted, of }) => {
        const text = featureText({ kind, value })
        // The share says little for a number, which many names have.
        const share = typeof value === 'string' ? `, ${accepted} de ${of} aceptadas` : ''
        return { kind, value: String(value), accepted, of, text: `${text}${share}` }
      })
  }

  #weightOf(kind: FeatureKind, value: string | number): Weight {
    return this.#weights.get(kind)?.get(value) ?? UNKNOWN
  }

  #subject(scored: Scored): Subject {
    return { ...scored, demand: demandDigits(scored.words, this.#demand) }
  }
}

/** Returns the digits of the smallest demand of these words; null if none of them counts. */
function demandDigits(words: readonly string[], demand: ReadonlyMap<string, number>): number | null {
  const digits = words
    .filter(({ length }) => length >= MIN_LETTERS)
    .map((word) => demand.get(word) ?? LEAST_DIGITS)
  return digits.length === 0 ? null : Math.min(...digits)
}

/** Expired records are purged within seconds: until then they count as twins. */
const NEVER = 0

/** Returns what of a stored record decides how interesting it is. */
export function scoredRecord(
  { name, tags }: { readonly name: string; readonly tags: string | null },
  words: readonly string[],
  context: FilterContext,
): Scored {
  const hasTwin = context.hasBoughtTwin(Buffer.from(name, 'latin1'))
  return { name, words, tags: splitTags(tags), hasTwin }
}

/** Returns how interesting a record of the index is. @param segments all records, to find its twins */
function scoreOfHit(model: InterestModel, { segment, position }: Hit, segments: readonly Segment[]) {
  return model.getScore({
    name: nameOfHit({ segment, position }),
    words: segment.toWords(position),
    tags: splitTags(segment.toTags(position) || null),
    hasTwin: hasBoughtTwin(segments, segment.nameOf(position), NEVER),
  })
}

/** Returns the scores of the records of a segment, live or not. Runs in any thread. */
export function getScores(model: InterestModel, segment: Segment, segments: readonly Segment[]) {
  return Uint32Array.from({ length: segment.columns.count }, (_, position) =>
    scoreOfHit(model, { segment, position }, segments),
  )
}

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
