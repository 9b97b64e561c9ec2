import type { FastifySchema } from 'fastify'
import type { Access } from '../auth/authenticator.ts'
import { bodyContent } from './body-content.ts'
import { problem, type JsonSchema } from './json-schema.ts'
import type { Parameters } from '../parameters.ts'

/** What an endpoint says of itself beyond its parameters. */
export interface EndpointDocument {
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly deprecated?: boolean
  /** Fields of a body that carries more than the parameters, as an object schema with an example. */
  readonly body?: JsonSchema
  /** The answer's body by status. Those that every endpoint may give are added. */
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
    'The key is over its rate, or there were too many wrong keys from one address: `Retry-After` says when',
    429,
    'Demasiadas solicitudes',
  ),
  503: problem(
    'Too much to do: `Retry-After` says when',
    503,
    'El servicio está saturado, inténtelo de nuevo',
  ),
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
    /** Scopes of keys that may call the endpoint. */
    'x-scopes'?: readonly string[]
  }
}

/** The route's schema: what the OpenAPI document is generated from, and what serialises its answers. */
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
    // What a POST needs may come in its body instead.
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
