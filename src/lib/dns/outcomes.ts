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
