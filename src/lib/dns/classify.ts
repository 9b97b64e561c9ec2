import { isIPv4, isIPv6, SocketAddress } from 'node:net'
import {
  type Answer as PacketRecord,
  type SoaData,
  type DecodedPacket,
  AUTHORITATIVE_ANSWER,
  RECURSION_AVAILABLE,
} from 'dns-packet'

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
function readRecordData(record: PacketRecord): RecordValue | undefined {
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
function canonicalOrder(values: readonly RecordValue[]): readonly RecordValue[] {
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

/** The name servers of a name. Every expected outcome is a value; nothing here is thrown. */
export type NameServerAnswer = NameServersFound | Negative | Failure

/** The RRset of a name and a type other than NS. */
export type RecordAnswer = RecordsFound | Negative | Failure

export type Answer = NameServerAnswer | RecordAnswer

/** What the DNS says about a name, as opposed to failures to find out. */
export type Conclusion = NameServersFound | RecordsFound | Negative

interface NameServersFound {
  readonly kind: 'found'
  /** Lower-case host names without trailing dot, sorted, each once; never an empty list. */
  readonly servers: readonly string[]
}

interface RecordsFound {
  readonly kind: 'records'
  /** Sorted, each once; never an empty list. */
  readonly records: readonly RecordValue[]
}

/** Negative answers (RFC 2308). */
type Negative =
  /** NODATA: the name exists and has no records of the type. */
  | { readonly kind: 'empty' }
  /** NXDOMAIN. */
  | { readonly kind: 'no-such-name' }

/** Which server a query is for: a recursive resolver, or an authoritative server of the parent zone. */
export type ServerRole = 'resolver' | 'parent'

export interface Question {
  /** In A-label form, lower case, without trailing dot. */
  readonly name: string
  readonly type: QueryType
  readonly role: ServerRole
}

/** What one message from a server amounts to. */
export type Reply =
  /** Not a response to this query: stray, late or forged. The real one may still arrive. */
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'truncated' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed' }
  /** `ttl` in seconds, uncapped; 0 if the answer must not be cached. */
  | { readonly kind: 'answer'; readonly answer: Conclusion; readonly ttl: number }

/** A failure says nothing about the name. */
export type Failure =
  /** Every server that answered refused to serve us (REFUSED, NOTAUTH, NOTIMP, NOTZONE). */
  | { readonly kind: 'refused' }
  /** SERVFAIL, FORMERR, a malformed response, a lame referral, or no reachable server. */
  | { readonly kind: 'failed' }
  /** No server answered within the deadline. */
  | { readonly kind: 'timeout' }
  /** Too many look-ups in flight; this one was not started. */
  | { readonly kind: 'overloaded' }

const RCODE = 0x000f
const NO_ERROR = 0
const NAME_ERROR = 3
/** NOTIMP, REFUSED, NOTAUTH, NOTZONE: the server does not serve this client, whatever the name. */
const REFUSALS: ReadonlySet<number> = new Set([4, 5, 9, 10])

/** A longer CNAME chain is a loop or an attack. */
const MAX_ALIASES = 16

/** In characters of JSON. A message has at most 65,535 octets. */
const MAX_ANSWER_TEXT = 131_072

const FAILED: Reply = { kind: 'failed' }

/**
 * Classifies a well-formed response. From a server of the parent zone, only authoritative data and the delegation count: a server
 * that lost the zone may still answer from a cache.
 */
export function classify(packet: DecodedPacket, { name, type, role }: Question): Reply {
  const { flags = 0, answers = [], authorities = [], additionals = [] } = packet
  const rcode = flags & RCODE
  // In the header alone, BADVERS and other extended codes look like NOERROR.
  if (additionals.some((record) => record.type === 'OPT' && record.extendedRcode > 0)) return FAILED
  if (REFUSALS.has(rcode)) return { kind: 'refused' }
  if (rcode !== NO_ERROR && rcode !== NAME_ERROR) return FAILED

  const authoritative = (flags & AUTHORITATIVE_ANSWER) !== 0
  const recursive = role === 'resolver' && (flags & RECURSION_AVAILABLE) !== 0
  const alias = followAliases(answers, name)
  const last = alias?.target ?? name
  const found = rcode === NO_ERROR ? selectRecords(answers, RECORD_TYPES[type], last) : []
  if (found.length > 0) {
    // A server of the parent zone that also serves the child answers with the child's own records.
    if (type !== 'ns') return concludeRecords(found, alias?.ttl)
    return role === 'resolver' || authoritative ? concludeServers(found, alias?.ttl) : FAILED
  }

  // Only an authoritative server or a resolver can know that there is no data.
  const credible = authoritative || recursive
  const soaTtl = negativeTtl(authorities, last)
  // The RCODE is about the end of the CNAME chain (RFC 6604); the queried name itself exists.
  if (alias !== undefined) {
    return credible ? conclude({ kind: 'empty' }, Math.min(alias.ttl, soaTtl ?? alias.ttl)) : FAILED
  }
  if (rcode === NAME_ERROR) return credible ? conclude({ kind: 'no-such-name' }, soaTtl ?? 0) : FAILED
  if (soaTtl !== undefined) return credible ? conclude({ kind: 'empty' }, soaTtl) : FAILED

  // A referral. From a server of the parent zone it is the delegation; any other one is lame.
  if (authorities.some((record) => record.type === 'NS')) {
    const isDelegation = !authoritative && type === 'ns'
    return isDelegation ? concludeServers(selectRecords(authorities, 'NS', name)) : FAILED
  }
  // Without an SOA it must not be cached (RFC 2308, section 5), and only a resolver is trusted.
  return recursive ? conclude({ kind: 'empty' }, 0) : FAILED
}

/** An answer with much more text than a message has octets fails: only an attack compresses names like that. */
function conclude(answer: Conclusion, ttl: number): Reply {
  return JSON.stringify(answer).length > MAX_ANSWER_TEXT ? FAILED : { kind: 'answer', answer, ttl }
}

/** Returns the records of a type and an owner. */
function selectRecords(records: readonly PacketRecord[], type: string, owner: string): PacketRecord[] {
  return records.filter(
    (record) =>
      record.type === type &&
      record.type !== 'OPT' &&
      record.class === 'IN' &&
      record.name.toLowerCase() === owner,
  )
}

function concludeRecords(records: readonly PacketRecord[], aliasTtl?: number): Reply {
  const values: RecordValue[] = []
  for (const record of records) {
    const value = readRecordData(record)
    if (value === undefined) return FAILED
    values.push(value)
  }
  return conclude({ kind: 'records', records: canonicalOrder(values) }, lowestTtl(records, aliasTtl))
}

/** Names that are not host names are dropped: labels may hold any octet. */
function concludeServers(records: readonly PacketRecord[], aliasTtl?: number): Reply {
  const servers = new Set<string>()
  for (const record of records) {
    const host = record.type === 'NS' ? record.data.toLowerCase() : ''
    if (HOST_NAME.test(host)) servers.add(host)
  }
  if (servers.size === 0) return FAILED
  return conclude({ kind: 'found', servers: [...servers].toSorted() }, lowestTtl(records, aliasTtl))
}

const HOST_NAME = /^[a-z0-9_-][a-z0-9_.-]*$/

/** Returns the end of the CNAME chain of a name, with its lowest TTL; undefined if the name has no CNAME. */
function followAliases(
  answers: readonly PacketRecord[],
  name: string,
): { target: string; ttl: number } | undefined {
  let target = name
  let ttl = Number.POSITIVE_INFINITY
  for (let hops = 0; hops < MAX_ALIASES; hops++) {
    const record = answers.find(({ type, name: owner }) => type === 'CNAME' && owner.toLowerCase() === target)
    if (record?.type !== 'CNAME') break
    target = record.data.toLowerCase()
    ttl = Math.min(ttl, getTtl(record))
  }
  return ttl === Number.POSITIVE_INFINITY ? undefined : { target, ttl }
}

/** Returns the lower of the SOA's TTL and MINIMUM (RFC 2308, section 5); undefined without an SOA of a zone above the name. */
function negativeTtl(authorities: readonly PacketRecord[], name: string): number | undefined {
  for (const record of authorities) {
    if (record.type !== 'SOA') continue
    const zone = record.name.toLowerCase()
    if (zone === '.' || zone === name || name.endsWith(`.${zone}`))
      return Math.min(getTtl(record), record.data.minimum ?? 0)
  }
  return undefined
}

const lowestTtl = (records: readonly PacketRecord[], aliasTtl = Number.POSITIVE_INFINITY) =>
  Math.min(aliasTtl, ...records.map(getTtl))

/** A TTL with its highest bit set counts as 0 (RFC 2181, section 8). */
function getTtl(record: PacketRecord): number {
  const ttl = 'ttl' in record ? (record.ttl ?? 0) : 0
  return ttl > 0x7fffffff ? 0 : ttl
}
