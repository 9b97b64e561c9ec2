import { createSocket } from 'node:dgram'
import type { Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { decode, encode } from 'dns-packet'
import type { Packet } from 'dns-packet'

interface Question {
  readonly name: string
  readonly type: string
}

/** Tests also send what the types of the library do not allow. */
export interface ResourceRecord extends Question {
  readonly class?: string
  readonly ttl?: number
  readonly data?: unknown
}

export interface Asked {
  readonly name: string
  readonly question: Question
  readonly transport: 'udp' | 'tcp'
  readonly id: number
  readonly edns: boolean
  /** Whether it asks to look the answer up. */
  readonly recursive: boolean
  /** The source port of the client. */
  readonly port: number
  /** How many queries this server had before. */
  readonly index: number
}

export interface Answer {
  readonly rcode?: number
  /** Header flags besides the rcode; recursion available by default. */
  readonly flags?: number
  readonly answers?: ResourceRecord[]
  readonly authorities?: ResourceRecord[]
  readonly additionals?: ResourceRecord[]
}

/** An answer, raw messages to send one after the other, or silence. */
export type Reaction = Answer | readonly Buffer[] | 'silence'
export type Handler = (asked: Asked) => Reaction | Promise<Reaction>

export interface ScriptedDns {
  /** `127.0.0.1:port`, UDP and TCP. */
  readonly address: string
  readonly port: number
  readonly queries: readonly Asked[]
  stop(): Promise<void>
}

export const FLAG = { AA: 0x0400, TC: 0x0200, RD: 0x0100, RA: 0x0080 } as const
export const RCODE = { FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const

export const ns = (name: string, target: string, ttl = 300): ResourceRecord => ({
  name,
  type: 'NS',
  class: 'IN',
  ttl,
  data: target,
})

export const soa = (zone: string, ttl: number, minimum: number): ResourceRecord => ({
  name: zone,
  type: 'SOA',
  class: 'IN',
  ttl,
  data: { mname: `ns.${zone}`, rname: `h.${zone}`, serial: 1, refresh: 60, retry: 60, expire: 60, minimum },
})

/** The bytes of an answer to what was asked, for tests that bend them. */
export function reply(asked: Asked, answer: Answer): Buffer {
  const flags = (answer.flags ?? FLAG.RA) | (answer.rcode ?? 0)
  const message = { type: 'response', id: asked.id, flags, questions: [asked.question] }
  const { answers = [], authorities = [], additionals = [] } = answer
  // The library encodes any record that has the data of its type.
  return encode({ ...message, answers, authorities, additionals } as Packet)
}

/** A DNS server on a free port of the loopback interface that does what the handler says, over UDP and TCP. */
export async function startScriptedDns(
  handler: Handler,
  connected: (socket: Socket) => void = () => {},
): Promise<ScriptedDns> {
  const { tcp, udp, port } = await bindBoth()
  const queries: Asked[] = []
  const connections = new Set<Socket>()

  const react = async (
    bytes: Buffer,
    from: Pick<Asked, 'transport' | 'port'>,
    send: (message: Buffer) => void,
  ): Promise<void> => {
    const { id = 0, flags, questions = [], additionals = [] } = decode(bytes)
    const [question] = questions
    if (question === undefined) return
    const edns = additionals.some(({ type }) => type === 'OPT')
    const recursive = ((flags ?? 0) & FLAG.RD) !== 0
    const asked: Asked = {
      ...from,
      name: question.name,
      question,
      id,
      edns,
      recursive,
      index: queries.length,
    }
    queries.push(asked)
    const reaction = await handler(asked)
    if (reaction === 'silence') return
    for (const message of 'length' in reaction ? reaction : [reply(asked, reaction)]) send(message)
  }

  udp.on('message', (bytes, source) => {
    void react(bytes, { transport: 'udp', port: source.port }, (message) =>
      udp.send(message, source.port, source.address),
    )
  })
  tcp.on('connection', (socket) => {
    connections.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => connections.delete(socket))
    connected(socket)
    let received = Buffer.alloc(0)
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0)
        const message = received.subarray(2, end)
        received = received.subarray(end)
        void react(message, { transport: 'tcp', port: socket.remotePort ?? 0 }, (answer) => {
          const length = Buffer.alloc(2)
          length.writeUInt16BE(answer.length)
          // Two writes, so that a client has to put the message together.
          socket.write(length)
          socket.write(answer)
        })
      }
    })
  })

  return {
    address: `127.0.0.1:${port}`,
    port,
    queries,
    async stop() {
      for (const socket of connections) socket.destroy()
      await Promise.all([
        new Promise<void>((resolve) => tcp.close(() => resolve())),
        new Promise<void>((resolve) => udp.close(resolve)),
      ])
    },
  }
}

/** The same free port for UDP and TCP; another program may hold the UDP twin of a free TCP port, so it tries again. */
async function bindBoth(): Promise<{ tcp: Server; udp: UdpSocket; port: number }> {
  for (let tries = 0; tries < 20; tries++) {
    const udp = createSocket('udp4')
    udp.bind(0, '127.0.0.1')
    await once(udp, 'listening')
    const { port } = udp.address()
    const tcp = createServer()
    tcp.listen(port, '127.0.0.1')
    const listening = await once(tcp, 'listening').then(
      () => true,
      () => false,
    )
    if (listening) return { tcp, udp, port }
    udp.close()
  }
  throw new Error('no port that is free for both UDP and TCP')
}
