import type { IncomingMessage } from 'node:http'
import { Overload, Refusal } from '../core/errors.ts'
import { letGo } from '../core/let-go.ts'

/** A request's body as it came: its bytes own their memory, so they can be handed to another thread. */
export interface RequestBody {
  readonly contentType: string | undefined
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** After a refusal, this much more of a body is read and thrown away so that the connection stays usable. */
const MAX_DRAINED_BYTES = 256 * 1024 * 1024

/** Memory that all bodies being received may take together. */
export class BodyBudget {
  #free: number

  constructor(bytes: number) {
    this.#free = bytes
  }

  /** @throws Overload when the memory is taken */
  take(bytes: number): void {
    if (bytes > this.#free) throw new Overload()
    this.#free -= bytes
  }

  give(bytes: number): void {
    this.#free += bytes
  }
}

/**
 * Receives a body of at most `limit` bytes. A refused body is still read to its end, in the background, so
 * that the client hears the answer and the connection's next request works.
 * @throws Refusal 413 past the limit, 400 when the client goes away, Overload when memory is short
 */
export async function receiveBody(
  request: IncomingMessage,
  limit: number,
  budget: BodyBudget,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; release: () => void }> {
  const declared = Number(request.headers['content-length'] ?? NaN)
  let taken = 0
  try {
    if (declared > limit) throw tooLarge(limit)
    // Memory counts as it fills, not as it is announced: a slow client must not hold what it does not use.
    const take = (bytes: number) => {
      budget.take(bytes)
      taken += bytes
    }
    const received = Number.isNaN(declared)
      ? await receiveChunks(request, limit, take)
      : await receiveDeclared(request, declared, take)
    return { bytes: received, release: () => budget.give(taken) }
  } catch (error) {
    budget.give(taken)
    drain(request)
    throw error
  }
}

const tooLarge = (limit: number) =>
  new Refusal(413, `El cuerpo de la solicitud supera el máximo de ${limit} bytes`)

const cutOff = () => new Refusal(400, 'La solicitud llegó incompleta')

async function receiveDeclared(request: IncomingMessage, size: number, take: (bytes: number) => void) {
  const bytes = new Uint8Array(size)
  let filled = 0
  await eachChunk(request, (chunk) => {
    if (filled + chunk.byteLength > size) throw cutOff()
    take(chunk.byteLength)
    bytes.set(chunk, filled)
    filled += chunk.byteLength
    letGo(chunk)
  })
  if (filled !== size) throw cutOff()
  return bytes
}

async function receiveChunks(request: IncomingMessage, limit: number, take: (bytes: number) => void) {
  const chunks: Buffer[] = []
  let size = 0
  await eachChunk(request, (chunk) => {
    size += chunk.byteLength
    if (size > limit) throw tooLarge(limit)
    take(chunk.byteLength)
    chunks.push(chunk)
  })
  const bytes = new Uint8Array(size)
  let filled = 0
  for (const chunk of chunks) {
    bytes.set(chunk, filled)
    filled += chunk.byteLength
    letGo(chunk)
  }
  return bytes
}

function eachChunk(request: IncomingMessage, take: (chunk: Buffer) => void): Promise<void> {
  // A request without a body says no more.
  if (request.readableEnded) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const finish = (error?: Error) => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
      if (error === undefined) resolve()
      else reject(error)
    }
    const onData = (chunk: Buffer) => {
      try {
        take(chunk)
      } catch (error) {
        finish(error instanceof Error ? error : new Error(String(error)))
      }
    }
    const onEnd = () => finish()
    const onClose = () => finish(cutOff())
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

function drain(request: IncomingMessage): void {
  let drained = 0
  request.on('error', () => {})
  request.on('data', (chunk: Buffer) => {
    drained += chunk.byteLength
    if (drained > MAX_DRAINED_BYTES) request.destroy()
  })
  request.resume()
}
