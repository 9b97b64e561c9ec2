import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

/**
 * A connection that starts with other bytes than were received, and continues with what its socket receives next. Node's server
 * handles it like an accepted socket.
 */
export class ReplayedConnection extends Duplex {
  readonly remoteAddress: string | undefined
  readonly original: Socket

  constructor(socket: Socket, head: Buffer) {
    super()
    this.original = socket
    this.remoteAddress = socket.remoteAddress
    this.push(head)
    socket.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause()
    })
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  /** Called by Node's server. */
  setTimeout(ms: number): this {
    this.original.setTimeout(ms)
    return this
  }

  /** Closes the connection when all writes are sent, as the method of a socket does. */
  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  override _read(): void {
    this.original.resume()
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.original.write(chunk, done)
  }

  override _final(done: () => void): void {
    this.original.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.original.destroy()
    done(error)
  }
}

/** Returns the socket that a replayed connection reads from; undefined for any other connection. */
export const originalOf = (connection: Duplex): Socket | undefined =>
  connection instanceof ReplayedConnection ? connection.original : undefined
