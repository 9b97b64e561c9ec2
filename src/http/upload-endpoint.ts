import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { HttpError } from '../lib/errors.ts'
import type { Identity } from './auth/authenticator.ts'
import type { MinTransferRate } from './body/budget.ts'
import { isEncoded, bodyKind } from './body/parse.ts'
import { drainBody, TransferWatch } from './body/receive.ts'
import { clientOfRequest } from './client.ts'
import {
  notEncoded,
  queryOf,
  readRoute,
  receive,
  register,
  SMALL_BODY_BYTES,
  textFields,
  valuesReader,
  type Answer,
  type EndpointBase,
  type EndpointShared,
} from './endpoint.ts'
import { badParameter, httpErrors, missingParameter } from './errors.ts'
import type { Given, Parameters, Values } from './parameters.ts'

/** Memory of an upload in progress: what the socket, the parser and the file hold of it. */
export const UPLOAD_MEMORY_BYTES = 256 * 1024
/** The part that is a file. Others are parameters. */
const FILE = 'file'
const LIMITS = { fields: 32, fieldSize: 16 * 1024, headerPairs: 16, headerSize: 8_192 }
/** Maximum size of everything in a body except its file. */
const MAX_OTHER_BYTES = 1024 * 1024

export interface UploadOptions {
  /** Maximum size of the file. */
  readonly maxBytes: number
  readonly minRate: MinTransferRate
  /** Called when the file begins, with the fields before it and its name as the client sent it. Reads it to its end. */
  readonly store: (fields: Given, file: AsyncIterable<Uint8Array>, name: string) => Promise<void>
}

/**
 * Receives a `multipart/form-data` body with one file, which is stored while it arrives. A rejected body is read to its end in the
 * background, so that the client reads the response.
 * @returns its fields
 * @throws HttpError 413 if the file is too large, 408 if it is too slow, 400 if the body is malformed or ends early; and what
 *   `store` throws
 */
async function receiveUpload(request: IncomingMessage, options: UploadOptions): Promise<Given> {
  const { maxBytes, minRate } = options
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => {})
  const watch = new TransferWatch(minRate, () =>
    failure.reject(httpErrors.request_timeout().with({ headers: { connection: 'close' } })),
  )
  const fields: Record<string, string> = Object.create(null)
  let storing: Promise<void> | undefined
  let open: Readable | undefined
  try {
    const parser = openParser(request)
    parser.on('error', () => failure.reject(httpErrors.unreadable_body()))
    parser.on('field', (name, value, _isNameCut, isCut) => {
      if (isCut === true) failure.reject(badParameter(name, 'es demasiado largo'))
      fields[name] = value
    })
    parser.on('file', (_part, file, name) => {
      // `store` sees its errors.
      file.on('error', () => {})
      if (storing !== undefined) return failure.reject(badParameter(FILE, 'solo puede venir una vez'))
      open = file
      storing = options.store({ ...fields }, limited(file, maxBytes), name)
      storing.catch(failure.reject)
    })
    const chunks = request.iterator({ destroyOnReturn: false })
    for (;;) {
      const arrival = chunks.next().catch(() => Promise.reject(httpErrors.bad_request()))
      const next = await Promise.race([arrival, failure.promise])
      if (next.done === true) break
      const chunk: Buffer = next.value
      if (!watch.count(chunk.byteLength)) throw httpErrors.bad_request()
      const { promise: taken, resolve } = Promise.withResolvers<void>()
      parser.write(chunk, () => resolve())
      await Promise.race([taken, failure.promise])
    }
    watch.stop()
    const { promise: parsed, resolve } = Promise.withResolvers<void>()
    parser.on('finish', resolve)
    parser.end()
    await Promise.race([parsed, failure.promise])
    await storing
    return fields
  } catch (error) {
    watch.stop()
    open?.destroy(new Error('the upload was rejected'))
    await storing?.catch(() => {})
    drainBody(request, minRate)
    throw error
  }
}

/** @throws HttpError 400 for a type without a boundary */
function openParser(request: IncomingMessage) {
  const type = request.headers['content-type'] ?? ''
  try {
    return new Busboy({
      headers: { 'content-type': type },
      limits: LIMITS,
      isPartAFile: (name) => name === FILE,
    })
  } catch {
    throw httpErrors.unreadable_body()
  }
}

async function* limited(file: Readable, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  try {
    for await (const chunk of file) {
      const piece: Uint8Array = chunk
      bytes += piece.byteLength
      if (bytes > maxBytes) throw httpErrors.body_too_large(maxBytes)
      yield piece
    }
  } catch (error) {
    throw error instanceof HttpError ? error : httpErrors.unreadable_body()
  }
}

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
  const readValues = valuesReader(endpoint)
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
      const given = (await textFields(body, parameters))?.given ?? {}
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
