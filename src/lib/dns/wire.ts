import { TYPE_CODES, type QueryType } from './record-data.ts'
import { classify } from './classify.ts'
import { decodeMessage } from './message.ts'
import type { ServerRole, Reply } from './outcomes.ts'

/** A question for one name and type. */
export interface Query {
  /** In A-label form, lower case, without trailing dot. */
  readonly name: string
  readonly type: QueryType
  readonly role: ServerRole
  readonly edns: boolean
}

const HEADER_BYTES = 12
const RESPONSE = 0x8000
const OPCODE = 0x7800
const TRUNCATED = 0x0200
const RECURSION_DESIRED = 0x0100
const RCODE = 0x000f
const FORMAT_ERROR = 1
const NAME_ERROR = 3
const NOT_IMPLEMENTED = 4

/** Largest response that passes every path unfragmented (DNS flag day 2020). */
const UDP_PAYLOAD_BYTES = 1232

/** OPT record: root, payload size, no extended RCODE, version 0, no flags, no options (RFC 6891, section 6.1.2). */
const OPT_RECORD = Buffer.from([0, 0, 41, UDP_PAYLOAD_BYTES >> 8, UDP_PAYLOAD_BYTES & 0xff, 0, 0, 0, 0, 0, 0])
const CLASS_IN = 1

const DOT = 0x2e
const MAX_NAME_LENGTH = 253
const MAX_LABEL_LENGTH = 63

/** Returns undefined for a name that no message can carry. */
export function createQuery(
  name: string,
  type: QueryType = 'ns',
  role: ServerRole = 'resolver',
  edns = true,
): Query | undefined {
  return isEncodable(name) ? { name, type, role, edns } : undefined
}

/** Checks for labels of 1 to 63 printable octets. Faster than a regular expression, for bulk calls. */
function isEncodable(name: string): boolean {
  let label = 0
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i)
    if (code === DOT) {
      if (label === 0) return false
      label = 0
    } else if (code <= 0x20 || code >= 0x7f || ++label > MAX_LABEL_LENGTH) return false
  }
  return label > 0 && name.length <= MAX_NAME_LENGTH
}

/** Offset at which the question section ends, in the query and in its response: QNAME (its text and two octets), QTYPE, QCLASS. */
const questionEnd = ({ name }: Query): number => HEADER_BYTES + name.length + 2 + 4

/** Octets of an encoded query. */
export const queryLength = (query: Query): number => questionEnd(query) + (query.edns ? OPT_RECORD.length : 0)

/** Encodes a query in a buffer of its own: an earlier one may still be in a send queue. */
export function encodeQuery(query: Query, id: number): Buffer {
  const message = Buffer.allocUnsafe(queryLength(query))
  writeQuery(message, 0, query, id)
  return message
}

/** Writes the `queryLength` octets of a query at an offset. */
export function writeQuery(target: Buffer, from: number, query: Query, id: number): void {
  const { name, role, edns } = query
  const type = TYPE_CODES[query.type]
  const end = from + questionEnd(query)
  target[from] = id >> 8
  target[from + 1] = id & 0xff
  target[from + 2] = role === 'resolver' ? RECURSION_DESIRED >> 8 : 0
  // All other counts and flags are zero. Assignments are faster than a call of fill().
  target[from + 3] = target[from + 4] = 0
  target[from + 5] = 1
  target[from + 6] = target[from + 7] = target[from + 8] = target[from + 9] = target[from + 10] = 0
  target[from + 11] = edns ? 1 : 0
  let lengthAt = from + HEADER_BYTES
  let at = lengthAt + 1
  for (let i = 0; i < name.length; i++, at++) {
    const code = name.charCodeAt(i)
    if (code === DOT) {
      target[lengthAt] = at - lengthAt - 1
      lengthAt = at
    } else target[at] = code
  }
  target[lengthAt] = at - lengthAt - 1
  target[end - 5] = 0
  target[end - 4] = type >> 8
  target[end - 3] = type & 0xff
  target[end - 2] = 0
  target[end - 1] = CLASS_IN
  if (edns) target.set(OPT_RECORD, end)
}

/** Returns the id of a message; undefined if it is shorter than a header. */
export function messageId(message: Buffer): number | undefined {
  return message.length < HEADER_BYTES ? undefined : uint16(message, 0)
}

/** Interprets a message as the response to a query with the same id. Never throws. */
export function readReply(message: Buffer, query: Query): Reply {
  if (message.length < HEADER_BYTES) return { kind: 'mismatch' }
  const flags = uint16(message, 2)
  if ((flags & RESPONSE) === 0 || (flags & OPCODE) !== 0) return { kind: 'mismatch' }
  const rcode = flags & RCODE
  if (!echoesQuestion(message, query)) {
    // Some servers answer a query that they cannot parse with a bare header, which counts as a failure.
    const bare = uint16(message, 4) === 0 && rcode !== 0 && rcode !== NAME_ERROR
    if (!bare) return { kind: 'mismatch' }
    return query.edns ? { kind: 'no-edns' } : { kind: 'failed' }
  }
  if ((rcode === FORMAT_ERROR || rcode === NOT_IMPLEMENTED) && query.edns) return { kind: 'no-edns' }
  // Checked before decoding: a truncated message may end in the middle of a record.
  if ((flags & TRUNCATED) !== 0) return { kind: 'truncated' }
  const { name, type, role } = query
  const decoded = decodeMessage(message, name, questionEnd(query), type === 'ns' ? undefined : type)
  return decoded === undefined ? { kind: 'failed' } : classify(decoded, rcode, name, role, type)
}

/**
 * Checks that the response repeats the question (RFC 5452, section 9.1). Compares octets, ignoring case, which servers may
 * change (RFC 4343). Length octets are below 64, so folding does not affect them.
 */
function echoesQuestion(message: Buffer, query: Query): boolean {
  const { name } = query
  const end = questionEnd(query)
  if (message.length < end || uint16(message, 4) !== 1) return false
  let label = message[HEADER_BYTES] ?? 0
  for (let i = 0; i < name.length; i++) {
    const octet = message[HEADER_BYTES + 1 + i] ?? 0
    const code = name.charCodeAt(i)
    if (code === DOT) {
      if (label !== 0) return false
      label = octet
    } else {
      if (label-- === 0 || foldCase(octet) !== foldCase(code)) return false
    }
  }
  return (
    label === 0 &&
    message[end - 5] === 0 &&
    uint16(message, end - 4) === TYPE_CODES[query.type] &&
    uint16(message, end - 2) === CLASS_IN
  )
}

function foldCase(octet: number): number {
  return octet >= 0x41 && octet <= 0x5a ? octet + 0x20 : octet
}

function uint16(message: Buffer, at: number): number {
  return ((message[at] ?? 0) << 8) | (message[at + 1] ?? 0)
}
