import type { FastifySchema } from 'fastify'
import { type HttpError, OverloadError, tooManyRequests } from '../../lib/errors.ts'
import { type Access, keyErrors } from '../auth/authenticator.ts'
import { isObject } from '../../lib/json.ts'
import { badParameter, httpErrors, missingParameter } from '../errors.ts'
import { problem, withCodes, type JsonSchema } from './json-schema.ts'
import type { Parameters } from '../parameters.ts'

/** Documentation of an endpoint, besides its parameters. */
export interface EndpointDocument {
  /** The name of the operation, a verb and a noun, which generated clients call it by. */
  readonly operation: string
  readonly summary: string
  readonly description?: string
  readonly deprecated?: boolean
  /** Body fields other than the parameters, as an object schema with an example. */
  readonly body?: JsonSchema
  /** Response bodies by status. Those common to all endpoints are added. */
  readonly answers: Readonly<Record<number, JsonSchema>>
}

/** A response that generated clients declare once. @param errors the first is the example */
const named = (title: string, description: string, ...errors: readonly [HttpError, ...HttpError[]]) => ({
  ...problem(description, ...errors),
  title,
})

const COMMON_ANSWERS = {
  401: named(
    'Unauthorized',
    'The key is missing, unknown, revoked or expired',
    keyErrors.key_missing(),
    keyErrors.key_invalid(),
    keyErrors.key_expired(),
  ),
  403: named(
    'Forbidden',
    'The key is for another service, or its scope does not include this operation',
    keyErrors.key_of_other_service(),
    keyErrors.key_out_of_scope(),
  ),
  429: named(
    'TooManyRequests',
    'The key exceeds its rate, or the address sent too many wrong keys: retry after `Retry-After`',
    tooManyRequests(),
  ),
  503: named('Overloaded', 'The service is overloaded: retry after `Retry-After`', new OverloadError()),
}

const INVALID: readonly [HttpError, ...HttpError[]] = [
  httpErrors.bad_request(),
  badParameter('', ''),
  missingParameter(''),
  httpErrors.unreadable_body(),
]
const UNKNOWN_PARAMETER = httpErrors.unknown_parameter('apu', 'api').with({ fields: { parameter: 'apu' } })

const parameterAnswers = ({ ignoresUnknown = false }: Documented) => ({
  400: ignoresUnknown
    ? named(
        'InvalidSeedRequest',
        'A parameter is missing, malformed or out of range, or the request cannot be read',
        ...INVALID,
      )
    : named(
        'InvalidRequest',
        'A parameter is missing, malformed, unknown or out of range, or the request cannot be read',
        UNKNOWN_PARAMETER,
        ...INVALID,
      ),
})

const bodyAnswers = (bodyLimit: number) => ({
  413: named(`BodyOver${bodyLimit}Bytes`, 'The body is too large', httpErrors.body_too_large(bodyLimit)),
  415: named(
    'UnsupportedMediaType',
    'The body has an unsupported media type, or a content encoding',
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
    withCodes(schema, common[Number(status)]),
  ])
  return { ...common, ...Object.fromEntries(merged) }
}

interface Documented extends Access, EndpointDocument {
  readonly methods: readonly string[]
  readonly parameters: Parameters
  readonly ignoresUnknown?: boolean
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
  const { bodyLimit, operation, parameters } = endpoint
  const properties: Record<string, JsonSchema> = {}
  const named: Record<string, unknown> = {}
  const required: string[] = []
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
    summary: endpoint.summary,
    'x-scopes': [...endpoint.scopes, 'full'],
    // Of two methods, the first is the proper one.
    operationId:
      method === endpoint.methods[0] ? operation : `${operation}By${capitalize(method.toLowerCase())}`,
    security: [{ api: [] }],
    response: mergedAnswers(endpoint.answers, {
      ...COMMON_ANSWERS,
      ...parameterAnswers(endpoint),
      ...(isPost ? bodyAnswers(bodyLimit) : {}),
    }),
    ...(endpoint.description === undefined ? {} : { description: endpoint.description }),
    ...(endpoint.deprecated === true && { deprecated: true }),
    // Parameters of a POST may be in its query as well: generated clients send them in one place.
    ...(isPost
      ? {
          body: {
            content: bodyContent(`${capitalize(operation)}Body`, inBody, named, required, endpoint.body),
          },
        }
      : { querystring: { type: 'object', properties, required } }),
  }
}

export const API_DESCRIPTION = {
  openapi: '3.1.0' as const,
  info: {
    title: 'Catalejo',
    version: '',
    description:
      'Domain tracking and image hosting. POST bodies are URL-encoded, multipart or JSON, in which an array or object may also ' +
      'be its JSON text. The key and other parameters of a POST may be in its query as well as in its body. ' +
      'The HTTP status always equals the `status` of the body. ' +
      'Errors have a message for people (`msg`, in Spanish) and a code for programs (`code`), which is never renamed.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  components: {
    securitySchemes: {
      // In the query alone, so that generated clients keep the key out of every call.
      api: { type: 'apiKey' as const, in: 'query', name: 'api', description: 'API key' },
    },
  },
  servers: [{ url: 'http://127.0.0.1:8080' }],
  tags: [
    { name: 'domainwatch', description: 'Recently registered and deleted .cl domains' },
    { name: 'imagestore', description: 'Image hosting' },
    { name: 'admin', description: 'Accounts, keys and the state of the service, for its owner' },
    { name: 'service', description: 'Health, metrics and this document' },
  ],
}

/**
 * Returns the body of a POST in its three formats. An array or object is JSON text in a form. A base64 field of a multipart form may
 * also be a file part. What is the same in all of them is one schema with a name.
 * @param patternProperties parameters whose names follow a pattern
 */
function bodyContent(
  title: string,
  parameters: Readonly<Record<string, JsonSchema>>,
  patternProperties: JsonSchema,
  required: readonly string[],
  body: JsonSchema = {},
): Record<string, { schema: JsonSchema }> {
  const own = isObject(body['properties']) ? body['properties'] : {}
  const fields = Object.entries({ ...parameters, ...own }).filter((pair): pair is [string, JsonSchema] =>
    isObject(pair[1]),
  )
  const [example]: readonly unknown[] = Array.isArray(body['examples']) ? body['examples'] : []
  const needed = [...required, ...(Array.isArray(body['required']) ? body['required'] : [])]
  const isSame = fields.every(([, schema]) => isText(schema) && schema['format'] !== 'byte')
  const encoded = (field: (schema: JsonSchema) => JsonSchema, exampleOf: (value: unknown) => unknown) => ({
    schema: {
      type: 'object',
      ...((isSame || field === inBody) && { title }),
      properties: Object.fromEntries(fields.map(([name, schema]) => [name, field(schema)])),
      ...(Object.keys(patternProperties).length > 0 && { patternProperties }),
      ...(needed.length > 0 && { required: needed }),
      ...(isObject(example) && {
        examples: [
          Object.fromEntries(Object.entries(example).map(([key, value]) => [key, exampleOf(value)])),
        ],
      }),
    },
  })
  return {
    'application/json': encoded(inBody, (value) => value),
    'application/x-www-form-urlencoded': encoded(inForm, asText),
    'multipart/form-data': encoded(inMultipart, asText),
  }
}

function inForm(schema: JsonSchema): JsonSchema {
  if (isText(schema)) return inBody(schema)
  return {
    type: 'string',
    contentMediaType: 'application/json',
    description: 'The array or object as JSON text',
  }
}

function inMultipart(schema: JsonSchema): JsonSchema {
  if (schema['format'] !== 'byte') return inForm(schema)
  return { type: 'string', format: 'binary', description: 'File part with the bytes, or base64 text' }
}

/** A flag may also be `true`, and JSON text what it contains. */
function inBody(schema: JsonSchema): JsonSchema {
  const { 'x-flag': flag, contentMediaType, contentSchema, type, ...rest } = schema
  if (flag !== undefined) return { ...rest, type: ['string', 'boolean'] }
  if (contentSchema !== undefined) return { ...rest, anyOf: [{ type, contentMediaType }, contentSchema] }
  return schema
}

const capitalize = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
const isText = (schema: JsonSchema) => schema['type'] !== 'array' && schema['type'] !== 'object'
const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
