import { readRecordData, textLength, type RecordType, type RecordValue, TYPE_CODES } from './record-data.ts'
import { MALFORMED, Malformed, Reader } from './reader.ts'

/** A resource record of class IN. Records of other types are skipped without being parsed. */
export type ResourceRecord =
  | { readonly type: 'NS' | 'CNAME'; readonly name: string; readonly ttl: number; readonly target: string }
  | { readonly type: 'SOA'; readonly name: string; readonly ttl: number; readonly minimum: number }
  /** A record of the type that the query asked for, in the answer section. */
  | { readonly type: 'DATA'; readonly name: string; readonly ttl: number; readonly data: RecordValue }

export interface Message {
  /** The 16 bits after the id. */
  readonly flags: number
  /** Upper bits of the RCODE, from the OPT record (RFC 6891). */
  readonly extendedRcode: number
  readonly answers: readonly ResourceRecord[]
  readonly authorities: readonly ResourceRecord[]
}

const TYPE_NS = TYPE_CODES.ns
const TYPE_CNAME = 5
const TYPE_SOA = TYPE_CODES.soa
const TYPE_OPT = 41
const CLASS_IN = 1
/** A message has at most 65,535 octets. Compressed names make more text of them only in an attack on memory. */
const MAX_DATA_TEXT = 65_535

/**
 * Decodes a message whose question is known to be `name` and to end at `questionEnd`. Returns undefined if it is malformed.
 * @param type whose data to read from the answer section; NS, CNAME and SOA records are always read
 */
export function decodeMessage(
  bytes: Buffer,
  name: string,
  questionEnd: number,
  type?: RecordType,
): Message | undefined {
  try {
    const reader = new Reader(bytes, name, questionEnd)
    const answers = readRecords(reader, reader.uint16At(6), type)
    const authorities = readRecords(reader, reader.uint16At(8), undefined)
    const extendedRcode = readExtendedRcode(reader, reader.uint16At(10))
    return { flags: reader.uint16At(2), extendedRcode, answers, authorities }
  } catch (fault) {
    if (fault instanceof Malformed) return undefined
    throw fault
  }
}

function readRecords(
  reader: Reader,
  count: number,
  wanted: RecordType | undefined,
): readonly ResourceRecord[] {
  const records: ResourceRecord[] = []
  const wantedCode = wanted === undefined ? -1 : TYPE_CODES[wanted]
  let textRead = 0
  for (let i = 0; i < count; i++) {
    const name = reader.name()
    const type = reader.uint16()
    const klass = reader.uint16()
    const ttl = reader.uint32()
    const end = reader.dataEnd()
    if (klass === CLASS_IN && wanted !== undefined && type === wantedCode) {
      const data = readRecordData(reader, wanted, end)
      if (reader.at !== end || (textRead += textLength(data)) > MAX_DATA_TEXT) throw MALFORMED
      records.push({ type: 'DATA', name, ttl, data })
    } else if (klass === CLASS_IN && (type === TYPE_NS || type === TYPE_CNAME)) {
      const target = reader.name()
      if (reader.at !== end) throw MALFORMED
      records.push({ type: type === TYPE_NS ? 'NS' : 'CNAME', name, ttl, target })
    } else if (klass === CLASS_IN && type === TYPE_SOA) {
      reader.name()
      reader.name()
      // Five numbers follow, MINIMUM is the last.
      if (reader.at + 20 !== end) throw MALFORMED
      reader.at = end - 4
      records.push({ type: 'SOA', name, ttl, minimum: reader.uint32() })
    }
    reader.at = end
  }
  return records
}

function readExtendedRcode(reader: Reader, count: number): number {
  let rcode = 0
  for (let i = 0; i < count; i++) {
    reader.name()
    const type = reader.uint16()
    reader.uint16()
    const ttl = reader.uint32()
    reader.at = reader.dataEnd()
    if (type === TYPE_OPT) rcode = ttl >>> 24
  }
  return rcode
}
