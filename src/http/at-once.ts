import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ClientAddress } from './client-address.ts'
import type { CorsHeaders } from './cors.ts'
import { MAX_URL_BYTES } from './raw-errors.ts'
import { headerLines, setHead, type ConnectionLines, type ReadyHead } from './ready-head.ts'
import { nextRequestId, type ObserveAnswer } from './request-log.ts'

/** A whole answer, ready to be written. */
export interface ReadyAnswer {
  readonly head: ReadyHead
  readonly body: Uint8Array | string | undefined
}

/**
 * The answer to a request, where it is at hand; undefined where the route itself has to answer, refusals included.
 * @param target what follows the path in the address as it was sent
 */
export type FindReady = (target: string, request: IncomingMessage) => ReadyAnswer | undefined

interface Lane {
  readonly path: string
  readonly route: () => string
  readonly find: FindReady
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Lets answers to `GET` and `HEAD` below a path that are at hand pass by the framework. */
    atOnce: AnswersAtOnce
  }
}

/**
 * Answers from memory what can be, in front of the framework: its way through hooks, route and reply costs more than such
 * an answer itself. What a client sees, and what is logged and measured, is the same; a lane may decline whatever it likes.
 */
export class AnswersAtOnce {
  readonly #lanes: Lane[] = []
  readonly #observe: ObserveAnswer
  readonly #corsHeaders: CorsHeaders
  readonly #addressOf: ClientAddress
  readonly #connectionLines: ConnectionLines
  /** The lists are few and stay the same. */
  readonly #corsLines = new WeakMap<readonly string[], string>()

  constructor(
    observe: ObserveAnswer,
    corsHeaders: CorsHeaders,
    addressOf: ClientAddress,
    connectionLines: ConnectionLines,
  ) {
    this.#observe = observe
    this.#corsHeaders = corsHeaders
    this.#addressOf = addressOf
    this.#connectionLines = connectionLines
  }

  /**
   * @param path what addresses begin with, up to the part that `find` is given
   * @param route what log and metrics call it
   */
  add(path: string, route: string, find: FindReady): void {
    this.#lanes.push({ path, route: () => route, find })
  }

  /** @returns false when nothing was done */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, headers, url = '' } = request
    if ((method !== 'GET' && method !== 'HEAD') || headers.host === undefined || url.length > MAX_URL_BYTES)
      return false
    const lane = this.#laneOf(url)
    const ready = lane && foundBy(lane, url, request)
    if (lane === undefined || ready === undefined) return false
    this.#observe(response, nextRequestId(), this.#addressOf(request), method, lane.route)
    this.#writeHead(request, response, ready.head)
    response.end(method === 'HEAD' ? undefined : ready.body)
    return true
  }

  #laneOf(url: string): Lane | undefined {
    for (const lane of this.#lanes) if (url.startsWith(lane.path)) return lane
    return undefined
  }

  #writeHead(request: IncomingMessage, response: ServerResponse, head: ReadyHead): void {
    const cors = this.#corsHeaders(request.headers.origin)
    // What else the end of a connection takes is known to Node.
    if (request.httpVersion === '1.1' && response.shouldKeepAlive) {
      const text = head.text + this.#linesOf(cors) + this.#connectionLines.at(Date.now())
      if (setHead(response, head.status, text)) return
    }
    response.writeHead(head.status, head.headers.concat(cors))
  }

  #linesOf(cors: readonly string[]): string {
    let lines = this.#corsLines.get(cors)
    if (lines === undefined) this.#corsLines.set(cors, (lines = headerLines(cors)))
    return lines
  }
}

/** What goes wrong here goes wrong in the framework once more, which knows what to say of it. */
function foundBy(lane: Lane, url: string, request: IncomingMessage): ReadyAnswer | undefined {
  try {
    return lane.find(url.slice(lane.path.length), request)
  } catch {
    return undefined
  }
}
