import type { FastifySchema } from 'fastify'
import type { TSchema } from 'typebox'
import type { Parameters } from './parameters.ts'

/** What an endpoint says of itself beyond its parameters. */
export interface EndpointDocument {
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** Fields of the body, by name. */
  readonly body?: TSchema
  /** The answer's body by status. Those of 401, 403, 429 and 500 are added for every endpoint. */
  readonly answers: Readonly<Record<number, TSchema>>
}

const problem = (description: string, status: number, msg: string) => ({
  description,
  type: 'object',
  required: ['status', 'msg'],
  properties: { status: { type: 'integer' }, msg: { type: 'string' } },
  examples: [{ status, msg }],
})

const COMMON_ANSWERS = {
  401: problem('No key, or a wrong one', 401, 'Falta la clave de API'),
  403: problem("The other service's key", 403, 'La clave de API no da acceso a este servicio'),
  429: problem('Too many wrong keys from one address', 429, 'Demasiadas solicitudes'),
}

const BODY_KINDS = ['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json']

interface Documented {
  readonly path: string
  readonly parameters: Parameters
  readonly document: EndpointDocument
}

/** The route's schema: what the OpenAPI document is generated from, and what serialises its answers. */
export function documentEndpoint(endpoint: Documented, method: string): FastifySchema {
  const { document, parameters, path } = endpoint
  const properties: Record<string, unknown> = {
    api: { type: 'string', description: 'API key' },
  }
  for (const [name, parameter] of Object.entries(parameters)) {
    properties[name] = {
      ...parameter.schema,
      description: parameter.description,
      ...(parameter.example === undefined ? {} : { examples: [parameter.example] }),
    }
  }
  const name = path.split('/').slice(-2).join('-')
  return {
    tags: [document.tag],
    summary: document.summary,
    operationId: `${method.toLowerCase()}-${name}`,
    querystring: { type: 'object', properties },
    response: { ...COMMON_ANSWERS, ...document.answers },
    ...(document.description === undefined ? {} : { description: document.description }),
    ...(method === 'POST' && document.body !== undefined
      ? { body: document.body, consumes: BODY_KINDS }
      : {}),
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
    { name: 'service', description: 'Health, metrics and this document' },
  ],
}
