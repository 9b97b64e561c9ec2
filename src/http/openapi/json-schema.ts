import type { HttpError } from '../../lib/errors.ts'
import { isObject } from '../../lib/json.ts'

/** A JSON Schema as in OpenAPI 3.1. The document has one with a `title` once, in its components, and so have generated clients. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Further keywords of a schema, or only its description. */
type Keywords = JsonSchema | string

const toKeywords = (given: Keywords): JsonSchema =>
  typeof given === 'string' ? { description: given } : given

const isOptional = Symbol('optional property')

export const string = (keywords: Keywords = {}): JsonSchema => ({ type: 'string', ...toKeywords(keywords) })

export const integer = (keywords: Keywords = {}): JsonSchema => ({ type: 'integer', ...toKeywords(keywords) })

export const number = (keywords: Keywords = {}): JsonSchema => ({ type: 'number', ...toKeywords(keywords) })

export const constant = (value: number): JsonSchema => ({ type: 'integer', const: value })

export const array = (items: JsonSchema, keywords: Keywords = {}): JsonSchema => ({
  type: 'array',
  items,
  ...toKeywords(keywords),
})

/** Also allows null. */
export const nullable = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema['type'], 'null'] })

/** Marks a property of an object as optional. */
export const optional = (schema: JsonSchema): JsonSchema => ({ ...schema, [isOptional]: true })

export function object(
  properties: Readonly<Record<string, JsonSchema>>,
  keywords: Keywords = {},
): JsonSchema {
  const required = Object.entries(properties).flatMap(([name, schema]) =>
    isOptional in schema ? [] : [name],
  )
  return { type: 'object', required, properties, ...toKeywords(keywords) }
}

/** The body of a response of status 200. Neither the properties nor the example repeat the status. */
export const answer = (
  properties: Readonly<Record<string, JsonSchema>>,
  description: string,
  example: JsonSchema,
): JsonSchema =>
  object({ status: constant(200), ...properties }, { description, examples: [{ status: 200, ...example }] })

/** The body of a response that lists items: their number in `count`, and the items in `data`. */
export const listAnswer = (
  items: JsonSchema,
  {
    count,
    data,
    description,
  }: { readonly count?: string; readonly data?: string; readonly description: string },
  example: object,
): JsonSchema =>
  answer({ count: integer(count), data: array(items, data) }, description, { count: 1, data: [example] })

/**
 * The body of an error response. The example is the first error that the handler throws, so that there is only one text.
 * @param others that the handler throws with the same status
 */
export const problem = (
  description: string,
  example: HttpError,
  ...others: readonly HttpError[]
): JsonSchema => problemWith({}, description, example, ...others)

/** @param fields of the body besides status, message and code */
export const problemWith = (
  fields: Readonly<Record<string, JsonSchema>>,
  description: string,
  example: HttpError,
  ...others: readonly HttpError[]
): JsonSchema =>
  object(
    {
      status: constant(example.status),
      ...fields,
      msg: string(),
      code: codeField([example, ...others].map(({ code }) => code)),
    },
    { description, examples: [example.body()] },
  )

const codeField = (codes: readonly string[]) => string({ enum: [...new Set(codes)] })

/** Adds the codes of another error response to those of this one. Schemas without codes stay as they are. */
export function withCodes(schema: JsonSchema, other: JsonSchema | undefined): JsonSchema {
  const own = toCodes(schema)
  const more = toCodes(other)
  if (own.length === 0 || more.length === 0) return schema
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  return { ...schema, properties: { ...properties, code: codeField([...own, ...more]) } }
}

function toCodes(schema: JsonSchema | undefined): readonly string[] {
  const properties = isObject(schema?.['properties']) ? schema['properties'] : {}
  const code = isObject(properties['code']) ? properties['code']['enum'] : undefined
  return Array.isArray(code) ? code.map(String) : []
}
