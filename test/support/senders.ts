import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'

const LIMIT_MS = 60_000

export interface Answered {
  readonly status: number
  readonly body: string
}

export interface PostOptions {
  /** The sender's address, one of 127.0.0.0/8. */
  readonly from: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

/** Posts on a connection of its own from another loopback address. */
export function postFrom(url: string, { from, headers, body }: PostOptions): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>()
  const options = { method: 'POST', localAddress: from, agent: false, headers, timeout: LIMIT_MS }
  const sent = request(url, options, (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    response.on('error', reject).on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
  })
  sent.on('error', reject).on('timeout', () => sent.destroy(new Error('no answer')))
  sent.end(body)
  return promise
}

/** A request whose body begins to arrive and never ends. */
export interface StalledBody {
  readonly socket: Socket
  /** What has been answered so far. */
  readonly answer: () => string
  /** Resolves once all is sent that was to be sent, or the other side has answered or closed. */
  readonly sent: Promise<void>
  /** Resolves once the connection has ended. */
  readonly closed: Promise<void>
}

/**
 * Sends the head of a request and the first bytes of its body.
 * @param from the sender's address, one of 127.0.0.0/8
 */
export function stallBody(url: string, from: string, head: string, bytes: number): StalledBody {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), localAddress: from })
  let answer = ''
  const done = Promise.withResolvers<void>()
  socket.on('error', () => {})
  const ended = Promise.withResolvers<void>()
  socket.on('close', () => {
    done.resolve()
    ended.resolve()
  })
  socket.on('data', (chunk) => {
    answer += String(chunk)
    done.resolve()
  })
  void once(socket, 'connect')
    .then(() =>
      socket.write(Buffer.concat([Buffer.from(head), Buffer.alloc(bytes, 'a')]), () => done.resolve()),
    )
    .catch(() => {})
  return { socket, answer: () => answer, sent: done.promise, closed: ended.promise }
}
