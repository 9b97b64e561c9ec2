// An authoritative server of cl that drops 1% of the queries and answers 1% with SERVFAIL. Prints its port.
import { createSocket } from 'node:dgram'
import { getTruth } from './dns-zone.ts'

const LOST = 0.01
const FAILED = 0.01
const [SERVFAIL, NXDOMAIN] = [2, 3]
const SOA = record(0, 6, [...Buffer.alloc(2), 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 44])

/** Encodes a record of class IN with a TTL of 300 s. @param at offset of the owner's name; 0 means `cl` */
function record(at: number, type: number, data: readonly number[]): Buffer {
  const owner = at === 0 ? [2, 0x63, 0x6c, 0] : [0xc0, at]
  return Buffer.from([...owner, 0, type, 0, 1, 0, 0, 1, 44, data.length >> 8, data.length & 0xff, ...data])
}

function nameOf(text: string): number[] {
  return [...text.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]), 0]
}

const socket = createSocket({ type: 'udp4', recvBufferSize: 8 * 1024 * 1024 })
socket.on('message', (question, { port, address }) => {
  const dice = Math.random()
  if (dice < LOST) return
  const label = question.toString('latin1', 13, 13 + (question[12] ?? 0))
  const end = 12 + label.length + 2 + 3 + 4
  const truth = getTruth(Number(label.replace('nombre', '')))
  const hasFailed = dice < LOST + FAILED
  const records =
    truth.kind === 'found' && !hasFailed
      ? truth.servers.map((server) => record(12, 2, nameOf(server)))
      : hasFailed
        ? []
        : [SOA]
  const reply = Buffer.concat([question.subarray(0, end), ...records])
  const isOwner = truth.kind !== 'found'
  reply[2] = 0x80 | (isOwner && !hasFailed ? 0x04 : 0)
  reply[3] = hasFailed ? SERVFAIL : truth.kind === 'no-such-name' ? NXDOMAIN : 0
  reply.writeUInt16BE(records.length, 8)
  reply.writeUInt16BE(0, 10)
  socket.send(reply, port, address)
})
socket.bind(0, '127.0.0.1', () => console.log(`port ${socket.address().port}`))
