import { isIPv4, isIPv6, SocketAddress } from 'node:net'
import type { Answer as PacketRecord, SoaData } from 'dns-packet'

/** The record types that can be queried, as `dns-packet` names them. */
export const RECORD_TYPES = {
  a: 'A',
  ns: 'NS',
  soa: 'SOA',
  mx: 'MX',
  txt: 'TXT',
  aaaa: 'AAAA',
  caa: 'CAA',
} as const

export type QueryType = keyof typeof RECORD_TYPES

/** Record types other than NS, whose answers name servers are. */
export type RecordType = Exclude<QueryType, 'ns'>

export interface MxRecord {
  readonly preference: number
  /** `.` in a null MX (RFC 7505): the domain does not accept mail. */
  readonly exchange: string
}

interface CaaRecord {
  readonly flags: number
  readonly tag: string
  readonly value: string
}

/** The RDATA of a record: the text of an A, AAAA or TXT record, or the fields of an MX, SOA or CAA record. */
export type RecordValue = string | MxRecord | SoaData | CaaRecord

/** CAA tags are letters and digits (RFC 8659, section 4.1). */
const CAA_TAG = /^[a-z0-9]+$/

/** Returns the RDATA of a record; undefined if it is malformed, or of a type that cannot be queried. */
export function readRecordData(record: PacketRecord): RecordValue | undefined {
  switch (record.type) {
    case 'A':
      return isIPv4(record.data) ? record.data : undefined
    case 'AAAA':
      return isIPv6(record.data) ? canonicalIpv6(record.data) : undefined
    case 'MX': {
      const { preference = 0, exchange } = record.data
      return { preference, exchange: toHostName(exchange) }
    }
    case 'TXT':
      return joinStrings([record.data].flat())
    case 'SOA':
      return {
        ...record.data,
        mname: toHostName(record.data.mname),
        rname: toHostName(record.data.rname),
      }
    case 'CAA': {
      const { flags = 0, tag, value } = record.data
      return CAA_TAG.test(tag.toLowerCase()) ? { flags, tag: tag.toLowerCase(), value } : undefined
    }
    default:
      return undefined
  }
}

/** Sorts the values of an RRset, whose order has no meaning, and removes duplicates (RFC 2181, section 5). */
export function canonicalOrder(values: readonly RecordValue[]): readonly RecordValue[] {
  const byKey = new Map(values.map((value) => [sortKey(value), value]))
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}

/** MX records are ordered by preference. */
function sortKey(value: RecordValue): string {
  if (typeof value === 'string') return value
  if ('exchange' in value) return `${String(value.preference).padStart(5, '0')} ${value.exchange}`
  return 'tag' in value ? `${value.tag} ${value.value} ${value.flags}` : JSON.stringify(value)
}

/** Returns the canonical text (RFC 5952), which the library does not. */
const canonicalIpv6 = (address: string) => new SocketAddress({ address, family: 'ipv6' }).address

/** Returns a name in lower case, with the octets that host names cannot have as `\DDD`. The root is `.`. */
function toHostName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9_.*/\\-]/g, (character) =>
      [...Buffer.from(character)].map((octet) => `\\${String(octet).padStart(3, '0')}`).join(''),
    )
}

/** Joins the character-strings of a TXT record (RFC 7208, section 3.3), of which it has at least one. */
function joinStrings(strings: readonly (string | Buffer)[]): string | undefined {
  if (strings.length === 0) return undefined
  return Buffer.concat(strings.map((string) => Buffer.from(string))).toString('utf8')
}
