import type { RecordValue } from './record-data.ts'

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

/** How a server failed in a look-up. */
export type ServerFailure = 'refused' | 'failed' | 'unreachable' | 'silent'

/**
 * Returns the outcome of a look-up in which every server failed.
 *
 * SERVFAIL takes precedence over silence, because that server tried and could not resolve the name. Silence takes precedence
 * over a refusal, which is about the client and not about the name. An unreachable server counts only if there is no other.
 */
export function combineFailures(failures: readonly ServerFailure[]): Failure {
  if (failures.includes('failed')) return { kind: 'failed' }
  if (failures.includes('silent')) return { kind: 'timeout' }
  if (failures.includes('refused')) return { kind: 'refused' }
  return { kind: 'failed' }
}
