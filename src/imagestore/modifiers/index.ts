import type { Stage } from '../decoder/stage.ts'
import type { Step } from './modifier.ts'
import { FIELDS, modifiers, type Field, type ResolvedTransformation, type Transformation } from './table.ts'

export * from './parse.ts'
export * from './table.ts'
export { COMPASS_POINTS, isName, NAME_TAKES, type CompassPoint, type Gravity, type Step } from './modifier.ts'

type Either = Transformation | ResolvedTransformation
type Effect = (stage: Stage) => Stage | Promise<Stage>

function isSet<Name extends Field>(field: Name, value: Transformation[Name]): boolean {
  const { initial } = modifiers[field]
  // Most are not: comparing them as text would take most of the time of a link.
  return value !== initial && JSON.stringify(value) !== JSON.stringify(initial)
}

const writeToken = <Name extends Field>(field: Name, value: Transformation[Name]): string | undefined =>
  isSet(field, value) ? modifiers[field].format(value) : undefined

/** The modifiers in a fixed order without initial values: equal transformations have equal texts, so it is a cache key. */
export function canonical(transformation: Either): string {
  const { accepted } = transformation
  const tokens = FIELDS.map((field) => writeToken(field, transformation[field]))
  if (accepted !== null) tokens.push(`accepted_${accepted.join('-')}`)
  return tokens.filter((token) => token !== undefined).join(',')
}

/** Whether the transformation leaves the image as it is. */
export const isIdentity = (transformation: Either): boolean => canonical(transformation) === ''

function findEffect<Name extends Field>(field: Name, value: Transformation[Name], step: Step): Effect[] {
  const { effect } = modifiers[field]
  return effect?.step === step && isSet(field, value) ? [(stage) => effect.apply(stage, value)] : []
}

/** Returns what the transformation does to pixels in a step, in canonical order. */
export const findEffects = (transformation: Either, step: Step): Effect[] =>
  FIELDS.flatMap((field) => findEffect(field, transformation[field], step))

const needsStillFor = <Name extends Field>(field: Name, value: Transformation[Name]): boolean =>
  isSet(field, value) && modifiers[field].needsStill?.(value) === true

/** Whether an animation becomes a still image. */
export const needsStill = (transformation: Either): boolean =>
  FIELDS.some((field) => needsStillFor(field, transformation[field]))

/** Whether a copy of the output is in memory while it is rendered. */
export const copiesOutput = (transformation: Either): boolean =>
  FIELDS.some((field) => modifiers[field].copiesOutput === true && isSet(field, transformation[field]))
