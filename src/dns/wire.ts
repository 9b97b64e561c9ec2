import { classify } from './classify.ts'
import { decodeMessage } from './message.ts'
import type { Conclusion } from './outcomes.ts'

/** A question ready to be sent: a whole message whose id is still zero. */
export interface Query {
  readonly name: string
  readonly edns: boolean
  readonly template: Buffer
  /** Where the question section ends in the template. */
  readonly questionEnd: number
}

/** What one message from a server amounts to. */
export type Reply =
  /** Not an answer to this query: a stray, late or forged message. The real answer may still come. */
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'truncated' }
  /** The server stumbled over EDNS (RFC 6891, section 7): ask it again without. */
  | { readonly kind: 'no-edns' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed' }
  /** `ttl` in seconds, uncapped; 0 where the answer must not be kept. */
  | { readonly kind: 'answer'; readonly answer: Conclusion; readonly ttl: number }

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
const TYPE_NS_CLASS_IN = 0x0002_0001

const ENCODABLE = /^(?=.{1,253}$)[!-\-/-~]{1,63}(?:\.[!-\-/-~]{1,63})*$/

/** The NS question for a name in A-label form without trailing dot; undefined for a name that no message can carry. */
export function nameServerQuery(name: string, edns = true): Query | undefined {
  if (!ENCODABLE.test(name)) return undefined
  // The name's wire form is two octets longer than its text; type and class follow.
  const questionEnd = HEADER_BYTES + name.length + 2 + 4
  const template = Buffer.alloc(questionEnd + (edns ? OPT_RECORD.length : 0))
  template.writeUInt16BE(RECURSION_DESIRED, 2)
  template.writeUInt16BE(1, 4)
  template.writeUInt16BE(edns ? 1 : 0, 10)
  let at = HEADER_BYTES
  for (const label of name.split('.')) {
    template[at] = label.length
    at += 1 + template.write(label, at + 1, 'latin1')
  }
  template.writeUInt32BE(TYPE_NS_CLASS_IN, questionEnd - 4)
  if (edns) OPT_RECORD.copy(template, questionEnd)
  return { name, edns, template, questionEnd }
}

/** The query as it goes out. A copy: an earlier one with another id may still wait in a send queue. */
export function messageWithId(query: Query, id: number): Buffer {
  const message = Buffer.allocUnsafe(query.template.length)
  query.template.copy(message)
  message.writeUInt16BE(id, 0)
  return message
}

/** The id that a message carries, by which its query is found; undefined for less than a header. */
export function messageId(message: Buffer): number | undefined {
  return message.length < HEADER_BYTES ? undefined : message.readUInt16BE(0)
}

/** Judges a message against the query that its id belongs to. Never throws, whatever the bytes. */
export function readReply(message: Buffer, query: Query): Reply {
  if (message.length < HEADER_BYTES) return { kind: 'mismatch' }
  const flags = message.readUInt16BE(2)
  if ((flags & RESPONSE) === 0 || (flags & OPCODE) !== 0) return { kind: 'mismatch' }
  const rcode = flags & RCODE
  if (!echoesQuestion(message, query)) {
    // Some servers answer what they cannot read with a bare header. It can only be taken for a failure.
    const bare = message.readUInt16BE(4) === 0 && rcode !== 0 && rcode !== NAME_ERROR
    if (!bare) return { kind: 'mismatch' }
    return query.edns ? { kind: 'no-edns' } : { kind: 'failed' }
  }
  if ((rcode === FORMAT_ERROR || rcode === NOT_IMPLEMENTED) && query.edns) return { kind: 'no-edns' }
  // Looked at before decoding: a truncated message may end in the middle of a record.
  if ((flags & TRUNCATED) !== 0) return { kind: 'truncated' }
  const decoded = decodeMessage(message, query.name, query.questionEnd)
  return decoded === undefined ? { kind: 'failed' } : classify(decoded, rcode, query.name)
}

/** RFC 5452, section 9.1: the question must come back. Bytes, not decoded names: no two names share them. */
function echoesQuestion(message: Buffer, query: Query): boolean {
  const { template, questionEnd } = query
  if (message.length < questionEnd || message.readUInt16BE(4) !== 1) return false
  if (message.compare(template, HEADER_BYTES, questionEnd, HEADER_BYTES, questionEnd) === 0) return true
  // Case is the server's to change (RFC 4343). Length octets are below 64, so folding leaves them as they are.
  for (let at = HEADER_BYTES; at < questionEnd; at++) {
    if (foldCase(message[at]) !== foldCase(template[at])) return false
  }
  return true
}

function foldCase(octet: number | undefined): number | undefined {
  return octet !== undefined && octet >= 0x41 && octet <= 0x5a ? octet + 0x20 : octet
}
