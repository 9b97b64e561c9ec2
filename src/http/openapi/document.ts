import type { FastifySchema } from 'fastify'
import { type HttpError, OverloadError, tooManyRequests } from '../../lib/errors.ts'
import { type Access, keyErrors } from '../auth/authenticator.ts'
import { isObject } from '../../lib/json.ts'
import { badParameter, httpErrors, missingParameter } from '../errors.ts'
import { problem, withCodesOf, type JsonSchema } from './json-schema.ts'
import { parseParameters, type Parameters } from '../parameters.ts'

/** Documentation of an endpoint, besides its parameters. */
export interface EndpointDocument {
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
    'No key, an unknown or revoked one, or an expired one',
    keyErrors.key_missing(),
    keyErrors.key_invalid(),
    keyErrors.key_expired(),
  ),
  403: problem(
    'The key is for another service, or its scope does not include this operation',
    keyErrors.key_of_other_service(),
    keyErrors.key_out_of_scope(),
  ),
  429: problem(
    'The key exceeds its rate, or the address sent too many wrong keys: retry after `Retry-After`',
    tooManyRequests(),
  ),
  503: problem('Overloaded: retry after `Retry-After`', new OverloadError()),
}

const parameterAnswers = ({ parameters, ignoresUnknown = false }: Documented) => ({
  400: problem(
    `A parameter is missing, malformed${ignoresUnknown ? '' : ', unknown'} or out of range, or the request cannot be read`,
    parameterError(parameters) ?? (ignoresUnknown ? httpErrors.bad_request() : UNKNOWN_PARAMETER),
    httpErrors.bad_request(),
    badParameter('', ''),
    missingParameter(''),
    httpErrors.unreadable_body(),
    ...(ignoresUnknown ? [] : [UNKNOWN_PARAMETER]),
  ),
})

const UNKNOWN_PARAMETER = httpErrors.unknown_parameter('apu', 'api').with({ fields: { parameter: 'apu' } })

const bodyAnswers = (bodyLimit: number) => ({
  413: problem('The body is too large', httpErrors.body_too_large(bodyLimit)),
  415: problem(
    'The body is of another type, or encoded',
    httpErrors.unsupported_type(),
    httpErrors.unsupported_encoding(),
  ),
})

/** The answers of an endpoint replace the common ones of their status, whose codes it may answer as well. */
function mergedAnswers(
  own: EndpointDocument['answers'],
  common: EndpointDocument['answers'],
): EndpointDocument['answers'] {
  const merged = Object.entries(own).map(([status, schema]) => [
    status,
    withCodesOf(schema, common[Number(status)]),
  ])
  return { ...common, ...Object.fromEntries(merged) }
}

/** The error for the first parameter that does not take every text. */
function parameterError(parameters: Parameters): HttpError | undefined {
  for (const name of Object.keys(parameters)) {
    const parsed = parseParameters(parameters, { [name]: NO_VALUE })
    if (!parsed.ok) return parsed.error
  }
  return undefined
}
/** No choice, number, date or name. */
const NO_VALUE = '\0'

const API_KEY = { type: 'string', description: 'API key; in the query or in the body, where there is one' }

interface Documented extends Access {
  readonly path: string
  readonly parameters: Parameters
  readonly ignoresUnknown?: boolean
  readonly document: EndpointDocument
  /** Largest body, in bytes. */
  readonly bodyLimit: number
}

declare module 'fastify' {
  interface FastifySchema {
    /** Key scopes that allow the endpoint. */
    'x-scopes'?: readonly string[]
  }
}

/** Returns the route's schema: the OpenAPI document is generated from it, and responses are serialised by it. */
export function documentEndpoint(endpoint: Documented, method: string): FastifySchema {
  const { bodyLimit, document, parameters, path } = endpoint
  const properties: Record<string, unknown> = { api: API_KEY }
  const named: Record<string, unknown> = {}
  const required = ['api']
  for (const [name, parameter] of Object.entries(parameters)) {
    // In a query, each property of an object is a parameter; a body has them among its own.
    if (parameter.names !== undefined) Object.assign(named, parameter.schema['patternProperties'])
    properties[name] = {
      ...parameter.schema,
      description: parameter.description,
      ...(parameter.example === undefined ? {} : { examples: [parameter.example] }),
    }
    if (parameter.required) required.push(name)
  }
  const isPost = method === 'POST'
  const inBody = Object.fromEntries(
    Object.entries(properties).filter(([name]) => parameters[name]?.names === undefined),
  )
  return {
    tags: [endpoint.service],
    summary: document.summary,
    'x-scopes': [...endpoint.scopes, 'full'],
    operationId: [method.toLowerCase(), ...path.split('/').slice(-2)].join('-'),
    // Parameters of a POST may be in its body instead.
    querystring: { type: 'object', properties, ...(isPost ? {} : { required }) },
    response: mergedAnswers(document.answers, {
      ...COMMON_ANSWERS,
      ...parameterAnswers(endpoint),
      ...(isPost ? bodyAnswers(bodyLimit) : {}),
    }),
    ...(document.description === undefined ? {} : { description: document.description }),
    ...(document.deprecated === true && { deprecated: true }),
    ...(isPost ? { body: { content: bodyContent(inBody, named, document.body) } } : {}),
  }
}

export const API_DESCRIPTION = {
  openapi: '3.1.0' as const,
  info: {
    title: 'Catalejo',
    version: '',
    description:
      'Domain tracking and image hosting. Every endpoint takes the API key as `api`, in the query or in the body; ' +
      'POST bodies may be url-encoded, multipart or JSON. The HTTP status always equals the `status` of the body. ' +
      'Errors have a message for people (`msg`, in Spanish) and a code for programs (`code`), which is never renamed.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  tags: [
    { name: 'domainwatch', description: 'Recently registered and deleted .cl domains' },
    { name: 'imagestore', description: 'Image hosting' },
    { name: 'admin', description: 'Accounts, keys and the state of the service, for its owner' },
    { name: 'service', description: 'Health, metrics and this document' },
  ],
}

/**
 * Returns the body of a POST in its three formats. An array or object is JSON text in a form, and either in JSON. A base64 field
 * of a multipart form may also be a file part.
 * @param patternProperties parameters whose names follow a pattern
 */
function bodyContent(
  parameters: JsonSchema,
  patternProperties: JsonSchema,
  body: JsonSchema | undefined,
): Record<string, { schema: JsonSchema }> {
  const declared: JsonSchema = isObject(body) ? body : {}
  const own = isObject(declared['properties']) ? declared['properties'] : {}
  const examples = declared['examples']
  const fields = Object.entries({ ...parameters, ...own }).filter((pair): pair is [string, JsonSchema] =>
    isObject(pair[1]),
  )
  const example: unknown = Array.isArray(examples) ? examples[0] : undefined
  const encoded = (field: (schema: JsonSchema) => JsonSchema, exampleOf: (value: unknown) => unknown) => ({
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields.map(([name, schema]) => [name, field(schema)])),
      ...(Object.keys(patternProperties).length > 0 && { patternProperties }),
      ...(declared['required'] === undefined ? {} : { required: declared['required'] }),
      ...(isObject(example)
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
