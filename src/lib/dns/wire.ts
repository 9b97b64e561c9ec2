import { classify, type Reply, type ServerRole } from './classify.ts'
import { decodeMessage } from './message.ts'
import { TYPE_CODES, type QueryType } from './record-data.ts'

/** A question for one name and type. */
export interface Query {
  /** In A-label form, lower case, without trailing dot. */
  readonly name: string
  readonly type: QueryType
  readonly role: ServerRole
  readonly edns: boolean
  /** The question section, and all of the message that follows its id, in Latin-1. */
  readonly question: string
  readonly afterId: string
}

const HEADER_BYTES = 12
const RESPONSE = 0x8000
const OPCODE = 0x7800
const TRUNCATED = 0x0200
const RCODE = 0x000f
const FORMAT_ERROR = 1
const NAME_ERROR = 3
const NOT_IMPLEMENTED = 4

/** By role, the flags of a query: RD for a resolver. */
const FLAGS: Readonly<Record<ServerRole, string>> = { resolver: uint16(0x0100), parent: uint16(0) }
/** One question, no answers, no authorities. */
const COUNTS = uint16(1) + uint16(0) + uint16(0)
/** Largest response that passes every path unfragmented (DNS flag day 2020). */
const UDP_PAYLOAD_BYTES = 1232
/** OPT record: root, payload size, no extended RCODE, version 0, no flags, no options (RFC 6891, section 6.1.2). */
const OPT_RECORD = `\0${uint16(41)}${uint16(UDP_PAYLOAD_BYTES)}\0\0\0\0\0\0`
const CLASS_IN = 1

const MAX_NAME_LENGTH = 253
/** Labels of 1 to 63 printable octets. */
const ENCODABLE = /^[!-\-/-~]{1,63}(?:\.[!-\-/-~]{1,63})*$/

/** Returns undefined for a name that no message can carry. */
export function createQuery(
  name: string,
  type: QueryType = 'ns',
  role: ServerRole = 'resolver',
  edns = true,
): Query | undefined {
  if (name.length > MAX_NAME_LENGTH || !ENCODABLE.test(name)) return undefined
  return encoded(name, type, role, edns)
}

export const withoutEdns = ({ name, type, role }: Query): Query => encoded(name, type, role, false)

function encoded(name: string, type: QueryType, role: ServerRole, edns: boolean): Query {
  let labels = ''
  for (const label of name.split('.')) labels += String.fromCharCode(label.length) + label
  const question = `${labels}\0${uint16(TYPE_CODES[type])}${uint16(CLASS_IN)}`
  const ofRecords = edns ? uint16(1) + question + OPT_RECORD : uint16(0) + question
  return { name, type, role, edns, question, afterId: FLAGS[role] + COUNTS + ofRecords }
}

export const encodeQuery = ({ afterId }: Query, id: number): Buffer =>
  Buffer.from(uint16(id) + afterId, 'latin1')

/** Returns a query for TCP, with its length prefix, in Latin-1. */
export const framedQuery = ({ afterId }: Query, id: number): string =>
  uint16(2 + afterId.length) + uint16(id) + afterId

/** Returns the id of a message; undefined if it is shorter than a header. */
export function messageId(message: Buffer): number | undefined {
  return message.length < HEADER_BYTES ? undefined : message.readUInt16BE(0)
}

/** Interprets a message as the response to a query with the same id. Never throws. */
export function readReply(message: Buffer, query: Query): Reply {
  if (message.length < HEADER_BYTES) return { kind: 'mismatch' }
  const flags = message.readUInt16BE(2)
  if ((flags & RESPONSE) === 0 || (flags & OPCODE) !== 0) return { kind: 'mismatch' }
  const rcode = flags & RCODE
  const questions = message.readUInt16BE(4)
  const questionEnd = HEADER_BYTES + query.question.length
  // RFC 5452, section 9.1. Servers may change the case of names (RFC 4343).
  const echo = message.toString('latin1', HEADER_BYTES, questionEnd).toLowerCase()
  if (questions !== 1 || echo !== query.question) {
    // Some servers answer a query that they cannot parse with a bare header, which counts as a failure.
    const bare = questions === 0 && rcode !== 0 && rcode !== NAME_ERROR
    if (!bare) return { kind: 'mismatch' }
    return query.edns ? { kind: 'no-edns' } : { kind: 'failed' }
  }
  if ((rcode === FORMAT_ERROR || rcode === NOT_IMPLEMENTED) && query.edns) return { kind: 'no-edns' }
  // Checked before decoding: a truncated message may end in the middle of a record.
  if ((flags & TRUNCATED) !== 0) return { kind: 'truncated' }
  const { name, type, role } = query
  const decoded = decodeMessage(message, name, questionEnd, type === 'ns' ? undefined : type)
  return decoded === undefined ? { kind: 'failed' } : classify(decoded, rcode, name, role, type)
}

function uint16(value: number): string {
  return String.fromCharCode(value >> 8, value & 0xff)
}
