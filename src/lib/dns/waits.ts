/** Resolution of the wheel, in milliseconds: no wait ends early, and on a free event loop none is this late. */
const TICK_MS = 5
/** The longest wait of a look-up takes four rounds of the wheel; a longer one stays for another round. */
const SPOKES = 256

const UNSET = -1
const ENDED = -2

/** A timer that can be set for one time. The wheel links the timers of a spoke through these fields. */
export abstract class Wait {
  /** When it is due, in ticks. */
  dueTick = UNSET
  before: Wait | undefined
  after: Wait | undefined

  /** Called when the wait is over; it may set another. */
  abstract waited(): void
}

/**
 * A timer wheel for the waits of all look-ups. Setting and clearing are cheap, because hardly any wait runs to its
 * end. The timer runs, and keeps the process alive, only while a wait is set.
 */
export class Waits {
  readonly #spokes: (Wait | undefined)[] = Array.from({ length: SPOKES }, () => undefined)
  readonly #now: () => number
  #count = 0
  /** The last tick that was processed. */
  #processed = 0
  #timer: NodeJS.Timeout | undefined

  /** @param now a monotonic clock, in milliseconds */
  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /** Sets or resets a wait. */
  set(wait: Wait, milliseconds: number): void {
    this.clear(wait)
    const now = this.#now()
    if (this.#timer === undefined) {
      this.#processed = Math.floor(now / TICK_MS)
      this.#timer = setInterval(this.#turn, TICK_MS)
    }
    const dueTick = Math.max(this.#processed + 1, Math.ceil((now + milliseconds) / TICK_MS))
    const spoke = dueTick % SPOKES
    const first = this.#spokes[spoke]
    wait.dueTick = dueTick
    wait.after = first
    if (first !== undefined) first.before = wait
    this.#spokes[spoke] = wait
    this.#count++
  }

  clear(wait: Wait): void {
    if (wait.dueTick >= 0) this.#unlink(wait)
    wait.dueTick = UNSET
  }

  #unlink(wait: Wait): void {
    const { before, after } = wait
    if (before === undefined) this.#spokes[wait.dueTick % SPOKES] = after
    else before.after = after
    if (after !== undefined) after.before = before
    wait.before = wait.after = undefined
    if (--this.#count > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  readonly #turn = (): void => {
    const tick = Math.floor(this.#now() / TICK_MS)
    // Unlinks all due waits before calling the first, because it may set and clear any of them.
    const ended: Wait[] = []
    // After the event loop was blocked, one round is enough.
    for (let at = Math.max(this.#processed, tick - SPOKES) + 1; at <= tick; at++) {
      let wait = this.#spokes[at % SPOKES]
      while (wait !== undefined) {
        const next = wait.after
        if (wait.dueTick <= tick) {
          this.#unlink(wait)
          wait.dueTick = ENDED
          ended.push(wait)
        }
        wait = next
      }
    }
    this.#processed = tick
    for (const wait of ended) {
      if (wait.dueTick !== ENDED) continue
      wait.dueTick = UNSET
      wait.waited()
    }
  }
}
