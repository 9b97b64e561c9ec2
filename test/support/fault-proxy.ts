import { once } from 'node:events'
import { Agent, createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { listen } from './listen.ts'

/**
 * What the proxy does to requests that come in from now on: `pass` nothing, `refuse` answers 503 as overloaded stores do,
 * `hang` never answers (but passes every second request on, so that what was asked may have been done), `cut` breaks
 * every second request or answer in its middle. Each object has its own count, so that who tries again gets through.
 */
export type ProxyMode = 'pass' | 'refuse' | 'hang' | 'cut'

export interface FaultProxy extends AsyncDisposable {
  readonly url: string
  mode: ProxyMode
}

const OVERLOADED =
  '<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Reduce your rate</Message></Error>'

/** An HTTP proxy on loopback in front of one server, for faults on the way to it. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(target)
  const agent = new Agent({ keepAlive: true })
  const turns = new Map<string, number>()

  const server = createServer((incoming, outgoing) => {
    const { mode } = proxy
    const name = `${incoming.method} ${incoming.url?.split('?', 1)[0]}`
    const turn = (turns.get(name) ?? 0) + 1
    if (mode !== 'pass') turns.set(name, turn)
    const isOdd = turn % 2 === 1
    if (mode === 'refuse') {
      incoming.resume().once('end', () => {
        outgoing.writeHead(503, { 'content-type': 'application/xml', 'content-length': OVERLOADED.length })
        outgoing.end(OVERLOADED)
      })
    } else if (mode === 'hang') {
      if (isOdd) forward(incoming, (answer) => answer.resume())
      else incoming.resume()
    } else if (mode === 'cut' && isOdd) {
      cutInTheMiddle(incoming, outgoing, turn)
    } else {
      forward(
        incoming,
        (answer) => relay(answer, outgoing),
        () => outgoing.destroy(),
      )
    }
  })

  function forward(
    incoming: IncomingMessage,
    answered: (answer: IncomingMessage) => void,
    failed: () => void = () => {},
  ) {
    const { method, url: path, headers } = incoming
    const outgoing = send({ hostname, port, method, path, headers, agent, setHost: false }, answered)
    outgoing.on('error', failed)
    pipeline(incoming, outgoing, () => {})
    incoming.on('aborted', () => outgoing.destroy())
  }

  function relay(answer: IncomingMessage, outgoing: ServerResponse) {
    outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
    pipeline(answer, outgoing, () => {})
  }

  /** A body on its way there breaks off on its way there, all else on the way back, after it was done. */
  function cutInTheMiddle(incoming: IncomingMessage, outgoing: ServerResponse, turn: number) {
    const length = Number(incoming.headers['content-length'] ?? 0)
    if (length > 0 && turn % 4 === 1) {
      let left = Math.floor(length / 2)
      const { method, url: path, headers } = incoming
      const halfway = send({ hostname, port, method, path, headers, setHost: false, agent: false })
      halfway.on('error', () => {})
      incoming.on('data', (chunk: Buffer) => {
        if (left > 0) halfway.write(chunk.subarray(0, left))
        left -= chunk.byteLength
        if (left <= 0) {
          halfway.destroy()
          incoming.socket.destroy()
        }
      })
      return
    }
    forward(
      incoming,
      (answer) => {
        const size = Number(answer.headers['content-length'] ?? 0)
        if (size === 0) {
          answer.resume()
          outgoing.destroy()
          return
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
        let left = Math.floor(size / 2)
        answer.on('data', (chunk: Buffer) => {
          if (left > 0) outgoing.write(chunk.subarray(0, left))
          left -= chunk.byteLength
          // What was written must leave before the end comes.
          if (left <= 0) setImmediate(() => outgoing.destroy())
        })
        answer.on('error', () => outgoing.destroy())
      },
      () => outgoing.destroy(),
    )
  }

  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${await listen(server)}`,
    mode: 'pass',
    async [Symbol.asyncDispose]() {
      agent.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
