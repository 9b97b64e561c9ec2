import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Identity } from './auth/authenticator.ts'
import { isEncoded } from './body/content-headers.ts'
import { bodyKind } from './body/parse.ts'
import { drainBody } from './body/receive.ts'
import { FILE, MAX_OTHER_BYTES, receiveUpload, UPLOAD_MEMORY_BYTES } from './body/upload.ts'
import { clientOfRequest } from './client.ts'
import {
  knownNames,
  notEncoded,
  queryOf,
  readRoute,
  receive,
  register,
  SMALL_BODY_BYTES,
  textFields,
  validated,
  type Answer,
  type EndpointBase,
  type EndpointShared,
} from './endpoint.ts'
import { httpErrors, missingParameter } from './errors.ts'
import type { Given, Parameters, Values } from './parameters.ts'

/** A file that arrives in a `multipart/form-data` body, whose other parts are parameters. */
export interface UploadEndpoint<P extends Parameters> extends EndpointBase<P> {
  /** Maximum size of the file. */
  readonly maxBytes: number
  /** Called when the file begins. The key has to be in the query or before the file. */
  readonly begin: (identity: Identity, fileName: string) => Promise<Upload<P>>
}

export interface Upload<P extends Parameters> {
  /** Stores the file. */
  readonly store: (file: AsyncIterable<Uint8Array>) => Promise<void>
  /** Called when the body has arrived whole. */
  readonly finish: (values: Values<P>, reply: FastifyReply) => Promise<Answer>
  /** Called if it does not, or is refused. */
  readonly abandon: () => Promise<void>
}

/** Registers an endpoint that takes a file. */
export function uploadEndpoint<P extends Parameters>(
  app: FastifyInstance,
  shared: EndpointShared,
  endpoint: UploadEndpoint<P>,
): void {
  const { authenticator, bodies } = shared
  const { maxBytes, parameters } = endpoint
  const assertKnown = knownNames(endpoint)
  const readValues = (given: Given) => {
    const values = validated(parameters, given)
    assertKnown(Object.keys(given))
    return values
  }
  const access = readRoute(endpoint)
  register(app, shared, { ...endpoint, bodyLimit: maxBytes }, async (request, reply) => {
    const query = queryOf(request)
    if (isEncoded(request.headers)) throw notEncoded()
    const isMultipart = bodyKind(request.headers['content-type']) === 'multipart'
    const limit = isMultipart ? maxBytes + MAX_OTHER_BYTES : maxBytes
    if (Number(request.headers['content-length'] ?? 0) > limit) {
      drainBody(request.raw, bodies.minRate)
      throw httpErrors.body_too_large(maxBytes)
    }
    if (!isMultipart) {
      const body = await receive(request, SMALL_BODY_BYTES, bodies)
      const given = textFields(body, parameters)?.given ?? {}
      request.identity ??= await authenticator.identify(given['api'], access, request)
      const isUnsupported = body.bytes.byteLength > 0 && bodyKind(body.contentType) === undefined
      if (isUnsupported) throw httpErrors.unsupported_type()
      readValues({ ...given, ...query })
      throw missingParameter(FILE)
    }
    const memory = bodies.open(clientOfRequest(request))
    request.bodyMemory = memory
    memory.grow(UPLOAD_MEMORY_BYTES)
    memory.pin()
    let upload: Upload<P> | undefined
    try {
      const fields = await receiveUpload(request.raw, {
        maxBytes,
        minRate: bodies.minRate,
        async store(before, file, name) {
          const identity = await identify(before)
          readValues({ ...before, ...query })
          upload = await endpoint.begin(identity, name)
          await upload.store(file)
        },
      })
      await identify(fields)
      const values = readValues({ ...fields, ...query })
      if (upload === undefined) throw missingParameter(FILE)
      return await upload.finish(values, reply)
    } catch (error) {
      await upload?.abandon()
      throw error
    }

    async function identify(fields: Given): Promise<Identity> {
      request.identity ??= await authenticator.identify(fields['api'], access, request)
      return request.identity
    }
  })
}
