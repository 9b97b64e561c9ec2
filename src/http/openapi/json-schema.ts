import type { HttpError } from '../../lib/errors.ts'

/** A JSON Schema as in OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>

const isOptional = Symbol('optional property')

export const string = (keywords: JsonSchema = {}): JsonSchema => ({ type: 'string', ...keywords })

export const integer = (keywords: JsonSchema = {}): JsonSchema => ({ type: 'integer', ...keywords })

export const number = (keywords: JsonSchema = {}): JsonSchema => ({ type: 'number', ...keywords })

export const constant = (value: number): JsonSchema => ({ type: 'integer', const: value })

export const array = (items: JsonSchema, keywords: JsonSchema = {}): JsonSchema => ({
  type: 'array',
  items,
  ...keywords,
})

/** Also allows null. */
export const nullable = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema['type'], 'null'] })

/** Marks a property of an object as optional. */
export const optional = (schema: JsonSchema): JsonSchema => ({ ...schema, [isOptional]: true })

export function object(
  properties: Readonly<Record<string, JsonSchema>>,
  keywords: JsonSchema = {},
): JsonSchema {
  const required = Object.entries(properties).flatMap(([name, schema]) =>
    isOptional in schema ? [] : [name],
  )
  return { type: 'object', required, properties, ...keywords }
}

/** The body of an error response. The example is what the handler throws, so that there is only one text. */
export const problem = (description: string, example: HttpError): JsonSchema =>
  object({ status: integer(), msg: string() }, { description, examples: [example.body()] })
