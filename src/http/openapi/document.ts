import type { FastifySchema } from 'fastify'
import { OVERLOADED } from '../../lib/errors.ts'
import type { Access } from '../auth/authenticator.ts'
import { problem, type JsonSchema } from './json-schema.ts'
import type { Parameters } from '../parameters.ts'

/** Documentation of an endpoint, besides its parameters. */
export interface EndpointDocument {
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly deprecated?: boolean
  /** Body fields other than the parameters, as an object schema with an example. */
  readonly body?: JsonSchema
  /** Response bodies by status. Those common to all endpoints are added. */
  readonly answers: Readonly<Record<number, JsonSchema>>
}

const COMMON_ANSWERS = {
  401: problem(
    'No key, an unknown or revoked one (`La clave de API no es válida`), or an expired one (`La clave de API expiró`)',
    401,
    'Falta la clave de API',
  ),
  403: problem(
    "The other service's key, or one whose scope does not include this operation (`La clave de API no permite esta operación`)",
    403,
    'La clave de API no da acceso a este servicio',
  ),
  429: problem(
    'The key exceeds its rate, or the address sent too many wrong keys: retry after `Retry-After`',
    429,
    'Demasiadas solicitudes',
  ),
  503: problem('Overloaded: retry after `Retry-After`', 503, OVERLOADED),
}

const PARAMETER_ANSWERS = {
  400: problem(
    'A parameter is malformed or out of range',
    400,
    'El parámetro length debe ser un entero entre 1 y 63',
  ),
}

const BODY_ANSWERS = {
  413: problem('The body is too large', 413, 'El cuerpo de la solicitud es demasiado grande'),
  415: problem(
    'The body is of another type',
    415,
    'El tipo de contenido debe ser application/x-www-form-urlencoded, multipart/form-data o application/json',
  ),
}

const API_KEY = { type: 'string', description: 'API key; in the query or in the body, where there is one' }

interface Documented extends Access {
  readonly path: string
  readonly parameters: Parameters
  readonly document: EndpointDocument
}

declare module 'fastify' {
  interface FastifySchema {
    /** Key scopes that allow the endpoint. */
    'x-scopes'?: readonly string[]
  }
}

/** Returns the route's schema: the OpenAPI document is generated from it, and responses are serialised by it. */
export function documentEndpoint(endpoint: Documented, method: string): FastifySchema {
  const { document, parameters, path } = endpoint
  const properties: Record<string, unknown> = { api: API_KEY }
  const required = ['api']
  for (const [name, parameter] of Object.entries(parameters)) {
    properties[name] = {
      ...parameter.schema,
      description: parameter.description,
      ...(parameter.example === undefined ? {} : { examples: [parameter.example] }),
    }
    if (parameter.required) required.push(name)
  }
  const isPost = method === 'POST'
  return {
    tags: [document.tag],
    summary: document.summary,
    'x-scopes': [...endpoint.scopes, 'full'],
    operationId: [method.toLowerCase(), ...path.split('/').slice(-2)].join('-'),
    // Parameters of a POST may be in its body instead.
    querystring: { type: 'object', properties, ...(isPost ? {} : { required }) },
    response: {
      ...COMMON_ANSWERS,
      ...(Object.keys(parameters).length > 0 ? PARAMETER_ANSWERS : {}),
      ...(isPost ? BODY_ANSWERS : {}),
      ...document.answers,
    },
    ...(document.description === undefined ? {} : { description: document.description }),
    ...(document.deprecated === true && { deprecated: true }),
    ...(isPost ? { body: { content: bodyContent(properties, document.body) } } : {}),
  }
}

export const API_DESCRIPTION = {
  openapi: '3.1.0' as const,
  info: {
    title: 'Catalejo',
    version: '',
    description:
      'Domain tracking and image hosting. Every endpoint takes the API key as `api`, in the query or in the body; ' +
      'POST bodies may be url-encoded, multipart or JSON. The HTTP status always equals the `status` of the body.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  tags: [
    { name: 'domainwatch', description: 'Recently registered and deleted .cl domains' },
    { name: 'imagestore', description: 'Image hosting' },
    { name: 'admin', description: 'Accounts, keys and the state of the service, for its owner' },
    { name: 'service', description: 'Health, metrics and this document' },
  ],
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the body of a POST in its three formats. An array or object is JSON text in a form, and either in JSON. A base64 field
 * of a multipart form may also be a file part.
 */
function bodyContent(
  parameters: Fields,
  body: JsonSchema | undefined,
): Record<string, { schema: JsonSchema }> {
  const declared: Fields = isFields(body) ? body : {}
  const own = isFields(declared['properties']) ? declared['properties'] : {}
  const examples = declared['examples']
  const fields = Object.entries({ ...parameters, ...own }).filter((pair): pair is [string, JsonSchema] =>
    isFields(pair[1]),
  )
  const example: unknown = Array.isArray(examples) ? examples[0] : undefined
  const encoded = (field: (schema: JsonSchema) => JsonSchema, exampleOf: (value: unknown) => unknown) => ({
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

function inJson(schema: JsonSchema): JsonSchema {
  return isText(schema) ? plain(schema) : { anyOf: [schema, inForm(schema)] }
}

function inForm(schema: JsonSchema): JsonSchema {
  if (isText(schema)) return plain(schema)
  return { type: 'string', contentMediaType: 'application/json', description: 'The same as JSON text' }
}

function inMultipart(schema: JsonSchema): JsonSchema {
  if (schema['format'] !== 'byte') return inForm(schema)
  return { type: 'string', format: 'binary', description: 'A file part with the bytes, or base64 text' }
}

/** Removes keywords that apply to query parameters only. */
function plain(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'x-flag'))
}

const isText = (schema: JsonSchema) => schema['type'] !== 'array' && schema['type'] !== 'object'
const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The parts of an OpenAPI document that `finishDocument` corrects. */
interface Operation {
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, { schema: { required?: unknown } }> }
}

interface Parameter {
  name: string
  schema?: { 'x-flag'?: unknown }
  allowEmptyValue?: boolean
}

/** Corrects what the generator cannot know: flags, optional bodies, and the path of image links. */
export function finishDocument<T>(document: T): T {
  // The generator's type is a union of all OpenAPI versions; the fields read here exist in each.
  const { paths = {} } = document as { paths?: Record<string, Record<string, Operation>> }
  for (const [path, operations] of Object.entries(paths)) {
    for (const operation of Object.values(operations)) finishOperation(operation)
    if (!path.endsWith('{*}')) continue
    delete paths[path]
    paths[path.replace('{*}', '{id}')] = operations
  }
  return document
}

function finishOperation({ parameters = [], requestBody }: Operation): void {
  for (const parameter of parameters) {
    if (parameter.name === '*') parameter.name = 'id'
    if (parameter.schema?.['x-flag'] === undefined) continue
    delete parameter.schema['x-flag']
    parameter.allowEmptyValue = true
  }
  if (requestBody === undefined) return
  requestBody.required = Object.values(requestBody.content).some(
    ({ schema }) => schema.required !== undefined,
  )
}
