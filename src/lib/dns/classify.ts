import type { Message, ResourceRecord } from './message.ts'
import type { ServerRole, Conclusion, Reply } from './outcomes.ts'
import { canonicalOrder, type RecordValue, type QueryType } from './record-data.ts'

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
    return authoritative || type !== 'ns' ? FAILED : answerFound(authorities, name, undefined)
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
  aliasTtl: number | undefined,
): Reply | undefined {
  const values: RecordValue[] = []
  let ttl = aliasTtl ?? Number.POSITIVE_INFINITY
  for (const record of answers) {
    if (record.type !== 'DATA' || record.name !== owner) continue
    values.push(record.data)
    ttl = Math.min(ttl, ttlOf(record))
  }
  if (values.length === 0) return undefined
  return conclude({ kind: 'records', records: canonicalOrder(values) }, ttl)
}

function answerFound(records: readonly ResourceRecord[], owner: string, aliasTtl: number | undefined): Reply {
  let [one, other] = ['', '']
  /** All targets, if there are more than two. */
  let targets: string[] | undefined
  let count = 0
  let ttl = aliasTtl ?? Number.POSITIVE_INFINITY
  for (const record of records) {
    if (record.type !== 'NS' || record.name !== owner || !HOST_NAME.test(record.target)) continue
    ttl = Math.min(ttl, ttlOf(record))
    if (++count === 1) one = record.target
    else if (count === 2) other = record.target
    else (targets ??= [one, other]).push(record.target)
  }
  // No record for the name, or none whose target is a host name.
  if (count === 0) return FAILED
  return conclude(count === 2 ? foundAtBoth(one, other) : foundAt(targets ?? [one]), ttl)
}

const foundAt = (servers: string[]): Conclusion => ({ kind: 'found', servers: [...new Set(servers.sort())] })

/**
 * Shared answers with two name servers, the usual number: a few hosting companies serve most domains, so one object serves
 * many names of the cache.
 */
const PAIRS = new Map<string, Map<string, Conclusion>>()
const MAX_PAIRS = 4_096
let pairs = 0

function foundAtBoth(one: string, other: string): Conclusion {
  if (one >= other) return one === other ? foundAt([one]) : foundAtBoth(other, one)
  let answers = PAIRS.get(one)
  const known = answers?.get(other)
  if (known !== undefined) return known
  if (pairs++ >= MAX_PAIRS) {
    PAIRS.clear()
    answers = undefined
    pairs = 1
  }
  if (answers === undefined) PAIRS.set(one, (answers = new Map()))
  const answer = { kind: 'found', servers: [one, other] } as const
  answers.set(other, answer)
  return answer
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
