import {
  toFeatures,
  featureText,
  forEachFeature,
  type FeatureKind,
  type Subject,
  sigmoid,
  type Weights,
} from './learning.ts'
import { type Hit, type Segment } from '../../lib/name-index/index.ts'
import { nameOfHit } from '../list/hits.ts'
import { hasBoughtTwin } from '../list/signals.ts'
import { splitTags, type FilterContext } from '../filtered-record.ts'

/** The digits of the demand of a word that the model does not list. */
const LEAST_DIGITS = 1
/** Shorter words, such as articles, say nothing of demand. */
const MIN_LETTERS = 3

/** What is stored of a model. */
export interface TrainedModel extends Weights {
  /** Words that many bought records had when it was trained, and how many digits their number had. */
  readonly demand: readonly (readonly [word: string, digits: number])[]
}

/** What of a record decides how interesting it is. */
export type Scored = Omit<Subject, 'demand'>

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
export function demandDigits(words: readonly string[], demand: ReadonlyMap<string, number>): number | null {
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
export function scoreOfHit(model: InterestModel, { segment, position }: Hit, segments: readonly Segment[]) {
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
