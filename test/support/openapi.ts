import { readFileSync } from 'node:fs'

type Json = Readonly<Record<string, unknown>>

/** The OpenAPI document of the repository. */
export const openapiText = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')

/** A copy of an OpenAPI document in which every reference is replaced by what it names, and `allOf` by one schema. Parts are shared. */
export function resolved(document: Json): unknown {
  const known = new Map<string, unknown>()
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline)
    if (typeof value !== 'object' || value === null) return value
    if ('$ref' in value) {
      const reference = String(value.$ref)
      if (!known.has(reference)) known.set(reference, inline(at(reference)))
      return known.get(reference)
    }
    const { allOf, ...rest } = Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, inline(inner)]),
    )
    return Array.isArray(allOf) ? { ...allOf.reduce(merge), ...rest } : rest
  }
  const at = (reference: string): unknown =>
    reference
      .split('/')
      .slice(1)
      .reduce<unknown>((value, key) => Object(value)[key], document)
  const { components: _, ...rest } = document
  return inline(rest)
}

/** Of two object schemas, the second narrows the first. */
const merge = (a: Json, b: Json): Json => ({
  ...a,
  properties: { ...Object(a['properties']), ...Object(b['properties']) },
  required: [...new Set([a['required'], b['required']].flat())],
})
