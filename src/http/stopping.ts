import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How gently a server leaves those who use it, in milliseconds. */
export interface Parting {
  /** For so long it still takes new connections, after it began to tell balancers that it is not ready. */
  readonly delayMs: number
  /**
   * For so long after that it keeps open connections on which nothing happens: a request may be on its way that could not
   * be sent again. A balancer notices within this time that nobody listens any more.
   */
  readonly lingerMs: number
}

interface Connection {
  /** Under way, the oldest first; those that have left go when the next one comes, or at the next look. */
  answers: ServerResponse[]
  /** When it was first seen with nothing under way (by `performance.now`), and what had been received then. */
  idleSince: number
  received: number
  /** The oldest answer at the last look. */
  oldest: ServerResponse | undefined
  /** Whether the connection ends when nothing moves on it. */
  isWatched: boolean
}

/** Connections on which nothing happens are looked for so many times while one may stay. */
const LOOKS = 15

/**
 * Makes `server.close()` end each connection as soon as its last answer has left. Node's own notion of an idle
 * connection includes one whose answer is still on its way to a slow reader, and cuts it short; and it looks only
 * once, so a connection that is busy then keeps the server open until its keep-alive time is over.
 *
 * Ends idle connections meanwhile, too, and those whose client stands still in the middle of something: Node sets two timers at
 * each answer for the first and two more for the second, a tenth of the time of a small one.
 */
export class Stopping {
  readonly #open = new Map<Socket, Connection>()
  readonly #keepAliveMs: number
  readonly #standstillMs: number
  /** Those that tell their client to send nothing more on the connection. */
  readonly #last = new Set<ServerResponse>()
  #isStopping = false
  /** From then on it is noticed at once when an answer has left. */
  #isFollowing = false
  #isClosing = false
  #lingerMs = 0

  /**
   * @param keepAliveMs how long a connection is kept on which nothing happens: up to a seventh longer
   * @param standstillMs how long one may be under way while not a byte moves: longer by up to a seventh of the other, two looks
   */
  constructor(keepAliveMs: number, standstillMs: number) {
    this.#keepAliveMs = keepAliveMs
    this.#standstillMs = standstillMs
  }

  /** Called for each address that the service listens on. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.#open.set(socket, {
        answers: [],
        idleSince: Infinity,
        received: 0,
        oldest: undefined,
        isWatched: false,
      })
      socket.once('close', () => this.#open.delete(socket))
    })
    const looking = setInterval(() => this.#endIdle(), this.#keepAliveMs / LOOKS).unref()
    server.once('close', () => clearInterval(looking))
    // What `close()` calls, more than once.
    server.closeIdleConnections = () => {
      if (this.#lingerMs === 0) this.#closeIdle()
      else setTimeout(() => this.#closeIdle(), this.#lingerMs).unref()
    }
  }

  /**
   * Called with each request, before anything else: an answer that is given at once has its headers out behind that.
   * @returns how many answers are under way on its connection, this one included
   */
  take({ socket }: IncomingMessage, response: ServerResponse): number {
    const connection = this.#open.get(socket)
    if (connection === undefined) return 1
    const { answers } = connection
    // An event for each of them is dearer.
    while (answers[0]?.closed === true) answers.shift()
    answers.push(response)
    connection.idleSince = Infinity
    if (this.#isFollowing) this.#follow(socket, connection, response)
    if (this.#isStopping) this.#markLast(answers)
    return answers.length
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** From now on each answer sends its client to another connection, and so to who else listens there. */
  begin(lingerMs: number): void {
    this.#isStopping = true
    this.#lingerMs = lingerMs
    this.#followAll()
    for (const { answers } of this.#open.values()) this.#markLast(answers)
  }

  #followAll(): void {
    if (this.#isFollowing) return
    this.#isFollowing = true
    for (const [socket, connection] of this.#open) {
      connection.answers = underWay(connection)
      for (const answer of connection.answers) this.#follow(socket, connection, answer)
    }
  }

  #follow(socket: Socket, connection: Connection, answer: ServerResponse): void {
    // Comes once; a listener that knows that is dearer.
    answer.on('close', () => {
      this.#last.delete(answer)
      connection.answers = underWay(connection)
      if (this.#isClosing && connection.answers.length === 0) socket.destroySoon()
    })
  }

  /** Only the newest answer: what a client sent behind a request, without waiting, is answered as well. */
  #markLast(answers: readonly ServerResponse[]): void {
    for (const [index, answer] of answers.entries()) {
      const isNewest = index === answers.length - 1
      if (answer.headersSent || isNewest === this.#last.has(answer)) continue
      if (isNewest && !answer.shouldKeepAlive) continue
      answer.shouldKeepAlive = !isNewest
      if (isNewest) this.#last.add(answer)
      else this.#last.delete(answer)
    }
  }

  #closeIdle(): void {
    this.#followAll()
    this.#isClosing = true
    for (const [socket, { answers }] of this.#open) if (answers.length === 0) socket.destroy()
  }

  /** What comes in on a connection, be it a part of a request's head, keeps it open: how long that may take Node knows. */
  #endIdle(): void {
    const now = performance.now()
    for (const [socket, connection] of this.#open) {
      const isNew = connection.answers.length === 0 && connection.idleSince === Infinity
      connection.answers = underWay(connection)
      this.#watchStandstill(socket, connection)
      if (isNew || connection.answers.length > 0) continue
      const { bytesRead } = socket
      if (connection.idleSince === Infinity || bytesRead !== connection.received) {
        connection.idleSince = now
        connection.received = bytesRead
      } else if (now - connection.idleSince >= this.#keepAliveMs) socket.destroy()
    }
  }

  /** Node knows what moves on a connection, but at each move it sets a timer: so it is asked of the few that take long only. */
  #watchStandstill(socket: Socket, connection: Connection): void {
    const [oldest] = connection.answers
    const isLong = oldest !== undefined && oldest === connection.oldest
    connection.oldest = oldest
    if (isLong === connection.isWatched) return
    connection.isWatched = isLong
    socket.setTimeout(isLong ? this.#standstillMs : 0)
  }
}

const underWay = ({ answers }: Connection) => answers.filter((answer) => !answer.closed)
