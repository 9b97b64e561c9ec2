import { randomUint16 } from './random.ts'
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

const FIRST_SLOTS = 64

/**
 * Pending queries by random id. A Map with ten thousand insertions and deletions a second reallocates its table
 * every few hundred, and each old table references the next: once one is in the old generation, V8's scavenger
 * keeps everything after it alive, which cost a quarter of a look-up. Here, the lower bits of the id select the
 * slot, and an id is drawn again while its slot is taken. Ids stay unpredictable, because only this process knows
 * which slots are taken.
 */
export class Pending {
  size = 0
  #slots: (PendingQuery | undefined)[] = Array.from({ length: FIRST_SLOTS }, () => undefined)
  #ids = new Uint16Array(FIRST_SLOTS)

  /** Adds a query, of at most 32,768 at a time. @returns its new id */
  add(pendingQuery: PendingQuery): number {
    if (this.size * 2 >= this.#slots.length) this.#grow()
    const mask = this.#slots.length - 1
    let id = randomUint16()
    while (this.#slots[id & mask] !== undefined) id = randomUint16()
    this.#slots[id & mask] = pendingQuery
    this.#ids[id & mask] = id
    this.size++
    return id
  }

  get(id: number): PendingQuery | undefined {
    const slot = id & (this.#slots.length - 1)
    return this.#ids[slot] === id ? this.#slots[slot] : undefined
  }

  /** Removes a query. @returns whether it was pending */
  delete(id: number, pendingQuery: PendingQuery): boolean {
    const slot = id & (this.#slots.length - 1)
    if (this.#ids[slot] !== id || this.#slots[slot] !== pendingQuery) return false
    this.#slots[slot] = undefined
    this.size--
    return true
  }

  /** Calls `call` for each pending query with its id. */
  each(call: (id: number, pendingQuery: PendingQuery) => void): void {
    for (const [slot, pendingQuery] of this.#slots.entries()) {
      if (pendingQuery !== undefined) call(this.#ids[slot] ?? 0, pendingQuery)
    }
  }

  /** Removes and returns all queries. */
  drain(): PendingQuery[] {
    const all = this.#slots.filter((pendingQuery) => pendingQuery !== undefined)
    this.#slots.fill(undefined)
    this.size = 0
    return all
  }

  /**
   * Doubles the table. Queries in different slots stay in different slots, because the slot gains a bit of the id.
   */
  #grow(): void {
    const [slots, ids] = [this.#slots, this.#ids]
    this.#slots = Array.from({ length: 2 * slots.length }, () => undefined)
    this.#ids = new Uint16Array(this.#slots.length)
    for (const [slot, pendingQuery] of slots.entries()) {
      if (pendingQuery === undefined) continue
      const id = ids[slot] ?? 0
      this.#slots[id & (this.#slots.length - 1)] = pendingQuery
      this.#ids[id & (this.#slots.length - 1)] = id
    }
  }
}
