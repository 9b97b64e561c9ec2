import { SocketAddress } from 'node:net'
import { MALFORMED, type Reader } from './reader.ts'

/** Codes of the record types that can be queried (RFC 1035, 3596, 8659). */
export const TYPE_CODES = { a: 1, ns: 2, soa: 6, mx: 15, txt: 16, aaaa: 28, caa: 257 } as const

export type QueryType = keyof typeof TYPE_CODES

/** Record types other than NS, whose answers name servers are. */
export type RecordType = Exclude<QueryType, 'ns'>

export interface MxRecord {
  readonly preference: number
  /** `.` in a null MX (RFC 7505): the domain does not accept mail. */
  readonly exchange: string
}

export interface SoaRecord {
  readonly mname: string
  readonly rname: string
  readonly serial: number
  readonly refresh: number
  readonly retry: number
  readonly expire: number
  readonly minimum: number
}

export interface CaaRecord {
  readonly flags: number
  readonly tag: string
  readonly value: string
}

/** The RDATA of a record: the text of an A, AAAA or TXT record, or the fields of an MX, SOA or CAA record. */
export type RecordValue = string | MxRecord | SoaRecord | CaaRecord

/** CAA tags are letters and digits (RFC 8659, section 4.1). */
const CAA_TAG = /^[a-z0-9]+$/

/** Reads the RDATA of a record, which ends at `end`. The caller checks that all of it was read. */
export function readRecordData(reader: Reader, type: RecordType, end: number): RecordValue {
  switch (type) {
    case 'a':
      return ipv4(reader.octets(end))
    case 'aaaa':
      return ipv6(reader.octets(end))
    case 'mx':
      return { preference: reader.uint16(), exchange: hostName(reader) }
    case 'txt':
      return characterStrings(reader, end)
    case 'soa':
      return soa(reader)
    case 'caa':
      return caa(reader, end)
  }
}

/** Sorts the values of an RRset, whose order has no meaning, and removes duplicates (RFC 2181, section 5). */
export function canonicalOrder(values: readonly RecordValue[]): readonly RecordValue[] {
  const byKey = new Map(values.map((value) => [sortKey(value), value]))
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}

/** Characters of a value, which determine its memory. */
export function textLength(value: RecordValue): number {
  if (typeof value === 'string') return value.length
  if ('exchange' in value) return value.exchange.length
  if ('mname' in value) return value.mname.length + value.rname.length
  return value.tag.length + value.value.length
}

/** MX records are ordered by preference. */
function sortKey(value: RecordValue): string {
  if (typeof value === 'string') return value
  if ('exchange' in value) return `${String(value.preference).padStart(5, '0')} ${value.exchange}`
  return 'tag' in value ? `${value.tag} ${value.value} ${value.flags}` : JSON.stringify(value)
}

function ipv4(octets: Buffer): string {
  if (octets.length !== 4) throw MALFORMED
  return octets.join('.')
}

/** Returns the canonical text (RFC 5952). */
function ipv6(octets: Buffer): string {
  if (octets.length !== 16) throw MALFORMED
  const groups = Array.from({ length: 8 }, (_, i) => octets.readUInt16BE(2 * i).toString(16))
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address
}

/** The root is `.`, as in zone files. */
function hostName(reader: Reader): string {
  return reader.name() || '.'
}

/** Joins the character-strings of a TXT record (RFC 7208, section 3.3). */
function characterStrings(reader: Reader, end: number): string {
  const strings: Buffer[] = []
  while (reader.at < end) {
    const [length = 0] = reader.octets(reader.at + 1)
    if (reader.at + length > end) throw MALFORMED
    strings.push(reader.octets(reader.at + length))
  }
  // At least one character-string, which may be empty (RFC 1035, section 3.3.14).
  if (strings.length === 0) throw MALFORMED
  return Buffer.concat(strings).toString('utf8')
}

function soa(reader: Reader): SoaRecord {
  return {
    mname: hostName(reader),
    rname: hostName(reader),
    serial: reader.uint32(),
    refresh: reader.uint32(),
    retry: reader.uint32(),
    expire: reader.uint32(),
    minimum: reader.uint32(),
  }
}

function caa(reader: Reader, end: number): CaaRecord {
  const [flags = 0, length = 0] = reader.octets(reader.at + 2)
  const tag = reader
    .octets(reader.at + length)
    .toString('latin1')
    .toLowerCase()
  if (!CAA_TAG.test(tag)) throw MALFORMED
  return { flags, tag, value: reader.octets(end).toString('utf8') }
}
