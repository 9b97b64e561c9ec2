import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { isObject } from '../lib/json.ts'
import { jsonTypeOf, type BodyField, bodyKind, parseBody, hasBody, isEncoded } from './body/parse.ts'
import type { Audit } from './auth/audit.ts'
import type { Access, Authenticator, Identity } from './auth/authenticator.ts'
import { SERVICES, type Service } from './auth/key-limits.ts'
import { badParameter, httpErrors } from './errors.ts'
import {
  isFlag,
  isPresentFlag,
  compileParameters,
  unknownParameter,
  type Given,
  type Parameter,
  type Parameters,
  type Values,
} from './parameters.ts'
import { JSON_TYPE, PRIVATE_HEADERS, sendBytes } from './headers.ts'
import type { BodyBudget, BodyMemory } from './body/budget.ts'
import { clientOfRequest } from './client.ts'
import { receiveBody, type RequestBody } from './body/receive.ts'
import { documentEndpoint, type EndpointDocument } from './openapi/document.ts'

/** Largest body of an endpoint whose body only carries parameters. */
export const SMALL_BODY_BYTES = 64 * 1024

/** An authenticated request, as passed to the handler of an endpoint. */
export interface Call<P extends Parameters> {
  readonly identity: Identity
  readonly values: Values<P>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Returns whether the key is still valid, for responses that take long. */
  readonly isCurrent: () => Promise<boolean>
  /** Milliseconds until the key expires; `Infinity` if it never does. */
  readonly expiresIn: () => number
}

/** A request whose body is parsed by the handler, in another thread, and may contain the key. */
export interface BulkCall<P extends Parameters> extends Omit<
  Call<P>,
  'identity' | 'isCurrent' | 'expiresIn'
> {
  readonly body: RequestBody
  /**
   * Authenticates by the key in the query, or else by the key found in the body, and refuses unknown parameters.
   * @param namesInBody the names of the body's fields
   */
  readonly identify: (keyInBody: string | undefined, namesInBody: readonly string[]) => Promise<Identity>
}

/** A response body: serialised JSON (or another type that the handler has set), an object to be serialised, a stream, or nothing. */
export type Answer = string | Buffer | Readonly<Record<string, unknown>> | Readable | null

const METHODS = ['GET', 'POST', 'DELETE'] as const

/** A method and a path. Keys of the service that the path names may call it. */
export type Route = `${(typeof METHODS)[number]} /api/v1/${Service}/${string}`

export interface EndpointBase<P extends Parameters> extends Pick<Access, 'scopes'>, EndpointDocument {
  readonly route: Route
  /** Another method, for clients that cannot send the first. */
  readonly alias?: 'POST'
  readonly parameters: P
  /** Whether unknown parameters are ignored, as clients of the first specification may rely on, instead of refused. */
  readonly ignoresUnknown?: boolean
}

export interface SimpleEndpoint<P extends Parameters> extends EndpointBase<P> {
  /** Should return an answer from memory without a promise, which saves a third of the time of a small response. */
  readonly handle: (call: Call<P>) => Answer | Promise<Answer>
}

export interface BulkEndpoint<P extends Parameters> extends EndpointBase<P> {
  /** Largest body, in bytes. */
  readonly bodyLimit: number
  readonly handle: (call: BulkCall<P>) => Promise<Answer>
}

/** Returns the methods and the path of an endpoint, and who may call it. */
export function readRoute({ alias, route, scopes }: EndpointBase<Parameters>) {
  const path = route.slice(route.indexOf(' ') + 1)
  const method = METHODS.find((one) => route.startsWith(one))
  const service = SERVICES.find((one) => path.startsWith(`/api/v1/${one}/`))
  if (method === undefined || service === undefined) throw new Error(`${route} names no method or service`)
  return { methods: alias === undefined ? [method] : [method, alias], path, service, scopes }
}

/** Services shared by all endpoints. */
export interface EndpointShared {
  readonly authenticator: Authenticator
  readonly audit: Audit
  readonly bodies: BodyBudget
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set when the key was checked. */
    identity: Identity | undefined
    bodyMemory: BodyMemory | undefined
  }
}

/** Registers an endpoint whose parameters are in the query or in a small body. The query takes precedence. */
export function simpleEndpoint<P extends Parameters>(
  app: FastifyInstance,
  shared: EndpointShared,
  endpoint: SimpleEndpoint<P>,
): void {
  const { authenticator } = shared
  const access = readRoute(endpoint)
  const readValues = valuesReader(endpoint)
  const run = (
    identity: Identity,
    given: Given,
    names: readonly string[],
    request: FastifyRequest,
    reply: FastifyReply,
  ) => {
    const values = readValues(given, names)
    const isCurrent = () => authenticator.isCurrent(given['api'], identity)
    const expiresIn = () => authenticator.expiresIn(identity)
    return endpoint.handle({ identity, values, request, reply, isCurrent, expiresIn })
  }
  register(app, shared, { ...endpoint, bodyLimit: SMALL_BODY_BYTES }, (request, reply) => {
    const { identity } = request
    if (identity !== undefined && !METHODS_WITH_BODY.has(request.method)) {
      const given = queryOf(request)
      return run(identity, given, Object.keys(given), request, reply)
    }
    return answerWithBody(request, reply)
  })

  async function answerWithBody(request: FastifyRequest, reply: FastifyReply): Promise<Answer> {
    let given = queryOf(request)
    let names = Object.keys(given)
    const body = await receive(request, SMALL_BODY_BYTES, shared.bodies)
    if (body.bytes.byteLength > 0) {
      const fields = await textFields(body, endpoint.parameters)
      request.identity ??= await authenticator.identify(fields?.given['api'], access, request)
      if (bodyKind(body.contentType) === undefined) throw httpErrors.unsupported_type()
      if (fields === undefined) throw httpErrors.unreadable_body()
      const typeError = fields.typeErrors.find(({ name }) => given[name] === undefined)
      if (typeError !== undefined) throw badParameter(typeError.name, typeError.takes)
      given = { ...fields.given, ...given }
      names = [...names, ...fields.names]
    }
    const identity = request.identity ?? (await authenticator.identify(undefined, access, request))
    return run(identity, given, names, request, reply)
  }
}

/** Registers an endpoint with a large body. */
export function bulkEndpoint<P extends Parameters>(
  app: FastifyInstance,
  shared: EndpointShared,
  endpoint: BulkEndpoint<P>,
): void {
  const access = readRoute(endpoint)
  const parse = compileParameters(endpoint.parameters)
  const assertKnown = knownNames(endpoint)
  register(app, shared, endpoint, async (request, reply) => {
    const body = await receive(request, endpoint.bodyLimit, shared.bodies)
    // Read now, because the handler transfers the bytes to another thread.
    const isUnsupported = body.bytes.byteLength > 0 && bodyKind(body.contentType) === undefined
    const identify = async (keyInBody: string | undefined, namesInBody: readonly string[]) => {
      request.identity ??= await shared.authenticator.identify(keyInBody, access, request)
      request.bodyMemory?.assignTo(clientOfRequest(request))
      if (isUnsupported) throw httpErrors.unsupported_type()
      assertKnown([...Object.keys(queryOf(request)), ...namesInBody])
      return request.identity
    }
    const parsed = parse(queryOf(request))
    if (!parsed.ok) throw parsed.error
    return endpoint.handle({ body, identify, values: parsed.values, request, reply })
  })
}

/** Returns a function that reads the parameters of a request. It throws a 400 for a wrong value or an unknown name. */
export function valuesReader<P extends Parameters>(endpoint: EndpointBase<P>) {
  const parse = compileParameters(endpoint.parameters)
  const assertKnown = knownNames(endpoint)
  return (given: Given, names: readonly string[] = Object.keys(given)): Values<P> => {
    const parsed = parse(given)
    if (!parsed.ok) throw parsed.error
    assertKnown(names)
    return parsed.values
  }
}

/** Returns a function that throws a 400 for parameters that the endpoint does not declare. */
function knownNames({ parameters, body, ignoresUnknown = false }: EndpointBase<Parameters>) {
  if (ignoresUnknown) return () => {}
  const fields: unknown = body?.['properties']
  const known = new Set(['api', ...Object.keys(parameters), ...Object.keys(isObject(fields) ? fields : {})])
  const patterns = Object.values(parameters).flatMap((parameter) => parameter.names ?? [])
  return (names: readonly string[]): void => {
    const others = names.filter((name) => !patterns.some((pattern) => pattern.test(name)))
    const unknown = unknownParameter(others, known)
    if (unknown !== undefined) throw unknown
  }
}

type Handle = (request: FastifyRequest, reply: FastifyReply) => Answer | Promise<Answer>

export function register<P extends Parameters>(
  app: FastifyInstance,
  shared: EndpointShared,
  endpoint: EndpointBase<P> & { readonly bodyLimit: number },
  handle: Handle,
): void {
  const described = { ...endpoint, ...readRoute(endpoint) }
  const route: Omit<RouteOptions, 'method' | 'schema'> = {
    url: described.path,
    config: { checksKey: true },
    // Before the body is received, so that only authenticated clients can send one.
    onRequest: (request, _reply, done) => {
      const key = queryOf(request)['api']
      if (key === undefined && mayCarryKey(request)) return done()
      const identity = shared.authenticator.identify(key, described, request)
      // A hook either calls `done` or returns a promise. Most keys are cached.
      if (identity instanceof Promise) return rememberIdentity(request, identity)
      request.identity = identity
      done()
    },
    handler: (request, reply) => {
      const answer = handle(request, reply)
      return answer instanceof Promise ? finish(request, reply, answer) : send(request, reply, answer)
    },
  }
  for (const method of described.methods) {
    app.route({ ...route, method, schema: documentEndpoint(described, method) })
  }
}

async function rememberIdentity(request: FastifyRequest, identity: Promise<Identity>): Promise<void> {
  request.identity = await identity
}

async function finish(request: FastifyRequest, reply: FastifyReply, answer: Promise<Answer>) {
  try {
    return send(request, reply, await answer)
  } finally {
    // Not in `onResponse`, which is not called if the client disconnects.
    request.bodyMemory?.release()
  }
}

/** Headers of an answer from memory, names and values in turn. The length follows. */
const JSON_HEADERS = [
  ...Object.entries({ ...PRIVATE_HEADERS, 'content-type': JSON_TYPE }).flat(),
  'content-length',
]

/** Sends JSON from memory directly; Fastify sends the rest. */
function send(request: FastifyRequest, reply: FastifyReply, answer: Answer): Answer | FastifyReply {
  const isJson = Buffer.isBuffer(answer) && !reply.hasHeader('content-type')
  if (!isJson || hasBody(request.headers)) return withHeaders(reply, answer)
  const headers = [...JSON_HEADERS, String(answer.byteLength)]
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) headers.push(name, String(value))
  return sendBytes(reply, reply.statusCode, headers, answer)
}

/** Sets the headers of every answer, and the type of text and bytes to JSON, unless the handler has set another one. */
function withHeaders(reply: FastifyReply, answer: Answer): Answer {
  reply.headers(PRIVATE_HEADERS)
  if (answer instanceof Readable && reply.request.method === 'HEAD') {
    // Fastify would read the whole stream for nothing, even after the client has left.
    answer.destroy()
    return Readable.from([])
  }
  const isReady = typeof answer === 'string' || Buffer.isBuffer(answer)
  if (isReady && !reply.hasHeader('content-type')) reply.type(JSON_TYPE)
  return answer
}

/** Returns whether the key may be in the body: only a supported body is read. */
function mayCarryKey({ method, headers }: FastifyRequest): boolean {
  return (
    METHODS_WITH_BODY.has(method) && bodyKind(headers['content-type']) !== undefined && !isEncoded(headers)
  )
}

export function queryOf(request: FastifyRequest): Given {
  // The result of `parseQuery`.
  return request.query as Given
}

const METHODS_WITH_BODY = new Set(['POST', 'DELETE'])

export const notEncoded = () =>
  httpErrors.unsupported_encoding().with({ headers: { 'accept-encoding': 'identity' } })

export async function receive(
  request: FastifyRequest,
  limit: number,
  budget: BodyBudget,
): Promise<RequestBody> {
  if (isEncoded(request.headers)) throw notEncoded()
  const memory = budget.open(clientOfRequest(request))
  const bytes = await receiveBody(request.raw, limit, memory, budget.minRate)
  request.bodyMemory = memory
  return { contentType: request.headers['content-type'], bytes, client: memory.client }
}

/**
 * Returns the parameters in a small body, and those of a wrong type; undefined if the body cannot be parsed. In JSON, `null` and the
 * `false` of a flag that its presence turns on mean "not set".
 */
export async function textFields(
  body: RequestBody,
  parameters: Parameters,
): Promise<{ given: Given; names: Iterable<string>; typeErrors: ParameterTypeError[] } | undefined> {
  const fields = await parseBody(body.contentType, Buffer.from(body.bytes.buffer))
  if (fields === undefined) return undefined
  const given: Record<string, string> = Object.create(null)
  const typeErrors: ParameterTypeError[] = []
  for (const [name, field] of fields) {
    const declared = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    const text = textOf(field, declared)
    if (text === 'wrong-type')
      typeErrors.push(...(declared === undefined ? [] : [{ name, takes: takesType(declared, field) }]))
    else if (text !== undefined) given[name] = text.value
  }
  return { given, names: fields.keys(), typeErrors }
}

/** A parameter whose JSON type no parameter has. */
interface ParameterTypeError {
  readonly name: string
  readonly takes: string
}

function textOf(
  field: BodyField,
  declared: Parameter<unknown> | undefined,
): { readonly value: string } | 'wrong-type' | undefined {
  if (field.kind === 'text') return field
  if (field.kind !== 'json') return 'wrong-type'
  const { value } = field
  const ofFlag = declared !== undefined && isFlag(declared)
  if (declared?.schema['contentSchema'] !== undefined && value !== null)
    return { value: JSON.stringify(value) }
  if (value === null || (value === false && ofFlag && isPresentFlag(declared))) return undefined
  const isText = typeof value === 'number' || (ofFlag && typeof value === 'boolean')
  return isText ? { value: String(value) } : 'wrong-type'
}

function takesType({ schema }: Parameter<unknown>, field: BodyField): string {
  const expected = schema['type'] === 'integer' ? 'un número' : 'un texto'
  return `debe ser ${expected}, no ${field.kind === 'json' ? jsonTypeOf(field.value) : 'un archivo'}`
}
