import type { Reply } from './outcomes.ts'
import type { Query } from './wire.ts'

/** What came of asking one server: its reply, or word that it cannot be reached. */
export type ServerReply = Exclude<Reply, { kind: 'mismatch' }> | { readonly kind: 'unreachable' }

/** One question put to one server. It is told once how that ended, never before `ask` returns, never after `forget`. */
export interface Asking {
  readonly query: Query
  replied(reply: ServerReply): void
  /** The connection gave it up, which says nothing about the server: to be asked by datagram. */
  dropped(): void
}

/** A way to one server. */
export interface Channel {
  /** @returns the id by which to forget it */
  ask(asking: Asking): number
  forget(id: number, asking: Asking): void
}
