import type { IncomingMessage } from 'node:http'
import { OverloadError, HttpError } from '../../lib/errors.ts'
import { releaseBuffer } from '../../lib/release-buffer.ts'
import type { BodyBudget, BodyLease, BodySender } from './budget.ts'
import { GrowingBytes } from './growing-bytes.ts'
import { PaceWatch } from './transfer-pace.ts'

/** A request's body as it came: its bytes own their memory, so they can be handed to another thread. */
export interface RequestBody {
  readonly contentType: string | undefined
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Whose turn it is when bodies of many clients wait to be parsed. */
  readonly client: string
}

/** After a refusal, this much of a body is still read and thrown away, at least, so that the connection stays usable. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024
/** The same where memory is short: then it is better to lose the connection than to read on. */
const MAX_DRAINED_IN_OVERLOAD = 1024 * 1024

/**
 * Receives a body of at most `limit` bytes. A refused body is still read to its end, in the background, so
 * that the client hears the answer and the connection's next request works.
 * @returns its bytes, and what they are charged, to be released; undefined for an empty body
 * @throws HttpError 413 past the limit, 408 if it comes too slowly, 400 when the client goes away, OverloadError when memory is short
 */
export async function receiveBody(
  request: IncomingMessage,
  limit: number,
  budget: BodyBudget,
  sender: BodySender,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; lease: BodyLease | undefined }> {
  const length = Number(request.headers['content-length'] ?? NaN)
  const declared = Number.isNaN(length) ? undefined : length
  // A request without a body says no more.
  if (request.readableEnded || declared === 0) return { bytes: new Uint8Array(), lease: undefined }
  let lease: BodyLease | undefined
  try {
    if (declared !== undefined && declared > limit) throw tooLarge(limit)
    lease = await budget.admit(sender, declared)
    const bytes = await receive(request, declared, limit, lease, budget)
    lease.settle()
    return { bytes, lease }
  } catch (error) {
    lease?.release()
    const most =
      error instanceof OverloadError ? MAX_DRAINED_IN_OVERLOAD : Math.max(MAX_DRAINED_BYTES, 2 * limit)
    drainBody(request, sender.address, budget, most)
    throw error
  }
}

const tooLarge = (limit: number) =>
  new HttpError(413, `El cuerpo de la solicitud supera el máximo de ${limit} bytes`)
const cutOff = () => new HttpError(400, 'La solicitud llegó incompleta')
const tooSlow = () => new HttpError(408, 'La solicitud tardó demasiado', { headers: { connection: 'close' } })

function receive(
  request: IncomingMessage,
  declared: number | undefined,
  limit: number,
  lease: BodyLease,
  { pace, turns }: BodyBudget,
): Promise<Uint8Array<ArrayBuffer>> {
  // It may have gone away while its body waited for its turn.
  if (request.destroyed) return Promise.reject(cutOff())
  // Memory grows, and counts, as it fills: what a client announces costs nothing.
  const bytes = new GrowingBytes(declared ?? limit, (more) => lease.grow(more))
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      stop()
      reject(error)
    }
    const watch = new PaceWatch(pace, () => fail(tooSlow()))
    const stop = () => {
      watch.stop()
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
    }
    const onData = (chunk: Buffer) => {
      watch.count(chunk.byteLength)
      try {
        if (bytes.length + chunk.byteLength > (declared ?? limit)) throw tooLarge(limit)
        bytes.append(chunk)
      } catch (error) {
        return fail(error instanceof Error ? error : new Error(String(error)))
      }
      turns.count(request, lease.client, chunk.byteLength)
      releaseBuffer(chunk)
    }
    const onEnd = () => {
      if (declared !== undefined && bytes.length !== declared) return fail(cutOff())
      stop()
      resolve(bytes.take())
    }
    const onClose = () => fail(cutOff())
    lease.onDisplaced = () => fail(new OverloadError())
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

/** Reads what is left of a refused body, up to a limit and not too slowly; past that the connection ends. */
export function drainBody(
  request: IncomingMessage,
  client: string,
  { pace, turns }: BodyBudget,
  maxBytes = MAX_DRAINED_BYTES,
): void {
  if (request.readableEnded || request.destroyed) return
  let read = 0
  const end = () => request.destroy()
  const watch = new PaceWatch(pace, end)
  request.on('error', () => {})
  request.on('end', () => watch.stop()).on('close', () => watch.stop())
  request.on('data', (chunk: Buffer) => {
    const { byteLength } = chunk
    watch.count(byteLength)
    read += byteLength
    releaseBuffer(chunk)
    if (read > maxBytes) end()
    else turns.count(request, client, byteLength)
  })
  request.resume()
}
