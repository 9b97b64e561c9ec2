/** Of the wheel, in milliseconds: no wait ends early, and none this much late while the loop is free. */
const TICK_MS = 5
/** Four rounds of a wheel see the longest wait of a look-up through; a wait that takes longer stays for another round. */
const SPOKES = 256

const UNSET = -1
const ENDED = -2

/** Something that can wait, for one moment at a time. The wheel links those of one spoke through their fields. */
export abstract class Wait {
  /** When it ends, in ticks. */
  dueAt = UNSET
  before: Wait | undefined
  after: Wait | undefined

  /** The wait is over; another may be set. */
  abstract waited(): void
}

/**
 * The waits of all look-ups on one timer. Each look-up has one, and hardly any is ever waited out: setting and clearing
 * are what has to be cheap. The timer runs, and keeps the process up, only while somebody waits.
 */
export class Waits {
  readonly #spokes: (Wait | undefined)[] = Array.from({ length: SPOKES }, () => undefined)
  readonly #now: () => number
  #count = 0
  /** The last tick that has been seen to. */
  #seenTo = 0
  #timer: NodeJS.Timeout | undefined

  /** @param now milliseconds from 0 on, on any clock that does not go back */
  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /** From now on, in place of what the wait was set to before. */
  set(wait: Wait, milliseconds: number): void {
    this.clear(wait)
    const now = this.#now()
    if (this.#timer === undefined) {
      this.#seenTo = Math.floor(now / TICK_MS)
      this.#timer = setInterval(this.#turn, TICK_MS)
    }
    const dueAt = Math.max(this.#seenTo + 1, Math.ceil((now + milliseconds) / TICK_MS))
    const spoke = dueAt % SPOKES
    const first = this.#spokes[spoke]
    wait.dueAt = dueAt
    wait.after = first
    if (first !== undefined) first.before = wait
    this.#spokes[spoke] = wait
    this.#count++
  }

  clear(wait: Wait): void {
    if (wait.dueAt >= 0) this.#unlink(wait)
    wait.dueAt = UNSET
  }

  #unlink(wait: Wait): void {
    const { before, after } = wait
    if (before === undefined) this.#spokes[wait.dueAt % SPOKES] = after
    else before.after = after
    if (after !== undefined) after.before = before
    wait.before = wait.after = undefined
    if (--this.#count > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  readonly #turn = (): void => {
    const tick = Math.floor(this.#now() / TICK_MS)
    // All are taken off before the first is told: what it does may set and clear any of them.
    const ended: Wait[] = []
    // After a standstill once around is enough.
    for (let at = Math.max(this.#seenTo, tick - SPOKES) + 1; at <= tick; at++) {
      let wait = this.#spokes[at % SPOKES]
      while (wait !== undefined) {
        const next = wait.after
        if (wait.dueAt <= tick) {
          this.#unlink(wait)
          wait.dueAt = ENDED
          ended.push(wait)
        }
        wait = next
      }
    }
    this.#seenTo = tick
    for (const wait of ended) {
      if (wait.dueAt !== ENDED) continue
      wait.dueAt = UNSET
      wait.waited()
    }
  }
}
