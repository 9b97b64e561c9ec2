import { FIELDS, modifiers, type Field, type ResolvedTransformation, type Transformation } from './table.ts'

type Either = Transformation | ResolvedTransformation

function tokenOf<Name extends Field>(field: Name, value: Transformation[Name]): string | undefined {
  const { initial, format } = modifiers[field]
  // Most are: comparing them as text would take most of the time of a link.
  if (value === initial || JSON.stringify(value) === JSON.stringify(initial)) return undefined
  return format(value)
}

/** The modifiers in a fixed order without initial values: equal transformations have equal texts, so it is a cache key. */
export function canonical(transformation: Either): string {
  const { accepted } = transformation
  const tokens = FIELDS.map((field) => tokenOf(field, transformation[field]))
  if (accepted !== null) tokens.push(`accepted_${accepted.join('-')}`)
  return tokens.filter((token) => token !== undefined).join(',')
}

/** Whether the transformation leaves the image as it is. */
export const isIdentity = (transformation: Either): boolean => canonical(transformation) === ''
