/** Types of the public API for clients/js and the console, generated from the OpenAPI document. */

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly additionalProperties?: boolean | Schema
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  /** Of flags. */
  readonly allowEmptyValue?: boolean
  readonly schema: Schema
}

interface Operation {
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly parameters: Readonly<Record<string, Parameter>>
  }
}

const HEAD = `// Generated from openapi.json by npm ci. Do not edit.
`

/** A module with one interface: what each operation takes and answers, by method and path. */
export function clientTypes(document: ApiDocument): string {
  const { schemas: named, parameters } = document.components
  const schemas = Object.entries(named).map(
    ([name, schema]) => `export type ${typeName(name)} = ${typeOf(schema)}\n`,
  )
  const operations = Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/api/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        describe(`${method.toUpperCase()} ${path}`, operation, parameters),
      ),
    )
  const errors = `/** Codes of errors. */\nexport type ErrorCode = Error['code']\n`
  const webhooks = Object.values(document.webhooks)
    .flatMap((methods) => Object.values(methods))
    .flatMap((operation) => bodyOf(operation) ?? [])
  const webhook = `/** What webhooks contain. */\nexport type Webhook = ${webhooks.map(typeOf).join(' | ')}\n`
  return `${HEAD}\n${errors}\n${webhook}\n${schemas.join('\n')}\nexport interface Operations {\n${operations.join('')}}\n`
}

const bodyOf = (operation: Operation) => operation.requestBody?.content['application/json']?.schema

function describe(
  name: string,
  operation: Operation,
  shared: ApiDocument['components']['parameters'],
): string {
  const parameters = (operation.parameters ?? []).map((one) => ('$ref' in one ? find(shared, one.$ref) : one))
  const query = parameters.filter((one) => one.in === 'query')
  const fields = query.map(
    (one) =>
      `${key(one.name)}${one.required === true ? '' : '?'}: ${typeOf(one.schema)}${one.allowEmptyValue === true ? ' | boolean' : ''}`,
  )
  const body = bodyOf(operation)
  const success = operation.responses['200'] ?? operation.responses['202']
  const answer = success?.content?.['application/json']?.schema
  return [
    `  '${name}': {`,
    `    query: { ${fields.join('; ')} }`,
    ...(body === undefined ? [] : [`    body: ${typeOf(body)}`]),
    `    answer: ${answer === undefined ? 'unknown' : typeOf(answer)}`,
    '  }\n',
  ].join('\n')
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return typeName(schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1))
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const either = schema.anyOf ?? schema.oneOf
  if (either !== undefined) return unique(either.map(typeOf)).join(' | ')
  if (schema.type === undefined) return 'unknown'
  return unique([schema.type].flat().map((type) => typeOfKind(type, schema))).join(' | ')
}

function typeOfKind(type: string, schema: Schema): string {
  switch (type) {
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `(${typeOf(schema.items ?? {})})[]`
    case 'object':
      return objectType(schema)
    default:
      return type
  }
}

function objectType({ properties, required = [], additionalProperties }: Schema): string {
  const rest = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'
  if (properties === undefined) return `Record<string, ${rest}>`
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  return `{ ${fields.join('; ')} }`
}

function find(shared: ApiDocument['components']['parameters'], ref: string): Parameter {
  const parameter = shared[ref.slice(ref.lastIndexOf('/') + 1)]
  if (parameter === undefined) throw new Error(`${ref} is not in the components`)
  return parameter
}

const unique = (types: readonly string[]) => [...new Set(types)]
const key = (name: string) => (/^\w+$/.test(name) ? name : JSON.stringify(name))
const typeName = (name: string) => name.replace(/\W/g, '_')
