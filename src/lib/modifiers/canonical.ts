import {
  FIELDS,
  UNCHANGED,
  modifiers,
  type Changes,
  type Field,
  type ResolvedTransformation,
  type Transformation,
} from './table.ts'
import type { NextSize } from './modifier.ts'

type Either = Transformation | ResolvedTransformation

function tokenOf<Name extends Field>(field: Name, value: Transformation[Name]): string | undefined {
  const { initial, format } = modifiers[field]
  // Most are: comparing them as text would take most of the time of a link.
  if (value === initial || JSON.stringify(value) === JSON.stringify(initial)) return undefined
  return format(value)
}

/** The modifiers in a fixed order without initial values: equal transformations have equal texts, so it is a cache key. */
export function canonical(transformation: Either): string {
  const { client } = transformation
  const tokens = FIELDS.map((field) => tokenOf(field, transformation[field]))
  if (client !== null) tokens.push(`client_${client.formats.join('-')}${client.light ? '-light' : ''}`)
  return tokens.filter((token) => token !== undefined).join(',')
}

/** Whether the transformation leaves the image as it is. */
export const isIdentity = (transformation: Either): boolean => canonical(transformation) === ''

/** Rounds all values to few, so that few derivatives can be requested. The device pixel ratio goes into the sizes. */
export function roundValues(given: ResolvedTransformation, nextSize: NextSize): ResolvedTransformation {
  const { width, height, dpr } = given
  const scaled = {
    ...given,
    width: width && Math.round(width * dpr),
    height: height && Math.round(height * dpr),
    dpr: UNCHANGED.dpr,
  }
  const rounded = FIELDS.reduce<Changes>((changes, field) => withRounded(changes, field), {})
  return { ...scaled, ...rounded, format: given.format }

  function withRounded<Name extends Field>(changes: Changes, field: Name): Changes {
    changes[field] = modifiers[field].round(scaled[field], nextSize)
    return changes
  }
}
