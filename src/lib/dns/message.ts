import { decode, encode, RECURSION_DESIRED, type DecodedPacket } from 'dns-packet'
import {
  classify,
  type Question,
  type Reply,
  type ServerRole,
  RECORD_TYPES,
  type QueryType,
} from './classify.ts'

export interface Query extends Question {
  /** Its octets with the id 0. */
  readonly message: Buffer
}

const HEADER_BYTES = 12
const RESPONSE = 0x8000
const OPCODE = 0x7800
const TRUNCATED = 0x0200

/** Largest response that passes every path unfragmented (DNS flag day 2020). */
const UDP_PAYLOAD_BYTES = 1232

const MAX_NAME_LENGTH = 253
/** Labels of 1 to 63 printable octets. */
const ENCODABLE = /^[!-\-/-~]{1,63}(?:\.[!-\-/-~]{1,63})*$/

/** Returns undefined for a name that no message can carry. */
export function createQuery(
  name: string,
  type: QueryType = 'ns',
  role: ServerRole = 'resolver',
): Query | undefined {
  if (name.length > MAX_NAME_LENGTH || !ENCODABLE.test(name)) return undefined
  const message = encode({
    type: 'query',
    flags: role === 'resolver' ? RECURSION_DESIRED : 0,
    questions: [{ name, type: RECORD_TYPES[type] }],
    additionals: [
      {
        name: '.',
        type: 'OPT',
        udpPayloadSize: UDP_PAYLOAD_BYTES,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  })
  return { name, type, role, message }
}

export function messageWithId({ message }: Query, id: number): Buffer {
  const copy = Buffer.from(message)
  copy.writeUInt16BE(id)
  return copy
}

/** Returns the id of a message; undefined if it is shorter than a header. */
export function messageId(message: Buffer): number | undefined {
  return message.length < HEADER_BYTES ? undefined : message.readUInt16BE(0)
}

/** Interprets a message as the response to a query with the same id. Never throws. */
export function readReply(message: Buffer, query: Query): Reply {
  if (message.length < HEADER_BYTES) return { kind: 'mismatch' }
  const flags = message.readUInt16BE(2)
  if ((flags & (RESPONSE | OPCODE)) !== RESPONSE) return { kind: 'mismatch' }
  // Checked before decoding: a truncated message may end in the middle of a record.
  if ((flags & TRUNCATED) !== 0) return { kind: 'truncated' }
  const packet = decodePacket(message)
  if (packet === undefined) return { kind: 'failed' }
  return answersQuestion(packet, query) ? classify(packet, query) : { kind: 'mismatch' }
}

/** Returns undefined if the message is malformed. */
function decodePacket(message: Buffer): DecodedPacket | undefined {
  try {
    const packet = decode(message)
    // The library reads addresses beyond the end of the message.
    return decode.bytes > message.length ? undefined : packet
  } catch {
    return undefined
  }
}

/** A response repeats the question (RFC 5452, section 9.1), maybe in another case (RFC 4343). A bare error may lack it. */
function answersQuestion({ questions = [], flags = 0 }: DecodedPacket, query: Query): boolean {
  const [question, ...others] = questions
  if (question === undefined) return (flags & 0xf) !== 0 && (flags & 0xf) !== 3
  return (
    others.length === 0 &&
    question.type === RECORD_TYPES[query.type] &&
    question.class === 'IN' &&
    question.name.toLowerCase() === query.name
  )
}
