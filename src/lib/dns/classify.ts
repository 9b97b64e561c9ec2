import type { Message, ResourceRecord } from './message.ts'
import type { Asked, Conclusion, Reply } from './outcomes.ts'

const AUTHORITATIVE = 0x0400
const RECURSION_AVAILABLE = 0x0080

const NO_ERROR = 0
const NAME_ERROR = 3
/** NOTIMP, REFUSED, NOTAUTH, NOTZONE: the server will not serve us, whatever the name. */
const REFUSALS: ReadonlySet<number> = new Set([4, 5, 9, 10])

/** A longer chain of aliases is a loop or an attack. */
const MAX_ALIASES = 16

const FAILED: Reply = { kind: 'failed' }

/**
 * What a well-formed answer to the NS question for `name` says. `rcode` is the header's; the upper bits come from
 * the OPT record. Of the zone's own servers only what they own is believed, and the delegation: one that is no longer
 * theirs may still look things up, or answer from a copy.
 */
export function classify(message: Message, rcode: number, name: string, asked: Asked = 'resolver'): Reply {
  const { answers, authorities } = message
  // BADVERS and the like look like NOERROR in the header alone.
  if (message.extendedRcode > 0) return FAILED
  if (REFUSALS.has(rcode)) return { kind: 'refused' }
  if (rcode !== NO_ERROR && rcode !== NAME_ERROR) return FAILED

  const authoritative = (message.flags & AUTHORITATIVE) !== 0
  const recursive = asked === 'resolver' && (message.flags & RECURSION_AVAILABLE) !== 0
  const alias = answers.length > 0 ? followAliases(answers, name) : undefined
  const last = alias?.target ?? name
  if (rcode === NO_ERROR && hasServers(answers, last)) {
    // A server of the parent that is one of the child's as well answers with the child's own records.
    return asked === 'resolver' || authoritative ? answerFound(answers, last, alias?.ttl) : FAILED
  }

  // Only who owns the data or has looked for them can say that there are none.
  const credible = authoritative || recursive
  const soaTtl = negativeTtl(authorities, last)
  // The response code is about the end of the chain (RFC 6604); the name asked about exists, as an alias.
  if (alias !== undefined) {
    return credible ? conclude({ kind: 'empty' }, Math.min(alias.ttl, soaTtl ?? alias.ttl)) : FAILED
  }
  if (rcode === NAME_ERROR) return credible ? conclude({ kind: 'no-such-name' }, soaTtl ?? 0) : FAILED
  if (soaTtl !== undefined) return credible ? conclude({ kind: 'empty' }, soaTtl) : FAILED

  // A referral. That of the parent's server is the delegation itself; any other leads up or astray.
  if (hasServers(authorities)) {
    return authoritative ? FAILED : answerFound(authorities, name, undefined)
  }
  // Without an SOA it must not be kept (RFC 2308, section 5), and only a recursive server is believed.
  return recursive ? conclude({ kind: 'empty' }, 0) : FAILED
}

/** Of that name; without one, of any. */
function hasServers(records: readonly ResourceRecord[], owner?: string): boolean {
  for (const { type, name } of records)
    if (type === 'NS' && (owner === undefined || name === owner)) return true
  return false
}

function conclude(answer: Conclusion, ttl: number): Reply {
  return { kind: 'answer', answer, ttl }
}

function answerFound(records: readonly ResourceRecord[], owner: string, aliasTtl: number | undefined): Reply {
  let [one, other] = ['', '']
  /** All of them, where there are more than two. */
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
  // No record for the name, or none whose target could be the name of a host.
  if (count === 0) return FAILED
  return conclude(count === 2 ? foundAtBoth(one, other) : foundAt(targets ?? [one]), ttl)
}

const foundAt = (servers: string[]): Conclusion => ({ kind: 'found', servers: [...new Set(servers.sort())] })

/**
 * Answers with two servers, as most are, given before: a few hosting companies serve most domains, and the cache that keeps
 * one answer for many names takes less memory, and less of the collector's time.
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

/** Where a chain of CNAMEs that starts at the name ends, with the chain's least TTL; undefined without a chain. */
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

/** RFC 2308, section 5: the lesser of the SOA's own TTL and its MINIMUM. Undefined without an SOA above the name. */
function negativeTtl(authorities: readonly ResourceRecord[], name: string): number | undefined {
  for (const record of authorities) {
    if (record.type !== 'SOA') continue
    const zone = record.name
    if (zone === '' || zone === name || name.endsWith(`.${zone}`))
      return Math.min(ttlOf(record), record.minimum)
  }
  return undefined
}

/** RFC 2181, section 8: a TTL with its highest bit set counts as 0. */
function ttlOf(record: ResourceRecord): number {
  return record.ttl > 0x7fffffff ? 0 : record.ttl
}

// Labels may hold any octet, which a decoded name shows as an escape: what is no name of a host is left out. The root is empty.
const HOST_NAME = /^[a-z0-9_.-]+$/
