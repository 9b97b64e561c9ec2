import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify'
import { HttpError } from '../lib/errors.ts'
import { jsonTypeOf } from '../lib/json-type.ts'
import type { AnswerMemory, LentMemory } from './answer-memory.ts'
import type { Access, Authenticator, Identity } from './authentication.ts'
import { refusalOf } from './errors.ts'
import type { BodyField } from './body/fields.ts'
import { bodyKind, parseBody } from './body/parse.ts'
import {
  isFlag,
  parseParameters,
  parseQuery,
  type Given,
  type Parameter,
  type Parameters,
  type Values,
} from './parameters.ts'
import { JSON_TYPE, jsonHead, PRIVATE_HEADERS } from './ready-head.ts'
import type { BodyBudget, BodyLease } from './body-budget.ts'
import { clientGroup } from './client-address.ts'
import { BAD_ENCODING, isEncoded } from './content-encoding.ts'
import { receiveBody, type RequestBody } from './request-body.ts'
import { documentEndpoint, type EndpointDocument } from './openapi.ts'

/** Room for the parameters of an endpoint whose body carries nothing large. */
const SMALL_BODY_BYTES = 64 * 1024

/** What an endpoint's handler is given: the request after its key check. */
export interface Call<P extends Parameters> {
  readonly identity: Identity
  readonly values: Values<P>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Whether the request's key is still good: for answers that last. */
  readonly isCurrent: () => Promise<boolean>
  /** Milliseconds until the key expires; infinite for one that never does. */
  readonly expiresIn: () => number
}

export interface CallAtOnce<P extends Parameters> extends Pick<Call<P>, 'identity' | 'values'> {
  /** The address as it was sent. */
  readonly url: string
  /** For a body that nobody keeps: what is lent belongs into the answer, and nothing may fail in between. */
  readonly memory: AnswerMemory | undefined
}

export interface AnswerAtOnce {
  /** JSON. */
  readonly body: Uint8Array | string
  /** Where the body lies, where that is lent. */
  readonly lent?: LentMemory | undefined
  /** A `Link` header. */
  readonly link?: string | undefined
}

/** The same for an endpoint that reads its body by itself, in another thread, and may find the key there. */
export interface BulkCall<P extends Parameters> extends Omit<
  Call<P>,
  'identity' | 'isCurrent' | 'expiresIn'
> {
  readonly body: RequestBody
  /** The key check: of the key in the query, else of the one found in the body. */
  readonly identify: (keyInBody: string | undefined) => Promise<Identity>
}

/** What is ready to be sent (JSON, unless the handler set its type), an object to be serialised, a stream, or nothing. */
export type Answer = string | Buffer | Readonly<Record<string, unknown>> | Readable | null

interface EndpointBase<P extends Parameters> extends Access {
  readonly path: string
  readonly parameters: P
  readonly document: EndpointDocument
}

export interface SimpleEndpoint<P extends Parameters> extends EndpointBase<P> {
  readonly methods: readonly ('GET' | 'POST' | 'DELETE')[]
  readonly handle: (call: Call<P>) => Promise<Answer>
  /** The answer to a GET where nothing has to be waited for; undefined for everything else, refusals included. */
  readonly atOnce?: (call: CallAtOnce<P>) => AnswerAtOnce | undefined
}

export interface BulkEndpoint<P extends Parameters> extends EndpointBase<P> {
  readonly methods: readonly ['POST']
  /** Largest body, in bytes. */
  readonly bodyLimit: number
  readonly handle: (call: BulkCall<P>) => Promise<Answer>
}

/** What the endpoints of a server share. */
export interface EndpointShared {
  readonly authenticator: Authenticator
  readonly bodies: BodyBudget
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set as soon as the key of the query was checked. */
    identity: Identity | undefined
    bodyLease: BodyLease | undefined
  }
}

/** Registers an endpoint whose parameters come in the query, or in a small body (the query wins). */
export function simpleEndpoint<P extends Parameters>(
  app: FastifyInstance,
  shared: EndpointShared,
  endpoint: SimpleEndpoint<P>,
): void {
  const { authenticator } = shared
  answerAtOnce(app, authenticator, endpoint)
  register(app, shared, endpoint, async (request, reply) => {
    let given = queryOf(request)
    const body = METHODS_WITH_BODY.has(request.method)
      ? await receive(request, SMALL_BODY_BYTES, shared.bodies)
      : undefined
    if (body !== undefined && body.bytes.byteLength > 0) {
      const fields = textFields(body, endpoint.parameters)
      request.identity ??= await authenticator.identify(fields?.given['api'], endpoint, request.ip)
      if (bodyKind(body.contentType) === undefined) throw refusalOf(415)
      if (fields === undefined) throw new HttpError(400, 'El cuerpo de la solicitud no se puede leer')
      const odd = fields.odd.find(({ name }) => given[name] === undefined)
      if (odd !== undefined) throw new HttpError(400, odd.message)
      given = { ...fields.given, ...given }
    }
    const identity = request.identity ?? (await authenticator.identify(undefined, endpoint, request.ip))
    const values = checked(endpoint.parameters, given)
    const isCurrent = () => authenticator.isCurrent(given['api'], identity)
    const expiresIn = () => authenticator.expiresIn(identity)
    return endpoint.handle({ identity, values, request, reply, isCurrent, expiresIn })
  })
}

/** Lets a GET pass by the framework where its endpoint has the answer at hand. */
function answerAtOnce<P extends Parameters>(
  app: FastifyInstance,
  authenticator: Authenticator,
  endpoint: SimpleEndpoint<P>,
): void {
  const { path, parameters, atOnce } = endpoint
  if (atOnce === undefined) return
  const route = `${app.prefix}${path}`
  app.atOnce.add(`${route}?`, route, (query, { url = '' }, memory) => {
    // There the framework has a query end.
    if (query.includes('#')) return undefined
    const given = parseQuery(query)
    const identity = authenticator.identifyAtOnce(given['api'], endpoint)
    const parsed = identity && parseParameters(parameters, given)
    if (identity === undefined || parsed?.ok !== true) return undefined
    const answer = atOnce({ identity, values: parsed.values, url, memory })
    if (answer === undefined) return undefined
    authenticator.countAtOnce(identity)
    const { body, lent, link } = answer
    return {
      head: jsonHead(typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength, link),
      body,
      lent,
    }
  })
}

/** Registers an endpoint that takes a large body. */
export function bulkEndpoint<P extends Parameters>(
  app: FastifyInstance,
  shared: EndpointShared,
  endpoint: BulkEndpoint<P>,
): void {
  register(app, shared, endpoint, async (request, reply) => {
    const body = await receive(request, endpoint.bodyLimit, shared.bodies)
    // Looked at now: the endpoint hands the bytes to another thread.
    const isUnsupported = body.bytes.byteLength > 0 && bodyKind(body.contentType) === undefined
    const identify = async (keyInBody: string | undefined) => {
      request.identity ??= await shared.authenticator.identify(keyInBody, endpoint, request.ip)
      request.bodyLease?.assignTo(request.identity.accountId)
      if (isUnsupported) throw refusalOf(415)
      return request.identity
    }
    const values = checked(endpoint.parameters, queryOf(request))
    return endpoint.handle({ body, identify, values, request, reply })
  })
}

type Handle = (request: FastifyRequest, reply: FastifyReply) => Promise<Answer>

function register<P extends Parameters>(
  app: FastifyInstance,
  shared: EndpointShared,
  endpoint: EndpointBase<P> & { readonly methods: readonly HTTPMethods[] },
  handle: Handle,
): void {
  const route: Omit<RouteOptions, 'method' | 'schema'> = {
    url: endpoint.path,
    // Before the body is parsed, so that nobody without a key makes the service read one.
    onRequest: async (request, reply) => {
      reply.headers(PRIVATE_HEADERS)
      const key = queryOf(request)['api']
      if (key === undefined && mayCarryKey(request)) return
      request.identity = await shared.authenticator.identify(key, endpoint, request.ip)
    },
    handler: async (request, reply) => {
      try {
        const answer = await handle(request, reply)
        const isReady = typeof answer === 'string' || Buffer.isBuffer(answer)
        if (isReady && !reply.hasHeader('content-type')) reply.type(JSON_TYPE)
        return answer
      } finally {
        // Not in `onResponse`, which never comes when the client has gone away.
        request.bodyLease?.release()
      }
    },
  }
  for (const method of endpoint.methods) {
    app.route({ ...route, method, schema: documentEndpoint(endpoint, method) })
  }
}

/** Only a body that can be read may carry the key. */
function mayCarryKey({ method, headers }: FastifyRequest): boolean {
  return (
    METHODS_WITH_BODY.has(method) && bodyKind(headers['content-type']) !== undefined && !isEncoded(headers)
  )
}

function queryOf(request: FastifyRequest): Given {
  // What the server's own query parser returned.
  return request.query as Given
}

const METHODS_WITH_BODY = new Set(['POST', 'DELETE'])

async function receive(request: FastifyRequest, limit: number, budget: BodyBudget): Promise<RequestBody> {
  if (isEncoded(request.headers))
    throw new HttpError(415, BAD_ENCODING, { headers: { 'accept-encoding': 'identity' } })
  const address = clientGroup(request.ip)
  const sender = { address, account: request.identity?.accountId }
  const { bytes, lease } = await receiveBody(request.raw, limit, budget, sender)
  request.bodyLease = lease
  return { contentType: request.headers['content-type'], bytes, client: lease?.client ?? address }
}

/**
 * The parameters that a small body carries, and those that are neither text nor number; undefined when the body cannot be
 * read. In JSON `null` is not given, and neither is a flag that is `false`.
 */
function textFields(body: RequestBody, parameters: Parameters): { given: Given; odd: Odd[] } | undefined {
  const parsed = parseBody(body.contentType, Buffer.from(body.bytes.buffer))
  if (!parsed.ok) return undefined
  const given: Record<string, string> = Object.create(null)
  const odd: Odd[] = []
  for (const [name, field] of parsed.fields) {
    const declared = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    const text = textOf(field, declared !== undefined && isFlag(declared))
    if (text === 'odd')
      odd.push(...(declared === undefined ? [] : [{ name, message: oddType(name, declared, field) }]))
    else if (text !== undefined) given[name] = text.value
  }
  return { given, odd }
}

/** A parameter of a type that none is. */
interface Odd {
  readonly name: string
  readonly message: string
}

function textOf(field: BodyField, ofFlag: boolean): { readonly value: string } | 'odd' | undefined {
  if (field.kind === 'text') return field
  if (field.kind !== 'json') return 'odd'
  const { value } = field
  if (value === null || (ofFlag && value === false)) return undefined
  return typeof value === 'number' || (ofFlag && value === true) ? { value: String(value) } : 'odd'
}

function oddType(name: string, { schema }: Parameter<unknown>, field: BodyField): string {
  const expected = schema['type'] === 'integer' ? 'un número' : 'un texto'
  return `El parámetro ${name} debe ser ${expected}, no ${field.kind === 'json' ? jsonTypeOf(field.value) : 'un archivo'}`
}

function checked<P extends Parameters>(parameters: P, given: Given): Values<P> {
  const parsed = parseParameters(parameters, given)
  if (!parsed.ok) throw new HttpError(400, parsed.message)
  return parsed.values
}
