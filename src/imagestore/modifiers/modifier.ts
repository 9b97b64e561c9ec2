import type { Stage } from '../decoder/stage.ts'

/**
 * The steps of a transformation, in order: `cut` and `turn` come before the size is applied, `colour` and `detail` after it,
 * `shape` after border and background. Within a step, modifiers are applied in canonical order.
 */
export type Step = 'cut' | 'turn' | 'colour' | 'detail' | 'shape'

/** What a modifier does to pixels, besides those that determine the size, the border and the output as a whole. */
interface Rendering<Value> {
  readonly effect?: {
    readonly step: Step
    readonly apply: (stage: Stage, value: Value) => Stage | Promise<Stage>
  }
  /** Whether an animation becomes a still image, because libvips does not apply this value to each frame. */
  readonly needsStill?: (value: Value) => boolean
  /** Whether another copy of the output is in memory meanwhile. */
  readonly copiesOutput?: boolean
}

/** One modifier of the grammar: a token `<key>_<value>`, or the key alone. */
export interface Modifier<Value> extends Rendering<Value> {
  readonly key: string
  /** The value of a transformation without this modifier. The canonical text leaves it out. */
  readonly initial: Value
  /** Permitted values: in English for documents, in Spanish for error messages. */
  readonly values: string
  readonly expected: string
  readonly description: string
  /** Valid tokens that are cheap to render, for property tests and documents. */
  readonly examples: readonly string[]
  /** Returns undefined if `text` is malformed or out of range; `text` is undefined for a key alone. */
  readonly parse: (text: string | undefined) => Value | undefined
  /** The canonical token of a value other than `initial`. */
  readonly format: (value: Value) => string
}

interface NumberOptions<Initial extends number | null, Word extends string> extends Rendering<
  number | Initial | Word
> {
  readonly description: string
  readonly examples: readonly string[]
  readonly min: number
  readonly max: number
  readonly initial: Initial
  /** A word that is permitted instead of a number. */
  readonly word?: Word
}

const WHOLE = /^(?:0|-?[1-9]\d{0,5})$/
const DECIMAL = /^(?:0|[1-9]\d{0,5})(?:\.\d{1,3})?$/

/** Parses a number without plus sign, exponent or leading zeros; undefined if it is malformed or out of range. */
function parseNumber(pattern: RegExp, text: string | undefined, min: number, max: number) {
  if (text === undefined || !pattern.test(text)) return undefined
  const number = Number(text)
  return number >= min && number <= max ? number : undefined
}

export const parseInteger = (text: string | undefined, min: number, max: number) =>
  parseNumber(WHOLE, text, min, max)

/** With at most three decimals. */
export const parseDecimal = (text: string | undefined, min: number, max: number) =>
  parseNumber(DECIMAL, text, min, max)

function numeric<Initial extends number | null, Word extends string>(
  key: string,
  { min, max, initial, word, ...rest }: NumberOptions<Initial, Word>,
  pattern: RegExp,
  noun: string,
): Modifier<number | Initial | Word> {
  return {
    key,
    initial,
    values: word === undefined ? `${min} to ${max}` : `${min} to ${max}, or \`${word}\``,
    expected: `${noun} de ${min} a ${max}${word === undefined ? '' : `, o ${word}`}`,
    ...rest,
    parse: (text) => (word !== undefined && text === word ? word : parseNumber(pattern, text, min, max)),
    format: (value) => `${key}_${value}`,
  }
}

/** A modifier whose value is a whole number in decimal digits. */
export const integer = <const Initial extends number | null, const Word extends string = never>(
  key: string,
  options: NumberOptions<Initial, Word>,
) => numeric(key, options, WHOLE, 'un entero')

/** A modifier whose value is a number with at most three decimals. */
export const decimal = <const Initial extends number | null, const Word extends string = never>(
  key: string,
  options: NumberOptions<Initial, Word>,
) => numeric(key, options, DECIMAL, 'un número')

/** A modifier without a value. */
export const flag = (
  key: string,
  description: string,
  rendering: Rendering<boolean> = {},
): Modifier<boolean> => ({
  ...rendering,
  key,
  initial: false,
  values: '',
  expected: 'nada',
  description,
  examples: [key],
  parse: (text) => (text === undefined ? true : undefined),
  format: () => key,
})

interface ChoiceOptions<Option, Initial> extends Rendering<Option | Initial> {
  readonly initial: Initial
  readonly options: readonly Option[]
  readonly description: string
  readonly expected?: string
  /** Other spellings of options. */
  readonly aliases?: Readonly<Record<string, Option>>
}

/** A modifier whose value is one of some words or numbers. */
export function choice<const Option extends string | number, const Initial extends Option | number | null>(
  key: string,
  {
    initial,
    options,
    description,
    expected = options.join(', '),
    aliases = {},
    ...rendering
  }: ChoiceOptions<Option, Initial>,
): Modifier<Option | Initial> {
  const byText = new Map([...Object.entries(aliases), ...options.map((one) => [String(one), one] as const)])
  return {
    ...rendering,
    key,
    initial,
    values: options.map((option) => `\`${option}\``).join(', '),
    expected,
    description,
    examples: options.map((option) => `${key}_${option}`),
    parse: (text) => (text === undefined ? undefined : byText.get(text)),
    format: (value) => `${key}_${value}`,
  }
}

/** Permitted names of presets and watermarks. */
export const isName = (text: string): boolean => /^[a-z0-9][a-z0-9-]{0,31}$/.test(text)
export const NAME_TAKES = 'at most 32 of a to z, 0 to 9 and hyphens, and no hyphen at the beginning'

export const COMPASS_POINTS = ['center', 'n', 'ne', 'e', 'se', 's', 'sw', 'w', 'nw'] as const
export type CompassPoint = (typeof COMPASS_POINTS)[number]

/** What a crop keeps. `x` and `y` run from 0 (left, top) to 1. */
export type Gravity =
  | { readonly kind: 'compass'; readonly point: CompassPoint }
  | { readonly kind: 'auto' }
  | { readonly kind: 'entropy' }
  | { readonly kind: 'point'; readonly x: number; readonly y: number }

export const gravity: Modifier<Gravity> = {
  key: 'g',
  initial: { kind: 'compass', point: 'center' },
  values: `${COMPASS_POINTS.map((point) => `\`${point}\``).join(', ')}, \`auto\`, \`entropy\`, \`xy_X_Y\` with X and Y from 0 to 1`,
  expected: `${COMPASS_POINTS.join(', ')}, auto, entropy, xy_X_Y con X e Y de 0 a 1`,
  description:
    'what `c_fill` and `c_crop` keep: the middle, an edge or corner; the part that draws the eye or has the most detail, ' +
    'scaled to fill the box; or the part around a point, `0_0` being left top',
  examples: ['g_center', 'g_nw', 'g_s', 'g_auto', 'g_entropy', 'g_xy_0_1', 'g_xy_0.3_0.6'],
  parse: (text) => {
    if (text === 'auto' || text === 'entropy') return { kind: text }
    const point = COMPASS_POINTS.find((one) => one === text)
    if (point !== undefined) return { kind: 'compass', point }
    const [prefix, left, top, ...rest] = text?.split('_') ?? []
    const x = parseDecimal(left, 0, 1)
    const y = parseDecimal(top, 0, 1)
    return prefix !== 'xy' || x === undefined || y === undefined || rest.length > 0
      ? undefined
      : { kind: 'point', x, y }
  },
  needsStill: ({ kind }) => kind === 'auto' || kind === 'entropy',
  format: (value) => {
    if (value.kind === 'point') return `g_xy_${value.x}_${value.y}`
    return `g_${value.kind === 'compass' ? value.point : value.kind}`
  },
}
