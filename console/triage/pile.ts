import { keyFor } from '../api/session.ts'
import { operations, stateOf, undo } from '../app/operations.ts'
import { createStore } from '../app/store.ts'
import type { Filters } from '../domains/filters.ts'
import { decide } from '../domains/marks.ts'
import { changedRecords, type Mark } from '../domains/overlay.ts'
import type { DomainRecord } from '../domains/records.ts'
import { readRecord } from '../domains/read-records.ts'
import { claim, CLAIM_MS, MAX_CLAIMED, release } from './claims.ts'
import { lostOf, type Lost } from './lost.ts'

/** Claimed ahead: enough for a slow line, few enough that colleagues find work, too. */
const AHEAD = 20
/** More are claimed before they run out. */
const MIN_AHEAD = 10
const MAX_STEPS = 500
/** After own decisions are stored. */
const RECOUNT_MS = 1_500
/** After decisions of others, which come in numbers. */
const RECOUNT_OTHERS_MS = 5_000
/** Claims are extended well before they end. */
const EXTEND_MS = CLAIM_MS * 0.4

export interface PileState {
  readonly current: DomainRecord | undefined
  readonly next: readonly DomainRecord[]
  /** Records that nobody has decided on and nobody else holds; undefined until the service has told. */
  readonly left: number | undefined
  readonly handled: number
  readonly canGoBack: boolean
  /** The claim of the record on top is gone: it ran out, or somebody else decided. */
  readonly lost: Lost | undefined
  readonly isReading: boolean
  readonly error: unknown
}

interface Step {
  readonly record: DomainRecord
  readonly operation: number | undefined
}

const EMPTY: PileState = {
  current: undefined,
  next: [],
  left: undefined,
  handled: 0,
  canGoBack: false,
  lost: undefined,
  isReading: true,
  error: undefined,
}

/** Records of a view that this account has claimed, one at a time, with more claimed as they are used up. */
export class Pile {
  readonly state = createStore<PileState>(EMPTY)
  readonly #filters: Filters
  #current: DomainRecord | undefined
  #ahead: readonly DomainRecord[] = []
  #steps: readonly Step[] = []
  /** Decided here, and perhaps not known to the service's last count. */
  readonly #decided = new Set<string>()
  #handled = 0
  #remaining: number | undefined
  #lost: Lost | undefined
  #isEnd = false
  #isReading = false
  #isWanted = false
  #error: unknown
  #actedAt = Date.now()
  #claimedAt = 0
  #stop = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #expiry: ReturnType<typeof setTimeout> | undefined
  #key: string | undefined

  constructor(filters: Filters) {
    this.#filters = filters
  }

  /** Begins to claim. Returns what ends it and releases what was not decided on. */
  start(): () => void {
    this.#stop = new AbortController()
    this.#key = keyFor('domainwatch')
    const leave = changedRecords.subscribe(() => this.#hear())
    const extend = setInterval(() => this.#extend(), EXTEND_MS)
    const come = () => this.#wake()
    const go = () => this.#release()
    addEventListener('pageshow', come)
    addEventListener('pagehide', go)
    document.addEventListener('visibilitychange', come)
    void this.#read()
    return () => {
      leave()
      clearInterval(extend)
      clearTimeout(this.#timer)
      clearTimeout(this.#expiry)
      this.#timer = undefined
      removeEventListener('pageshow', come)
      removeEventListener('pagehide', go)
      document.removeEventListener('visibilitychange', come)
      this.#stop.abort()
      this.#isReading = false
      this.#release()
    }
  }

  /** Decides on the record on top: with a mark, or that it needs none. */
  decide(mark: Mark | undefined): void {
    const record = this.#current
    this.#actedAt = Date.now()
    if (record === undefined) return
    const handle = decide(record, mark, (_, conflicts) => this.#giveBack(record, conflicts.has(record.name)))
    if (handle === undefined) return
    this.#decided.add(record.name)
    this.#steps = [...this.#steps, { record, operation: handle.id }].slice(-MAX_STEPS)
    this.#handled++
    this.#current = undefined
    this.#fill()
    void handle.settled.then(() => this.#readSoon())
  }

  /** Takes the last decision back: its record is on top again, and exactly its operation is undone. */
  back(): void {
    this.#actedAt = Date.now()
    const step = this.#steps.at(-1)
    if (step === undefined) return
    const { record, operation } = step
    this.#steps = this.#steps.slice(0, -1)
    this.#handled--
    // The service counted it as decided.
    if (!this.#decided.delete(record.name) && this.#remaining !== undefined) this.#remaining++
    this.#ahead = [...(this.#current === undefined ? [] : [this.#current]), ...this.#ahead].filter(
      ({ name }) => name !== record.name,
    )
    this.#current = record
    this.#lost = undefined
    const handle = operation === undefined ? undefined : undo(operation)
    void handle?.settled.then((outcome) => {
      // Somebody changed it since, which the message says: it is not this account's to decide any more.
      if (outcome === 'failed' && this.#current === record) this.#current = undefined
      this.#readSoon()
      this.#fill()
    })
    this.#publish()
  }

  /** Leaves the record on top, whose claim is gone, to others. */
  next(): void {
    this.#actedAt = Date.now()
    this.#current = undefined
    this.#isEnd = false
    this.#fill()
    void this.#read()
  }

  /** Claims the record on top again, after something else than a decision was written. */
  extendSoon(): void {
    this.#actedAt = Date.now()
    this.#readSoon()
  }

  /** Claims anew, after claims ran out or a request failed. */
  retry(): void {
    this.#actedAt = Date.now()
    this.#error = undefined
    this.#isEnd = false
    void this.#read()
  }

  /** What was not stored comes after the name that is looked at: nothing changes under a key about to be pressed. */
  #giveBack(record: DomainRecord, isConflict: boolean): void {
    const before = this.#steps.length
    this.#steps = this.#steps.filter((step) => step.record.name !== record.name)
    this.#handled -= before - this.#steps.length
    this.#decided.delete(record.name)
    const isThere = [this.#current, ...this.#ahead].some((one) => one?.name === record.name)
    if (!isConflict && !isThere) this.#ahead = [record, ...this.#ahead]
    this.#fill()
  }

  /** Puts the next record on top, and claims more where few are left. */
  #fill(): void {
    if (this.#current === undefined) {
      // Others may have claimed by now what was claimed then.
      if (this.#isExpired()) {
        this.#ahead = []
        this.#isEnd = false
      }
      const [first, ...rest] = this.#ahead
      this.#current = first
      this.#ahead = rest
      this.#lost = undefined
    }
    const isShort = this.#ahead.length < MIN_AHEAD && !this.#isEnd
    if (isShort && this.#error === undefined) void this.#read()
    this.#publish()
  }

  async #read(): Promise<void> {
    if (this.#stop.signal.aborted) return
    if (this.#isReading) {
      this.#isWanted = true
      return
    }
    this.#isReading = true
    this.#publish()
    const { signal } = this.#stop
    // Those under way are still held, and come first in the answer.
    const settledBefore = new Set([...this.#decided].filter((name) => !this.#isUnderWay(name)))
    const shown = this.#current
    const limit = Math.min(MAX_CLAIMED, this.#decided.size - settledBefore.size + AHEAD + 1)
    const askedAt = Date.now()
    try {
      const { records, remaining } = await claim(this.#filters, limit, signal)
      if (signal.aborted) return
      this.#take(records, limit, shown)
      this.#noteClaimed(askedAt)
      this.#remaining = remaining
      this.#error = undefined
      const wasBusy = this.#decided.size > settledBefore.size
      for (const name of settledBefore) this.#decided.delete(name)
      // What was stored while the service counted may be in the count or not.
      if (wasBusy && [...this.#decided].some((name) => !this.#isUnderWay(name))) this.#readSoon()
    } catch (error) {
      if (signal.aborted) return
      this.#error = error
    }
    this.#isReading = false
    const isWanted = this.#isWanted
    this.#isWanted = false
    if (isWanted && this.#error === undefined) this.#readSoon()
    this.#fill()
  }

  #take(records: readonly DomainRecord[], limit: number, shown: DomainRecord | undefined): void {
    const isNew = ({ name }: DomainRecord) => !this.#decided.has(name) && name !== this.#current?.name
    this.#ahead = records.filter(isNew)
    this.#isEnd = records.length < limit
    if (shown === undefined || shown !== this.#current) return
    const held = records.find(({ name }) => name === shown.name)
    if (held !== undefined) {
      this.#lost = undefined
      // What colleagues wrote meanwhile is shown.
      this.#current = held
    } else if (!this.#isUnderWay(shown.name)) void this.#lose(shown, this.#isExpired() ? 'expired' : 'taken')
  }

  /** Tells that the claim of the record on top is gone, and to whom. */
  async #lose(shown: DomainRecord, kind: 'expired' | 'taken'): Promise<void> {
    if (this.#lost === undefined || kind === 'taken') this.#lost = { kind }
    this.#publish()
    const { signal } = this.#stop
    const record = await readRecord(shown.name, signal, this.#key).catch(() => null)
    if (record === null || signal.aborted || this.#current !== shown || this.#lost === undefined) return
    this.#lost = lostOf(record, shown, kind)
    this.#publish()
  }

  /** Whether an operation on the record is not through yet. */
  #isUnderWay(name: string): boolean {
    return operations
      .get()
      .some(({ id, subjects }) => subjects.includes(`domain:${name}`) && isBusy(stateOf(id)))
  }

  #isExpired(): boolean {
    return this.#claimedAt > 0 && Date.now() - this.#claimedAt >= CLAIM_MS
  }

  #noteClaimed(at: number): void {
    this.#claimedAt = at
    clearTimeout(this.#expiry)
    this.#expiry = setTimeout(() => this.#tellExpired(), at + CLAIM_MS - Date.now())
  }

  #tellExpired(): void {
    if (this.#current !== undefined && !this.#isUnderWay(this.#current.name))
      void this.#lose(this.#current, 'expired')
  }

  /** Claims of somebody who went away run out, so that others get the names. */
  #isAway(): boolean {
    return Date.now() - this.#actedAt >= CLAIM_MS
  }

  #extend(): void {
    if (!this.#isAway()) void this.#read()
  }

  /** Others decided on records: counts change, and perhaps the record on top is among them. */
  #hear(): void {
    if (!this.#isAway()) {
      this.#readSoon(RECOUNT_OTHERS_MS)
      return
    }
    const shown = this.#current
    const isOpen = this.#lost?.kind === 'expired' || this.#lost?.kind === 'held'
    const isDecided = shown?.seen !== 1 && changedRecords.get().get(shown?.name ?? '')?.seen === 1
    if (shown !== undefined && isOpen && isDecided) void this.#lose(shown, 'taken')
  }

  #wake(): void {
    if (document.visibilityState !== 'visible') return
    this.#actedAt = Date.now()
    if (!this.#isReading && Date.now() - this.#claimedAt > EXTEND_MS) void this.#read()
  }

  #release(): void {
    const held = [...(this.#current === undefined ? [] : [this.#current]), ...this.#ahead]
    release(
      held.map(({ name }) => name).filter((name) => !this.#isUnderWay(name)),
      this.#key,
    )
    this.#claimedAt = 0
  }

  #readSoon(ms = RECOUNT_MS): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      // A machine that slept runs late what it was to do before.
      if (this.#error === undefined && !this.#isAway()) void this.#read()
    }, ms)
  }

  #publish(): void {
    const left = this.#remaining === undefined ? undefined : Math.max(0, this.#remaining - this.#decided.size)
    this.state.set({
      current: this.#current,
      next: this.#ahead.slice(0, 2),
      left,
      handled: this.#handled,
      canGoBack: this.#steps.length > 0,
      lost: this.#lost,
      isReading: this.#isReading,
      error: this.#error,
    })
  }
}

const isBusy = (state: ReturnType<typeof stateOf>): boolean => state === 'waiting' || state === 'running'
