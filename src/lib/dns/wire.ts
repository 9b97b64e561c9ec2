import { classify } from './classify.ts'
import { decodeMessage } from './message.ts'
import type { Asked, Reply } from './outcomes.ts'

/** The NS question for a name. */
export interface Query {
  /** In A-label form, lower case, without trailing dot. */
  readonly name: string
  readonly asked: Asked
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

/** What passes every path unfragmented (DNS flag day 2020). */
const UDP_PAYLOAD_BYTES = 1232

/** OPT of the root: our payload size, no extended code, version 0, no flags, no options (RFC 6891, section 6.1.2). */
const OPT_RECORD = Buffer.from([0, 0, 41, UDP_PAYLOAD_BYTES >> 8, UDP_PAYLOAD_BYTES & 0xff, 0, 0, 0, 0, 0, 0])
const TYPE_NS = 2
const CLASS_IN = 1

const DOT = 0x2e
const MAX_NAME_LENGTH = 253
const MAX_LABEL_LENGTH = 63

/** The question for a name in A-label form without trailing dot; undefined for a name that no message can carry. */
export function nameServerQuery(name: string, asked: Asked = 'resolver', edns = true): Query | undefined {
  return isEncodable(name) ? { name, asked, edns } : undefined
}

/** Labels of 1 to 63 printable octets. No regular expression: this is done for every question of a bulk. */
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

/** Where the question section of a query and of its reply ends: the name, two octets longer than its text, type, class. */
const questionEnd = ({ name }: Query): number => HEADER_BYTES + name.length + 2 + 4

/** Octets of a query as it goes out. */
export const queryLength = (query: Query): number => questionEnd(query) + (query.edns ? OPT_RECORD.length : 0)

/** The query as it goes out, in memory of its own: an earlier one may still wait in a send queue. */
export function encodeQuery(query: Query, id: number): Buffer {
  const message = Buffer.allocUnsafe(queryLength(query))
  writeQuery(message, 0, query, id)
  return message
}

/** Writes the query's `queryLength` octets from there on. */
export function writeQuery(target: Buffer, from: number, query: Query, id: number): void {
  const { name, asked, edns } = query
  const end = from + questionEnd(query)
  target[from] = id >> 8
  target[from + 1] = id & 0xff
  target[from + 2] = asked === 'resolver' ? RECURSION_DESIRED >> 8 : 0
  // All other counts and flags are zero. By hand: a call costs more than these.
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
  target[end - 4] = 0
  target[end - 3] = TYPE_NS
  target[end - 2] = 0
  target[end - 1] = CLASS_IN
  if (edns) target.set(OPT_RECORD, end)
}

/** The id that a message carries, by which its query is found; undefined for less than a header. */
export function messageId(message: Buffer): number | undefined {
  return message.length < HEADER_BYTES ? undefined : uint16(message, 0)
}

/** Judges a message against the query that its id belongs to. Never throws, whatever the bytes. */
export function readReply(message: Buffer, query: Query): Reply {
  if (message.length < HEADER_BYTES) return { kind: 'mismatch' }
  const flags = uint16(message, 2)
  if ((flags & RESPONSE) === 0 || (flags & OPCODE) !== 0) return { kind: 'mismatch' }
  const rcode = flags & RCODE
  if (!echoesQuestion(message, query)) {
    // Some servers answer what they cannot read with a bare header. It can only be taken for a failure.
    const bare = uint16(message, 4) === 0 && rcode !== 0 && rcode !== NAME_ERROR
    if (!bare) return { kind: 'mismatch' }
    return query.edns ? { kind: 'no-edns' } : { kind: 'failed' }
  }
  if ((rcode === FORMAT_ERROR || rcode === NOT_IMPLEMENTED) && query.edns) return { kind: 'no-edns' }
  // Looked at before decoding: a truncated message may end in the middle of a record.
  if ((flags & TRUNCATED) !== 0) return { kind: 'truncated' }
  const decoded = decodeMessage(message, query.name, questionEnd(query))
  return decoded === undefined ? { kind: 'failed' } : classify(decoded, rcode, query.name, query.asked)
}

/**
 * RFC 5452, section 9.1: the question must come back. Octets, not decoded names: no two names share them. Case is the
 * server's to change (RFC 4343); length octets are below 64, so folding leaves them as they are.
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
    uint16(message, end - 4) === TYPE_NS &&
    uint16(message, end - 2) === CLASS_IN
  )
}

function foldCase(octet: number): number {
  return octet >= 0x41 && octet <= 0x5a ? octet + 0x20 : octet
}

function uint16(message: Buffer, at: number): number {
  return ((message[at] ?? 0) << 8) | (message[at + 1] ?? 0)
}
