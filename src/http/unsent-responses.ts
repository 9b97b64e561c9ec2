import type { ServerResponse } from 'node:http'
import { FairMemory, type MemoryLease } from './body/fair-memory.ts'
import { clientGroup } from './client.ts'

const MIB = 1024 * 1024
/** Memory for responses that clients do not read as fast as they request them. */
const UNSENT_BYTES = 128 * MIB
/** A process that has a part of it gets no less. */
const MIN_BYTES = 16 * MIB
/** The largest share of one account, or of all clients without a key, and of one address in it. */
const CLIENT_SHARE = 3 / 4

/** The request that is answered. */
interface Requester {
  readonly ip: string
  /** Undefined without a key. */
  readonly identity: { readonly accountId: number } | undefined
}

/** A body that is waiting to be sent: several responses can share the memory of one image. */
interface UnsentBody {
  readonly memory: MemoryLease
  readonly responses: Set<ServerResponse>
}

/**
 * Limits the memory of responses that are waiting for their clients to read. When it is full, the client that holds the most
 * loses the connections of its largest body, so that slow readers cannot exhaust the memory of the process.
 */
export class UnsentResponses {
  readonly #memory: FairMemory
  readonly #limit: number
  readonly #shared = new Map<ArrayBufferLike, UnsentBody>()

  /** @param part the share of the memory that this process may use, up to 1 */
  constructor(part: number, bytes = Math.max(MIN_BYTES, UNSENT_BYTES * part)) {
    this.#memory = new FairMemory(bytes, Infinity)
    this.#limit = bytes * CLIENT_SHARE
  }

  /** Charges what the operating system has not accepted of a response that was just written, until it is sent. */
  track(requester: Requester, response: ServerResponse, body: unknown): void {
    const bytes = Math.min(response.writableLength, this.#limit)
    if (bytes === 0 || response.closed) return
    const buffer = sharedBuffer(body)
    const known = buffer && this.#shared.get(buffer)
    if (known !== undefined) return this.#add(known, buffer, response)
    const account = String(requester.identity?.accountId ?? 'no key')
    const keys = [account, clientGroup(requester.ip)].map((name) => ({ name, limit: this.#limit }))
    const close = () => {
      this.#forget(unsent, buffer)
      for (const { req } of unsent.responses) req.socket.destroy()
    }
    const unsent: UnsentBody = { memory: this.#memory.open(keys, close), responses: new Set() }
    if (buffer !== undefined) this.#shared.set(buffer, unsent)
    this.#add(unsent, buffer, response)
    try {
      unsent.memory.grow(bytes)
    } catch {
      // No other client holds more.
      close()
    }
  }

  #add(unsent: UnsentBody, buffer: ArrayBufferLike | undefined, response: ServerResponse): void {
    unsent.responses.add(response)
    response.once('close', () => {
      unsent.responses.delete(response)
      if (unsent.responses.size > 0) return
      unsent.memory.release()
      this.#forget(unsent, buffer)
    })
  }

  #forget(unsent: UnsentBody, buffer: ArrayBufferLike | undefined): void {
    if (buffer !== undefined && this.#shared.get(buffer) === unsent) this.#shared.delete(buffer)
  }
}

/** Returns the memory of a body that other responses may send, too. Node's pool holds parts of unrelated ones. */
function sharedBuffer(body: unknown): ArrayBufferLike | undefined {
  return body instanceof Uint8Array && body.buffer.byteLength > Buffer.poolSize ? body.buffer : undefined
}
