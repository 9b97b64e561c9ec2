import type { Reply } from './outcomes.ts'
import type { Query } from './wire.ts'

/** The outcome of a query to one server: its reply, or that it is unreachable. */
export type ServerReply = Exclude<Reply, { kind: 'mismatch' }> | { readonly kind: 'unreachable' }

/** A query to one server. Its outcome is reported once, never before `ask` returns and never after `forget`. */
export interface PendingQuery {
  readonly query: Query
  replied(reply: ServerReply): void
  /** The connection dropped the query, which says nothing about the server: send it over UDP. */
  dropped(): void
}

/** A transport to one server. */
export interface Channel {
  /** @returns the id for `forget` */
  ask(pendingQuery: PendingQuery): number
  forget(id: number, pendingQuery: PendingQuery): void
}
