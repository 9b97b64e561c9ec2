import { toFeatures, isNumber, getRidge, type Feature, type FeatureKind, type Subject } from './features.ts'

/** A name that members have decided on. */
export interface Decision extends Subject {
  readonly isWanted: boolean
}

/** A feature, what it adds to the logarithm of the odds, and how many of the names that have it were wanted, of how many. */
export type WeightedFeature = readonly [
  kind: FeatureKind,
  value: string | number,
  weight: number,
  accepted: number,
  of: number,
]

export interface Weights {
  readonly bias: number
  readonly features: readonly WeightedFeature[]
}

/** Enough for differences below a thousandth. */
const PASSES = 40
/** A longer Newton step may miss the minimum. */
const MAX_STEP = 1
const DECIMALS = 6

/** Something of names that has one weight: a text, or a bound that a number reaches. */
interface Term {
  readonly ridge: number
  /** Indexes of the decisions that have it. */
  readonly rows: number[]
  weight: number
}

type Terms = ReadonlyMap<string, Term>

const rounded = (x: number): number => Number(x.toFixed(DECIMALS))

/** Maps every number to a chance between 0 and 1. */
export const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))

/** Returns the keys of the terms of a feature. A number shares those of all smaller ones, so it is close to its neighbours. */
function toTerms({ kind, value }: Feature): readonly string[] {
  if (typeof value === 'string') return [`${kind}=${value}`]
  return Array.from({ length: value }, (_, bound) => `${kind}>${bound}`)
}

/**
 * Fits a logistic regression with a ridge by coordinate descent. The same decisions give the same weights, whatever their order,
 * the engine and the machine.
 */
export function train(decisions: readonly Decision[]): Weights {
  const sorted = decisions.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const features = sorted.map(toFeatures)
  const terms = new Map<string, Term>()
  for (const [row, all] of features.entries()) {
    for (const feature of all) {
      for (const key of toTerms(feature)) {
        const term = terms.get(key)
        if (term !== undefined) term.rows.push(row)
        else terms.set(key, { ridge: getRidge(feature.kind), rows: [row], weight: 0 })
      }
    }
  }
  const bias = fit(terms, sorted)
  return tabulate(bias, terms, features, sorted)
}

/** Sets the weights of the terms. @returns the weight that all names have */
function fit(terms: Terms, decisions: readonly Decision[]): number {
  const labels = Float64Array.from(decisions, ({ isWanted }) => Number(isWanted))
  const margins = new Float64Array(decisions.length)
  const chances = new Float64Array(decisions.length).fill(sigmoid(0))
  const bias: Term = { ridge: 0, rows: [...decisions.keys()], weight: 0 }
  const all = [bias, ...[...terms.values()].filter(({ rows }) => rows.length > 1)]
  for (let pass = 0; pass < PASSES; pass++) {
    for (const term of all) {
      const { ridge, rows, weight } = term
      let gradient = ridge * weight
      let curvature = ridge
      for (const row of rows) {
        const chance = chances[row] ?? 0
        gradient += chance - (labels[row] ?? 0)
        curvature += chance * (1 - chance)
      }
      const step = Math.max(-MAX_STEP, Math.min(MAX_STEP, -gradient / (curvature + Number.EPSILON)))
      term.weight = weight + step
      for (const row of rows) {
        const margin = (margins[row] ?? 0) + step
        margins[row] = margin
        chances[row] = sigmoid(margin)
      }
    }
  }
  return bias.weight
}

/** Sums the weights of terms up per feature. Those of numbers average 0 over all decisions: what is above speaks for a name. */
function tabulate(
  bias: number,
  terms: Terms,
  features: readonly (readonly Feature[])[],
  decisions: readonly Decision[],
): Weights {
  const tallies = new Map<string, { feature: Feature; accepted: number; of: number }>()
  for (const [row, all] of features.entries()) {
    for (const feature of all) {
      const key = `${feature.kind}=${feature.value}`
      const { accepted, of } = tallies.get(key) ?? { accepted: 0, of: 0 }
      tallies.set(key, { feature, accepted: accepted + Number(decisions[row]?.isWanted), of: of + 1 })
    }
  }
  const weightOf = (feature: Feature) =>
    toTerms(feature).reduce((sum, key) => sum + (terms.get(key)?.weight ?? 0), 0)
  const means = new Map<FeatureKind, number>()
  for (const { feature, of } of tallies.values()) {
    const { kind } = feature
    if (isNumber(kind)) means.set(kind, (means.get(kind) ?? 0) + (weightOf(feature) * of) / decisions.length)
  }
  const keys = [...tallies.keys()].toSorted()
  return {
    bias: rounded([...means.values()].reduce((sum, mean) => sum + mean, bias)),
    features: keys.flatMap((key) => {
      const tally = tallies.get(key)
      if (tally === undefined) return []
      const { feature, accepted, of } = tally
      const weight = rounded(weightOf(feature) - (means.get(feature.kind) ?? 0))
      return [[feature.kind, feature.value, weight, accepted, of]]
    }),
  }
}
