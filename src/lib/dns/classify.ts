import type { Message, ResourceRecord } from './message.ts'
import { canonicalOrder, type RecordValue, type QueryType } from './record-data.ts'

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

/** What one message from a server amounts to. */
export type Reply =
  /** Not a response to this query: stray, late or forged. The real one may still arrive. */
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'truncated' }
  /** The server does not support EDNS (RFC 6891, section 7): repeat the query without it. */
  | { readonly kind: 'no-edns' }
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

const AUTHORITATIVE = 0x0400
const RECURSION_AVAILABLE = 0x0080

const NO_ERROR = 0
const NAME_ERROR = 3
/** NOTIMP, REFUSED, NOTAUTH, NOTZONE: the server does not serve this client, whatever the name. */
const REFUSALS: ReadonlySet<number> = new Set([4, 5, 9, 10])

/** A longer CNAME chain is a loop or an attack. */
const MAX_ALIASES = 16

const FAILED: Reply = { kind: 'failed' }

/**
 * Classifies a well-formed response. `rcode` is the header's; the upper bits come from the OPT record. From a server of the
 * parent zone, only authoritative data and the delegation count: a server that lost the zone may still answer from a cache.
 */
export function classify(
  message: Message,
  rcode: number,
  name: string,
  role: ServerRole = 'resolver',
  type: QueryType = 'ns',
): Reply {
  const { answers, authorities } = message
  // In the header alone, BADVERS and other extended codes look like NOERROR.
  if (message.extendedRcode > 0) return FAILED
  if (REFUSALS.has(rcode)) return { kind: 'refused' }
  if (rcode !== NO_ERROR && rcode !== NAME_ERROR) return FAILED

  const authoritative = (message.flags & AUTHORITATIVE) !== 0
  const recursive = role === 'resolver' && (message.flags & RECURSION_AVAILABLE) !== 0
  const alias = answers.length > 0 ? followAliases(answers, name) : undefined
  const last = alias?.target ?? name
  if (rcode === NO_ERROR && type === 'ns' && hasServers(answers, last)) {
    // A server of the parent zone that also serves the child answers with the child's own records.
    return role === 'resolver' || authoritative ? answerFound(answers, last, alias?.ttl) : FAILED
  }
  if (rcode === NO_ERROR && type !== 'ns') {
    const found = recordsFound(answers, last, alias?.ttl)
    if (found !== undefined) return found
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
  if (hasServers(authorities)) {
    return authoritative || type !== 'ns' ? FAILED : answerFound(authorities, name)
  }
  // Without an SOA it must not be cached (RFC 2308, section 5), and only a resolver is trusted.
  return recursive ? conclude({ kind: 'empty' }, 0) : FAILED
}

/** Returns true if there are NS records of `owner`, or of any name if it is undefined. */
function hasServers(records: readonly ResourceRecord[], owner?: string): boolean {
  for (const { type, name } of records)
    if (type === 'NS' && (owner === undefined || name === owner)) return true
  return false
}

function conclude(answer: Conclusion, ttl: number): Reply {
  return { kind: 'answer', answer, ttl }
}

/** Returns undefined if the answer section has no records of the queried type for `owner`. Records of other names are ignored. */
function recordsFound(
  answers: readonly ResourceRecord[],
  owner: string,
  aliasTtl = Number.POSITIVE_INFINITY,
): Reply | undefined {
  const values: RecordValue[] = []
  let ttl = aliasTtl
  for (const record of answers) {
    if (record.type !== 'DATA' || record.name !== owner) continue
    values.push(record.data)
    ttl = Math.min(ttl, ttlOf(record))
  }
  if (values.length === 0) return undefined
  return conclude({ kind: 'records', records: canonicalOrder(values) }, ttl)
}

function answerFound(
  records: readonly ResourceRecord[],
  owner: string,
  aliasTtl = Number.POSITIVE_INFINITY,
): Reply {
  const servers = new Set<string>()
  let ttl = aliasTtl
  for (const record of records) {
    if (record.type !== 'NS' || record.name !== owner || !HOST_NAME.test(record.target)) continue
    servers.add(record.target)
    ttl = Math.min(ttl, ttlOf(record))
  }
  // No record for the name, or none whose target is a host name.
  if (servers.size === 0) return FAILED
  return conclude({ kind: 'found', servers: [...servers].toSorted() }, ttl)
}

/** Returns the end of the CNAME chain of a name, with its lowest TTL; undefined if the name has no CNAME. */
function followAliases(
  answers: readonly ResourceRecord[],
  name: string,
): { target: string; ttl: number } | undefined {
  let target = name
  let ttl = Number.POSITIVE_INFINITY
  for (let hops = 0; hops < MAX_ALIASES; hops++) {
    const record = answers.find(({ type, name: owner }) => type === 'CNAME' && owner === target)
    if (record?.type !== 'CNAME') break
    target = record.target
    ttl = Math.min(ttl, ttlOf(record))
  }
  return ttl === Number.POSITIVE_INFINITY ? undefined : { target, ttl }
}

/** Returns the lower of the SOA's TTL and MINIMUM (RFC 2308, section 5); undefined without an SOA of a zone above the name. */
function negativeTtl(authorities: readonly ResourceRecord[], name: string): number | undefined {
  for (const record of authorities) {
    if (record.type !== 'SOA') continue
    const zone = record.name
    if (zone === '' || zone === name || name.endsWith(`.${zone}`))
      return Math.min(ttlOf(record), record.minimum)
  }
  return undefined
}

/** A TTL with its highest bit set counts as 0 (RFC 2181, section 8). */
function ttlOf(record: ResourceRecord): number {
  return record.ttl > 0x7fffffff ? 0 : record.ttl
}

// Labels may hold any octet, and decoded names contain escapes: names that are not host names are dropped. The root
// is empty.
const HOST_NAME = /^[a-z0-9_.-]+$/
