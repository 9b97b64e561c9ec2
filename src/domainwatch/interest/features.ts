import { toShape, toSyllables } from '../../lib/name-spelling.ts'

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
export interface Feature {
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

export const getRidge = (kind: FeatureKind): number => definitions[kind].ridge

/** Whether a name has at most one value of this kind, a number. */
export const isNumber = (kind: FeatureKind): boolean => 'max' in definitions[kind]

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
