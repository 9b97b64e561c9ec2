import { connect } from 'node:net'
import type { Socket } from 'node:net'
import type { Asking, Channel } from './channel.ts'
import { frameLength, Frames, writeFrame } from './frames.ts'
import { Pending } from './pending.ts'
import type { ServerAddress } from './servers.ts'
import { messageId, readReply } from './wire.ts'

/** Questions that may wait on the connection: one more after each answer, half as many after a slow interval. */
const [FIRST_WINDOW, LEAST_WINDOW, LARGEST_WINDOW] = [64, 16, 8_192]
/**
 * How the server does is looked at so often, in milliseconds. Within that it answers so many questions or half of those
 * that wait, or is slow: some resolvers work off one after the other what comes on a connection, and by datagram many at a
 * time. How long an answer took would tell less: behind thousands of others it takes its time.
 */
const CHECK_MS = 150
const GOOD_PACE = 50
const CONNECT_MS = 1_000
/** Servers have few connections to give away (RFC 7766, section 6.2.3). */
const IDLE_MS = 1_000
/** So many answers make up for an end that left questions open: some servers serve only so many on a connection. */
const WORTHWHILE = 100
/** Written at a time. */
const OUT_BYTES = 64 * 1024

/**
 * Many questions on one TCP connection, answered in any order (RFC 7766, section 6.2.1.1). Those of one turn of the
 * event loop are one write, and answers come many at a read, which costs a fraction of as many datagrams. What is open
 * when the connection falls silent or ends is dropped, to be asked by datagram.
 */
export class PipelineConnection implements Channel {
  readonly #socket: Socket
  readonly #onEnd: (isUseless: boolean) => void
  readonly #frames = new Frames()
  readonly #pending = new Pending()
  readonly #checks: NodeJS.Timeout
  #isOpen = false
  #hasEnded = false
  #window = FIRST_WINDOW
  #answered = 0
  /** At the last check. */
  #pendingThen = 0
  #answeredThen = 0
  #out = Buffer.allocUnsafeSlow(OUT_BYTES)
  #written = 0
  #lastAsked = performance.now()

  /** @param onEnd told once; useless if there is no point in another one soon */
  constructor(server: ServerAddress, onEnd: (isUseless: boolean) => void) {
    this.#onEnd = onEnd
    this.#socket = connect({
      host: server.address,
      port: server.port,
      family: server.family,
      noDelay: true,
      onread: { buffer: this.#frames.room, callback: (count) => this.#receive(count) },
    })
    this.#socket.unref()
    this.#socket.once('connect', () => (this.#isOpen = true))
    this.#socket.on('error', () => this.#end())
    this.#socket.on('close', () => this.#end())
    // Behind the reading of what has come: after a standstill of ours the answers are there, and not late.
    this.#checks = setInterval(() => setImmediate(this.#check), CHECK_MS)
    this.#checks.unref()
  }

  get hasRoom(): boolean {
    return this.#isOpen && this.#pending.size < this.#window
  }

  ask(asking: Asking): number {
    if (this.#written === 0) {
      this.#lastAsked = performance.now()
      setImmediate(this.#flush)
    }
    const id = this.#pending.add(asking)
    const length = frameLength(asking.query)
    if (this.#written + length > OUT_BYTES) this.#flush()
    writeFrame(this.#out, this.#written, asking.query, id)
    this.#written += length
    return id
  }

  forget(id: number, asking: Asking): void {
    this.#pending.delete(id, asking)
  }

  /** Drops what is pending without a word. */
  close(): void {
    this.#pending.drain()
    this.#end()
  }

  readonly #flush = (): void => {
    if (this.#written === 0 || this.#hasEnded) return
    this.#socket.write(this.#out.subarray(0, this.#written))
    // What the kernel did not take stays the socket's.
    if (this.#socket.writableLength > 0) this.#out = Buffer.allocUnsafeSlow(OUT_BYTES)
    this.#written = 0
  }

  #receive(count: number): boolean {
    this.#frames.received(count, this.#take)
    return true
  }

  readonly #take = (message: Buffer): void => {
    const id = messageId(message)
    const asking = id === undefined ? undefined : this.#pending.get(id)
    // Too late, and no longer of interest.
    if (id === undefined || asking === undefined) return
    const reply = readReply(message, asking.query)
    // Nobody else can have sent it: the server has lost its way.
    if (reply.kind === 'mismatch') return this.#end()
    this.#pending.delete(id, asking)
    this.#answered++
    if (this.#window < LARGEST_WINDOW) this.#window++
    asking.replied(reply.kind === 'truncated' ? { kind: 'failed' } : reply)
  }

  readonly #check = (): void => {
    if (this.#hasEnded) return
    const waiting = this.#pendingThen
    const answered = this.#answered - this.#answeredThen
    this.#pendingThen = this.#pending.size
    this.#answeredThen = this.#answered
    if (!this.#isOpen || this.#pending.size === 0) {
      if (performance.now() - this.#lastAsked > (this.#isOpen ? IDLE_MS : CONNECT_MS)) this.#end()
      return
    }
    if (waiting === 0) return
    if (answered >= Math.min(GOOD_PACE, waiting / 2)) return
    // The last few of many may just be hard to answer.
    if (answered === 0) this.#drop()
    else if (waiting < LEAST_WINDOW) return
    this.#window >>= 1
    if (this.#window < LEAST_WINDOW) this.#end()
  }

  #drop(): void {
    const open = this.#pending.drain()
    this.#pendingThen = 0
    for (const asking of open) asking.dropped()
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#isOpen = false
    clearInterval(this.#checks)
    this.#socket.destroy()
    const isWorthwhile = this.#answered >= WORTHWHILE || (this.#pending.size === 0 && this.#answered > 0)
    this.#onEnd(!isWorthwhile || this.#window < LEAST_WINDOW)
    this.#drop()
  }
}
