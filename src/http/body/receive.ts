import type { IncomingMessage } from 'node:http'
import type { Client } from '../../lib/client.ts'
import { OverloadError, asError } from '../../lib/errors.ts'
import { releaseBuffer } from '../../lib/bytes.ts'
import { httpErrors } from '../errors.ts'
import type { BodyMemory, MinTransferRate } from './budget.ts'

/**
 * Chunks of a body per turn of the event loop that may have any size, and the mean size of more, in bytes: a tiny chunk costs as
 * much as a large one. A client that has little to send at a time stays far below.
 */
const MAX_TINY_CHUNKS = 16_384
const MIN_MEAN_CHUNK_BYTES = 16

/** Watches the transfer of a body: its rate, and the size of its chunks in each turn of the event loop. */
export class TransferWatch {
  readonly #timer: NodeJS.Timeout | undefined
  #bytesInWindow = 0
  #chunksInTurn = 0
  #bytesInTurn = 0

  /** @param onTooSlow called if the rate is below its minimum in any window; the timer does not keep the process alive */
  constructor({ bytesPerSecond, windowMs }: MinTransferRate, onTooSlow: () => void) {
    if (bytesPerSecond === 0) return
    const timer = setTimeout(() => {
      if (this.#bytesInWindow < (bytesPerSecond * windowMs) / 1_000) return onTooSlow()
      this.#bytesInWindow = 0
      timer.refresh()
    }, windowMs)
    this.#timer = timer.unref()
  }

  /** Counts a chunk. Returns false if there are too many for their size. */
  count(bytes: number): boolean {
    if (this.#chunksInTurn === 0) setImmediate(() => this.#beginTurn())
    this.#chunksInTurn++
    this.#bytesInWindow += bytes
    this.#bytesInTurn += bytes
    return (
      this.#chunksInTurn <= MAX_TINY_CHUNKS || this.#bytesInTurn >= MIN_MEAN_CHUNK_BYTES * this.#chunksInTurn
    )
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #beginTurn(): void {
    this.#chunksInTurn = 0
    this.#bytesInTurn = 0
  }
}

/** A received body. Its bytes own their memory, so they can be transferred to another thread. */
export interface RequestBody {
  readonly contentType: string | undefined
  readonly bytes: Uint8Array<ArrayBuffer>
  /** In whose turn it is parsed. */
  readonly client: Client
}

/** How much of a rejected body is read and discarded, at least, so that the connection remains usable. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024
/** The same during overload, when it is better to lose the connection. */
const MAX_DRAINED_BYTES_IN_OVERLOAD = 1024 * 1024

/** Initial capacity for bodies that arrive in several chunks. */
const MIN_CAPACITY = 16 * 1024

/**
 * Receives a body of at most `limit` bytes. A rejected body is read to its end in the background, so that the client reads the
 * response and the connection can be used again.
 * @param memory for its bytes, released if it is rejected
 * @throws HttpError 413 past the limit, 408 if it is too slow, 400 if the client disconnects or sends
 *   thousands of tiny chunks at a time, OverloadError if memory is short
 */
export async function receiveBody(
  request: IncomingMessage,
  limit: number,
  memory: BodyMemory,
  minRate: MinTransferRate,
): Promise<Uint8Array<ArrayBuffer>> {
  const length = Number(request.headers['content-length'] ?? NaN)
  const declared = Number.isNaN(length) ? undefined : length
  if (request.readableEnded || declared === 0) return new Uint8Array()
  try {
    if (declared !== undefined && declared > limit) throw httpErrors.body_too_large(limit)
    const bytes = await receive(request, declared, limit, memory, minRate)
    memory.pin()
    return bytes
  } catch (error) {
    memory.release()
    if (error instanceof TinyChunksError) {
      // The connection closes with the answer.
      request.pause()
      throw httpErrors.bad_request().with(CLOSE)
    }
    const most =
      error instanceof OverloadError ? MAX_DRAINED_BYTES_IN_OVERLOAD : Math.max(MAX_DRAINED_BYTES, 2 * limit)
    drainBody(request, minRate, most)
    throw error
  }
}

class TinyChunksError extends Error {}

const CLOSE = { headers: { connection: 'close' } }
const cutOff = httpErrors.bad_request
const tooSlow = () => httpErrors.request_timeout().with(CLOSE)

function receive(
  request: IncomingMessage,
  declared: number | undefined,
  limit: number,
  memory: BodyMemory,
  minRate: MinTransferRate,
): Promise<Uint8Array<ArrayBuffer>> {
  if (request.destroyed) return Promise.reject(cutOff())
  // Memory is allocated and charged as it fills, so that an announced length costs nothing.
  const bytes = new GrowingBuffer(declared ?? limit, (more) => memory.grow(more))
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      stop()
      reject(error)
    }
    const watch = new TransferWatch(minRate, () => fail(tooSlow()))
    const stop = () => {
      watch.stop()
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
    }
    const onData = (chunk: Buffer) => {
      if (!watch.count(chunk.byteLength)) return fail(new TinyChunksError())
      try {
        if (bytes.length + chunk.byteLength > (declared ?? limit)) throw httpErrors.body_too_large(limit)
        bytes.append(chunk)
      } catch (error) {
        return fail(asError(error))
      }
      releaseBuffer(chunk)
    }
    const onEnd = () => {
      if (declared !== undefined && bytes.length !== declared) return fail(cutOff())
      stop()
      resolve(bytes.take())
    }
    const onClose = () => fail(cutOff())
    memory.onDisplaced = () => fail(new OverloadError())
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

/**
 * Yields a body as it arrives. Where the connection breaks, or the transfer is too slow, it ends like a whole one: what arrived counts.
 * @param limit bytes
 * @throws HttpError 413 past the limit
 */
export async function* receivedUntilBreak(
  request: IncomingMessage,
  limit: number,
  minRate: MinTransferRate,
): AsyncGenerator<Uint8Array> {
  const watch = new TransferWatch(minRate, () => request.destroy())
  const chunks = request.iterator({ destroyOnReturn: false })
  let received = 0
  try {
    for (;;) {
      const next = await chunks.next().catch(() => undefined)
      if (next === undefined || next.done === true) return
      const chunk: Buffer = next.value
      received += chunk.byteLength
      if (received > limit) throw httpErrors.body_too_large(limit)
      if (!watch.count(chunk.byteLength)) request.destroy()
      yield chunk
    }
  } finally {
    watch.stop()
    if (received > limit) drainBody(request, minRate)
  }
}

/** Reads and discards the rest of a body. Closes the connection past `maxBytes`, if the transfer is too slow, or the chunks tiny. */
export function drainBody(
  request: IncomingMessage,
  minRate: MinTransferRate,
  maxBytes = MAX_DRAINED_BYTES,
): void {
  if (request.readableEnded || request.destroyed) return
  let read = 0
  const end = () => request.destroy()
  const watch = new TransferWatch(minRate, end)
  request.on('error', () => {})
  request.on('end', () => watch.stop()).on('close', () => watch.stop())
  request.on('data', (chunk: Buffer) => {
    const { byteLength } = chunk
    read += byteLength
    releaseBuffer(chunk)
    if (!watch.count(byteLength) || read > maxBytes) end()
  })
  request.resume()
}

/** A buffer for bytes that arrive in chunks. Its capacity doubles as it fills. */
class GrowingBuffer {
  readonly #max: number
  readonly #charge: (bytes: number) => void
  #bytes = new Uint8Array()
  #length = 0

  /**
   * @param max largest number of bytes
   * @param charge called before more memory is allocated; may throw to prevent that
   */
  constructor(max: number, charge: (bytes: number) => void) {
    this.#max = max
    this.#charge = charge
  }

  get length(): number {
    return this.#length
  }

  append(chunk: Uint8Array): void {
    const length = this.#length + chunk.byteLength
    if (length > this.#bytes.byteLength) this.#growTo(length)
    this.#bytes.set(chunk, this.#length)
    this.#length = length
  }

  /** Returns all bytes, in memory of exactly their size. */
  take(): Uint8Array<ArrayBuffer> {
    if (this.#length === this.#bytes.byteLength) return this.#bytes
    const bytes = this.#bytes.slice(0, this.#length)
    releaseBuffer(this.#bytes)
    return bytes
  }

  #growTo(length: number): void {
    const old = this.#bytes
    const capacity = Math.min(this.#max, Math.max(length, 2 * old.byteLength, MIN_CAPACITY))
    this.#charge(capacity - old.byteLength)
    this.#bytes = new Uint8Array(capacity)
    this.#bytes.set(old.subarray(0, this.#length))
    releaseBuffer(old)
  }
}
