import type { IncomingMessage, ServerResponse } from 'node:http'
import { AnswerMemory, COPIED_BYTES, type LentMemory } from './answer-memory.ts'
import type { ClientAddress } from './client-address.ts'
import type { CorsHeaders } from './cors.ts'
import { hasBody } from './content-encoding.ts'
import { hasValidHost } from './host-header.ts'
import { MAX_URL_BYTES } from './raw-errors.ts'
import {
  announceKeepAlive,
  headerLines,
  setHead,
  type ConnectionLines,
  type ReadyHead,
} from './ready-head.ts'
import { nextRequestId, type ObserveAnswer } from './request-log.ts'

/** A whole answer, ready to be written. */
export interface ReadyAnswer {
  readonly head: ReadyHead
  readonly body: Uint8Array | string | undefined
  /** Where the body lies, where that is not its own. */
  readonly lent?: LentMemory | undefined
}

/**
 * The answer to a request, where it is at hand; undefined where the route itself has to answer, refusals included.
 * @param target what follows the path in the address as it was sent
 * @param memory for a body that nobody keeps; undefined where the answer stands in line behind another one
 */
export type FindReady = (
  target: string,
  request: IncomingMessage,
  memory: AnswerMemory | undefined,
) => ReadyAnswer | undefined

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
  readonly #memory = new AnswerMemory()
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
    if (lane === undefined || !hasValidHost(request) || hasBody(headers)) return false
    // An answer in line is never told that its connection is gone, and so could not give memory back.
    const memory = response.socket === null ? undefined : this.#memory
    const ready = foundBy(lane, url, request, memory)
    if (ready === undefined) return false
    const { body } = ready
    const { headers: cors, vary } = this.#corsHeaders(headers.origin)
    const head = vary === undefined ? ready.head : ready.head.varyingBy(vary)
    // What else the end of a connection takes is known to Node.
    const isLasting = request.httpVersion === '1.1' && response.shouldKeepAlive
    const lines = isLasting
      ? [head.text, this.#linesOf(cors), this.#connectionLines.at(Date.now())]
      : undefined
    const isWhole = method === 'GET' && lines !== undefined && typeof body === 'object'
    const lent = ready.lent ?? (isWhole ? copied(body, memory) : undefined)
    this.#observe(response, nextRequestId(), this.#addressOf(request), method, lane.route, lent?.giveBack)
    const whole = isWhole ? lent?.withHead(lines, body.byteLength) : undefined
    // Node asks whether there is a head, and sends it where it was not sent.
    const text = whole === undefined ? lines?.join('') : head.text
    if (text === undefined || !setHead(response, head.status, text, whole !== undefined)) {
      announceKeepAlive(response, this.#connectionLines.keepAliveMs)
      response.writeHead(head.status, head.headers.concat(cors))
      response.end(method === 'HEAD' ? undefined : body)
    } else response.end(whole ?? (method === 'HEAD' ? undefined : body))
    return true
  }

  #laneOf(url: string): Lane | undefined {
    for (const lane of this.#lanes) if (url.startsWith(lane.path)) return lane
    return undefined
  }

  #linesOf(cors: readonly string[]): string {
    let lines = this.#corsLines.get(cors)
    if (lines === undefined) this.#corsLines.set(cors, (lines = headerLines(cors)))
    return lines
  }
}

/** What goes wrong here goes wrong in the framework once more, which knows what to say of it. */
function foundBy(
  lane: Lane,
  url: string,
  request: IncomingMessage,
  memory: AnswerMemory | undefined,
): ReadyAnswer | undefined {
  try {
    return lane.find(url.slice(lane.path.length), request, memory)
  } catch {
    return undefined
  }
}

/** A small body where there is room for its head in front. */
function copied(body: Uint8Array, memory: AnswerMemory | undefined): LentMemory | undefined {
  const lent = body.byteLength <= COPIED_BYTES ? memory?.lend(body.byteLength) : undefined
  lent?.body(body.byteLength).set(body)
  return lent
}
