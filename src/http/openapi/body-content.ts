import type { JsonSchema as Schema } from './json-schema.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * The body of a POST in its three encodings. A field that is an array or an object is JSON text in a form; in JSON
 * it is either. A base64 field of a multipart form may also be a file part.
 */
export function bodyContent(
  parameters: Fields,
  body: Schema | undefined,
): Record<string, { schema: Schema }> {
  const declared: Fields = isFields(body) ? body : {}
  const own = isFields(declared['properties']) ? declared['properties'] : {}
  const examples = declared['examples']
  const fields = Object.entries({ ...parameters, ...own }).filter((pair): pair is [string, Schema] =>
    isFields(pair[1]),
  )
  const example: unknown = Array.isArray(examples) ? examples[0] : undefined
  const encoded = (field: (schema: Schema) => Schema, exampleOf: (value: unknown) => unknown) => ({
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields.map(([name, schema]) => [name, field(schema)])),
      ...(declared['required'] === undefined ? {} : { required: declared['required'] }),
      ...(isFields(example)
        ? {
            examples: [
              Object.fromEntries(Object.entries(example).map(([key, value]) => [key, exampleOf(value)])),
            ],
          }
        : {}),
    },
  })
  return {
    'application/json': encoded(inJson, (value) => value),
    'application/x-www-form-urlencoded': encoded(inForm, asText),
    'multipart/form-data': encoded(inMultipart, asText),
  }
}

function inJson(schema: Schema): Schema {
  return isText(schema) ? plain(schema) : { anyOf: [schema, inForm(schema)] }
}

function inForm(schema: Schema): Schema {
  if (isText(schema)) return plain(schema)
  return { type: 'string', contentMediaType: 'application/json', description: 'The same as JSON text' }
}

function inMultipart(schema: Schema): Schema {
  if (schema['format'] !== 'byte') return inForm(schema)
  return { type: 'string', format: 'binary', description: 'A file part with the bytes, or base64 text' }
}

/** Without the words that are about queries only. */
function plain(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'x-flag'))
}

const isText = (schema: Schema) => schema['type'] !== 'array' && schema['type'] !== 'object'
const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
