/** What the DNS says about the name servers of a name. Every expected outcome is a value; nothing here is thrown. */
export type NameServerAnswer = Conclusion | Failure

/** Statements about the name itself, as opposed to troubles on the way to one. */
export type Conclusion =
  /** Lower-case host names without trailing dot, sorted, each once; never an empty list. */
  | { readonly kind: 'found'; readonly servers: readonly string[] }
  /** The name exists and has no name servers of its own. */
  | { readonly kind: 'empty' }
  /** NXDOMAIN. */
  | { readonly kind: 'no-such-name' }

/** Whom a question is for: a server that looks for the answer, or one of those that own the zone above the name. */
export type Asked = 'resolver' | 'parent'

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

/** Says nothing about whether the name exists. */
export type Failure =
  /** Every server that answered refused to serve us (REFUSED, NOTAUTH, NOTIMP, NOTZONE). */
  | { readonly kind: 'refused' }
  /** SERVFAIL, FORMERR, garbage, a lame referral, or no server that can be reached at all. */
  | { readonly kind: 'failed' }
  /** Nobody answered within the deadline. */
  | { readonly kind: 'timeout' }
  /** Too many questions in flight; this one was not asked. */
  | { readonly kind: 'overloaded' }

/** How one server ended for one look-up, short of a conclusion. */
export type ServerFailure = 'refused' | 'failed' | 'unreachable' | 'silent'

/**
 * The outcome of a look-up in which no server gave a conclusion.
 *
 * SERVFAIL beats silence: that server did try, and it says that the name cannot be resolved now. Silence beats a
 * refusal: the refusal is about us, not about the name, and the silent server was the one that might have known.
 * A server that cannot be reached at all counts only when there is no other: it never had a say.
 */
export function combineFailures(failures: readonly ServerFailure[]): Failure {
  if (failures.includes('failed')) return { kind: 'failed' }
  if (failures.includes('silent')) return { kind: 'timeout' }
  if (failures.includes('refused')) return { kind: 'refused' }
  return { kind: 'failed' }
}
