import type { Asking } from './channel.ts'
import { randomUint16 } from './random.ts'

const FIRST_SLOTS = 64

/**
 * Questions by the id drawn for each. A Map that takes and gives away some ten thousand a second makes a new table every few
 * hundred, and each of them leads to the next: once one has grown old, V8's quick collector keeps all that were ever in
 * it, which came to a quarter of a look-up's time. Here a question is in the slot that the lower bits of its id name, and an
 * id is drawn again while its slot is taken. So it stays as hard to guess: nobody else knows which are.
 */
export class Pending {
  size = 0
  #slots: (Asking | undefined)[] = Array.from({ length: FIRST_SLOTS }, () => undefined)
  #ids = new Uint16Array(FIRST_SLOTS)

  /** At most 32,768 at a time. @returns the new id of a question */
  add(asking: Asking): number {
    if (this.size * 2 >= this.#slots.length) this.#grow()
    const mask = this.#slots.length - 1
    let id = randomUint16()
    while (this.#slots[id & mask] !== undefined) id = randomUint16()
    this.#slots[id & mask] = asking
    this.#ids[id & mask] = id
    this.size++
    return id
  }

  get(id: number): Asking | undefined {
    const slot = id & (this.#slots.length - 1)
    return this.#ids[slot] === id ? this.#slots[slot] : undefined
  }

  /** @returns whether it was there */
  delete(id: number, asking: Asking): boolean {
    const slot = id & (this.#slots.length - 1)
    if (this.#ids[slot] !== id || this.#slots[slot] !== asking) return false
    this.#slots[slot] = undefined
    this.size--
    return true
  }

  /** Calls for each that is there, with its id. */
  each(call: (id: number, asking: Asking) => void): void {
    for (const [slot, asking] of this.#slots.entries()) {
      if (asking !== undefined) call(this.#ids[slot] ?? 0, asking)
    }
  }

  /** Takes all out. */
  drain(): Asking[] {
    const all = this.#slots.filter((asking) => asking !== undefined)
    this.#slots.fill(undefined)
    this.size = 0
    return all
  }

  /** Slots that differ in few bits of the id do so in more. */
  #grow(): void {
    const [slots, ids] = [this.#slots, this.#ids]
    this.#slots = Array.from({ length: 2 * slots.length }, () => undefined)
    this.#ids = new Uint16Array(this.#slots.length)
    for (const [slot, asking] of slots.entries()) {
      if (asking === undefined) continue
      const id = ids[slot] ?? 0
      this.#slots[id & (this.#slots.length - 1)] = asking
      this.#ids[id & (this.#slots.length - 1)] = id
    }
  }
}
