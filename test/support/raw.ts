import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { TestService } from './service.ts'

export interface RawReply {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A TCP connection to the service, for what no HTTP client would send. Replies are read one by one. */
export class RawConnection {
  readonly socket: Socket
  #received = Buffer.alloc(0)
  #ended = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk])
      socket.emit('progress')
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#ended = true
      socket.emit('progress')
    })
  }

  static async open(service: Pick<TestService, 'url'>): Promise<RawConnection> {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    return new RawConnection(socket)
  }

  send(bytes: string | Buffer): void {
    this.socket.write(bytes)
  }

  /** The next reply; undefined when the connection ended before one was complete. */
  async reply(): Promise<RawReply | undefined> {
    for (;;) {
      const reply = this.#take()
      if (reply !== undefined) return reply
      if (this.#ended) return undefined
      await this.#progress()
    }
  }

  /** Resolves when the other side has closed. */
  async closed(): Promise<void> {
    while (!this.#ended) await this.#progress()
  }

  /** `once` of events would throw where the other side resets: that is an end like any other. */
  #progress(): Promise<void> {
    return new Promise((resolve) => this.socket.once('progress', resolve))
  }

  close(): void {
    this.socket.destroy()
  }

  #take(): RawReply | undefined {
    const headEnd = this.#received.indexOf('\r\n\r\n')
    if (headEnd === -1) return undefined
    const [statusLine = '', ...lines] = this.#received.toString('latin1', 0, headEnd).split('\r\n')
    const headers: Record<string, string> = {}
    for (const line of lines) {
      const colon = line.indexOf(':')
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
    }
    const bodyEnd = headEnd + 4 + Number(headers['content-length'] ?? 0)
    if (this.#received.length < bodyEnd) return undefined
    const bytes = this.#received.subarray(headEnd + 4, bodyEnd)
    this.#received = this.#received.subarray(bodyEnd)
    return {
      status: Number(statusLine.split(' ')[1]),
      headers,
      // Decoding megabytes of an image takes long.
      get body() {
        return bytes.toString()
      },
    }
  }
}
