import { randomInt } from 'node:crypto'
import type { Reply } from './classify.ts'
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

/** Pending queries by random id, which only this process knows. */
export class Pending {
  readonly #queries = new Map<number, PendingQuery>()

  get size(): number {
    return this.#queries.size
  }

  /** Adds a query, of at most 32,768 at a time: more would take long to find a free id. @returns its new id */
  add(pendingQuery: PendingQuery): number {
    let id = randomInt(0x1_0000)
    while (this.#queries.has(id)) id = randomInt(0x1_0000)
    this.#queries.set(id, pendingQuery)
    return id
  }

  get(id: number): PendingQuery | undefined {
    return this.#queries.get(id)
  }

  /** Returns whether it was there. */
  delete(id: number, pendingQuery: PendingQuery): boolean {
    return this.#queries.get(id) === pendingQuery && this.#queries.delete(id)
  }

  each(call: (id: number, pendingQuery: PendingQuery) => void): void {
    for (const [id, pendingQuery] of this.#queries) call(id, pendingQuery)
  }

  /** Removes and returns all queries. */
  drain(): PendingQuery[] {
    const all = [...this.#queries.values()]
    this.#queries.clear()
    return all
  }
}
