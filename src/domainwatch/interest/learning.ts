import { toShape, toSyllables } from '../../lib/domain-names.ts'

/** What the taste of the group is learned from. */
export interface Subject {
  readonly name: string
  readonly words: readonly string[]
  readonly tags: readonly string[]
  /** How many digits the smallest number of bought records with one of its words has; null if none of its words counts. */
  readonly demand: number | null
  /** Whether a bought record is a twin of it. */
  readonly hasTwin: boolean
}

/** A property of a name that people may like or not. Numbers above the largest count as the largest. */
interface Feature {
  readonly kind: FeatureKind
  readonly value: string | number
}

interface TextFeature {
  readonly values: (subject: Subject) => readonly string[]
  /** How many decisions weigh as much as the assumption that the feature does not matter. */
  readonly ridge: number
  readonly text: (value: string) => string
}

interface NumberFeature {
  /** Returns a whole number; null if the name has none. */
  readonly number: (subject: Subject) => number | null
  readonly max: number
  readonly ridge: number
  readonly text: (value: number) => string
}

const MAX_LENGTH = 20
const MAX_WORDS = 5
const MAX_SYLLABLES = 8
const MAX_DEMAND_DIGITS = 4
/** Longer shapes are too rare to learn from. */
const MAX_SHAPE = 6

const counted = (one: string, many: string, max: number) => (value: number) =>
  `${value}${value === max ? ' o más' : ''} ${value === 1 ? one : many}`

/** A property that a name has or has not. */
const trait = (has: (subject: Subject) => boolean, ridge: number, texts: readonly [string, string]) => ({
  number: (subject: Subject) => Number(has(subject)),
  max: 1,
  ridge,
  text: (value: number) => texts[value === 1 ? 0 : 1],
})

function demandText(digits: number): string {
  if (digits === 1) return 'demanda de menos de 10'
  const least = 10 ** (digits - 1)
  return digits === MAX_DEMAND_DIGITS
    ? `demanda de ${least} o más`
    : `demanda de ${least} a ${10 * least - 1}`
}

/** In the order in which equally strong ones are given as reasons. */
const table = {
  words: {
    number: ({ words }) => words.length,
    max: MAX_WORDS,
    ridge: 1,
    text: (value: number) =>
      value === 0 ? 'no se divide en palabras' : counted('palabra', 'palabras', MAX_WORDS)(value),
  },
  length: {
    number: ({ name }) => name.length,
    max: MAX_LENGTH,
    ridge: 1,
    text: counted('letra', 'letras', MAX_LENGTH),
  },
  digits: trait(({ name }) => /\d/.test(name), 1, ['con números', 'sin números']),
  hyphen: trait(({ name }) => name.includes('-'), 1, ['con guion', 'sin guion']),
  word: { values: ({ words }) => words, ridge: 2, text: (value: string) => `la palabra ${value}` },
  tag: { values: ({ tags }) => tags, ridge: 2, text: (value: string) => `la etiqueta ${value}` },
  shape: {
    values: ({ name }) => (name.length <= MAX_SHAPE ? [toShape(name)] : []),
    ridge: 4,
    text: (value: string) => `la forma ${value}`,
  },
  syllables: {
    number: ({ name }) => toSyllables(name),
    max: MAX_SYLLABLES,
    ridge: 2,
    text: counted('sílaba', 'sílabas', MAX_SYLLABLES),
  },
  demand: { number: ({ demand }) => demand, max: MAX_DEMAND_DIGITS, ridge: 2, text: demandText },
  twin: trait(({ hasTwin }) => hasTwin, 2, ['con un gemelo inscrito', 'sin gemelos inscritos']),
} as const satisfies Readonly<Record<string, TextFeature | NumberFeature>>

export type FeatureKind = keyof typeof table
const definitions: Readonly<Record<FeatureKind, TextFeature | NumberFeature>> = table
const isKind = (kind: string): kind is FeatureKind => Object.hasOwn(table, kind)
export const FEATURE_KINDS: readonly FeatureKind[] = Object.keys(table).filter(isKind)

const getRidge = (kind: FeatureKind): number => definitions[kind].ridge

/** Whether a name has at most one value of this kind, a number. */
const isNumber = (kind: FeatureKind): boolean => 'max' in definitions[kind]

/** Calls a function with each feature of a name once, in the order of the table. */
export function forEachFeature(
  subject: Subject,
  visit: (kind: FeatureKind, value: string | number) => void,
): void {
  for (const kind of FEATURE_KINDS) {
    const definition = definitions[kind]
    if ('max' in definition) {
      const number = definition.number(subject)
      if (number !== null) visit(kind, Math.min(number, definition.max))
      continue
    }
    const values = definition.values(subject)
    for (const [i, value] of values.entries()) if (values.indexOf(value) === i) visit(kind, value)
  }
}

/** Returns the features of a name, each once, in the order of the table. */
export function toFeatures(subject: Subject): readonly Feature[] {
  const features: Feature[] = []
  forEachFeature(subject, (kind, value) => features.push({ kind, value }))
  return features
}

/** Says in Spanish what a feature is. */
export function featureText({ kind, value }: Feature): string {
  const definition = definitions[kind]
  return 'max' in definition ? definition.text(Number(value)) : definition.text(String(value))
}

/** A name that members have decided on. */
export interface Decision extends Subject {
  readonly isWanted: boolean
}

/** A feature, what it adds to the logarithm of the odds, and how many of the names that have it were wanted, of how many. */
type WeightedFeature = readonly [
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
