import { MAX_QUEUE_RECORDS } from '../../base/constants.ts'
import { ConnectionError } from '../../api/client.ts'
import { connection } from '../../api/connection.ts'
import { undo } from '../work/operations.ts'
import { createStore } from '../../base/store.ts'
import type { Filters } from '../filters/filters.ts'
import { decide } from '../domains/marks.ts'
import { changedRecords, namesBeingDecided, type Mark } from '../domains/optimistic-updates.ts'
import { type DomainRecord, readRecord } from '../domains/records.ts'
import { claim, CLAIM_MS, release, findLostClaim, type LostClaim, triageTabs } from './claims.ts'
import { Decisions, isPending, type Step } from './decisions.ts'

/** Records claimed in advance: enough for a slow connection, few enough to leave work for colleagues. */
const AHEAD = 20
/** More are claimed before they run out. */
const MIN_AHEAD = 10
/** Delay of a refresh after own decisions are stored. */
const RECOUNT_MS = 1_500
/** Delay of a refresh after decisions of others, which arrive in bursts. */
const RECOUNT_OTHERS_MS = 5_000
/** Claims are extended well before they expire. */
const EXTEND_MS = CLAIM_MS * 0.4

export interface TriageQueueState {
  readonly current: DomainRecord | undefined
  readonly next: readonly DomainRecord[]
  /** Number of undecided records that no one else holds; undefined until known. */
  readonly left: number | undefined
  readonly handled: number
  readonly canGoBack: boolean
  /** The claim of the current record is lost: it expired, or someone else decided. */
  readonly lost: LostClaim | undefined
  /** The last answer had no further record. Reading again, after decisions of others, does not change that. */
  readonly isEnd: boolean
  readonly error: unknown
}

const EMPTY: TriageQueueState = {
  current: undefined,
  next: [],
  left: undefined,
  handled: 0,
  canGoBack: false,
  lost: undefined,
  isEnd: false,
  error: undefined,
}

/** The records of a view that this account has claimed, one at a time. Claims more as they are decided. */
export class TriageQueue {
  readonly state = createStore<TriageQueueState>(EMPTY)
  readonly #filters: Filters
  #current: DomainRecord | undefined
  #shownAt = 0
  #tabCount = 0
  #ahead: readonly DomainRecord[] = []
  readonly #decisions = new Decisions()
  #remaining: number | undefined
  #lost: LostClaim | undefined
  #isEnd = false
  #isReading = false
  #isWanted = false
  #error: unknown
  #actedAt = Date.now()
  #claimedAt = 0
  #stop = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #expiry: ReturnType<typeof setTimeout> | undefined

  constructor(filters: Filters) {
    this.#filters = filters
  }

  /** Starts claiming. Returns a function that stops and releases undecided records. */
  start(): () => void {
    this.#stop = new AbortController()
    const leave = changedRecords.subscribe(() => this.#hear())
    const leaveConnection = connection.subscribe(() => this.#reconnect())
    const leaveTabs = triageTabs.subscribe(() => this.#hearTabs())
    const extend = setInterval(() => this.#extend(), EXTEND_MS)
    const { signal } = this.#stop
    const come = () => this.#wake()
    addEventListener('pageshow', come, { signal })
    addEventListener('pagehide', () => this.#release(), { signal })
    document.addEventListener('visibilitychange', come, { signal })
    // Decided in the table, or here before the user went elsewhere: the service does not know it yet.
    this.#decisions.addUncounted(namesBeingDecided())
    void this.#read()
    return () => {
      leave()
      leaveConnection()
      leaveTabs()
      clearInterval(extend)
      clearTimeout(this.#timer)
      clearTimeout(this.#expiry)
      this.#timer = undefined
      this.#stop.abort()
      this.#isReading = false
      this.#release()
    }
  }

  /** Decides on the current record, with a mark or without. */
  decide(mark: Mark | undefined): void {
    const record = this.#current
    this.#actedAt = Date.now()
    if (record === undefined) return
    const handle = decide(record, mark, (_, conflicts) => this.#giveBack(record, conflicts.has(record.name)))
    if (handle === undefined) return
    this.#decisions.add({ record, operation: handle.id })
    this.#current = undefined
    this.#fill()
    void handle.settled.then(() => this.#readSoon())
  }

  /** Undoes the last decision, whose record becomes the current one again. */
  back(): void {
    this.#actedAt = Date.now()
    const last = this.#decisions.takeLast()
    if (last === undefined) return
    const { record, operation } = last.step
    if (last.wasCounted && this.#remaining !== undefined) this.#remaining++
    this.#ahead = [...(this.#current === undefined ? [] : [this.#current]), ...this.#ahead].filter(
      ({ name }) => name !== record.name,
    )
    this.#show(record)
    const handle = undo(operation)
    void handle?.settled.then((outcome) => {
      if (outcome === 'failed') this.#restore(last.step)
      this.#readSoon()
      this.#fill()
    })
    this.#publish()
  }

  /** A decision that could not be undone remains. */
  #restore(step: Step): void {
    const { name } = step.record
    this.#decisions.restore(step)
    this.#ahead = this.#ahead.filter((one) => one.name !== name)
    if (this.#current?.name === name) this.#current = undefined
  }

  /** Skips the current record, whose claim is lost. */
  next(): void {
    this.#actedAt = Date.now()
    this.#current = undefined
    this.#isEnd = false
    this.#fill()
    void this.#read()
  }

  /** Claims the current record again, after a change that was not a decision. */
  extendSoon(): void {
    this.#actedAt = Date.now()
    this.#readSoon()
  }

  /** Claims again, after claims expired or a request failed. */
  retry(): void {
    this.#actedAt = Date.now()
    this.#error = undefined
    this.#isEnd = false
    void this.#read()
  }

  /** Claims again after an outage. */
  #reconnect(): void {
    if (connection.get() !== 'reached' || !(this.#error instanceof ConnectionError)) return
    this.#error = undefined
    void this.#read()
  }

  /** Records whose decision failed come after the current one, which must not change under the user. */
  #giveBack(record: DomainRecord, isConflict: boolean): void {
    this.#decisions.remove(record.name)
    const isThere = [this.#current, ...this.#ahead].some((one) => one?.name === record.name)
    if (!isConflict && !isThere) this.#ahead = [record, ...this.#ahead]
    this.#fill()
  }

  /** Advances to the next record, and claims more if few are left. */
  #fill(): void {
    if (this.#current === undefined) {
      // Others may have claimed by now what was claimed then.
      if (this.#isExpired()) {
        this.#ahead = []
        this.#isEnd = false
      }
      this.#show(this.#ahead.find(({ name }) => triageTabs.find(name) === undefined))
      this.#ahead = this.#ahead.filter((one) => one !== this.#current)
    }
    const isShort = this.#ahead.length < MIN_AHEAD && !this.#isEnd
    if (isShort && this.#error === undefined) void this.#read()
    this.#publish()
  }

  #show(record: DomainRecord | undefined): void {
    this.#current = record
    // The fraction decides between tabs of the same millisecond. Two tabs without a record have no news for each other.
    this.#shownAt = record === undefined ? 0 : Date.now() + Math.random()
    this.#lost = undefined
  }

  /** Leaves names to the tabs that had them first, and those that are decided; takes those that other tabs leave. */
  #hearTabs(): void {
    const decided = triageTabs.decided()
    this.#ahead = this.#ahead.filter(({ name }) => !decided.has(name))
    const { count } = triageTabs
    // What a closed tab releases may have been claimed for this one in the meantime.
    if (count < this.#tabCount) this.#readSoon()
    this.#tabCount = count
    if (this.#isAway()) return
    if (this.#isElsewhere()) this.#show(undefined)
    this.#fill()
  }

  #isElsewhere(): boolean {
    const name = this.#current?.name
    const other = name === undefined || isPending(name) ? undefined : triageTabs.find(name)
    return other !== undefined && (other.shown !== name || other.since < this.#shownAt)
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
    // Pending ones are still held, and come first in the response.
    const { uncounted } = this.#decisions
    const settledBefore = [...uncounted].filter((name) => !isPending(name))
    const shown = this.#current
    const pending = uncounted.size - settledBefore.length
    const before = this.#ahead
    const ahead = Math.max(AHEAD, before.length)
    const limit = Math.min(MAX_QUEUE_RECORDS, pending + triageTabs.busyCount() + ahead + 1)
    const askedAt = Date.now()
    try {
      const { records, remaining } = await claim(this.#filters, limit, signal)
      if (signal.aborted) return
      // After an undo in the meantime another response follows, which has its record.
      if (this.#ahead.every((one) => before.includes(one))) this.#take(records, limit, shown)
      this.#noteClaimed(askedAt)
      this.#remaining = remaining
      this.#error = undefined
      const wasBusy = uncounted.size > settledBefore.length
      this.#decisions.markCounted(settledBefore)
      // Decisions stored during the count may be in it or not.
      if (wasBusy && [...uncounted].some((name) => !isPending(name))) this.#readSoon()
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
    const isNew = ({ name }: DomainRecord) =>
      !this.#decisions.uncounted.has(name) && name !== this.#current?.name
    // The service has those first that were held before: undone ones would come after them.
    const names = this.#ahead.map(({ name }) => name)
    const placeOf = ({ name }: DomainRecord) => (names.includes(name) ? names.indexOf(name) : names.length)
    this.#ahead = records.filter(isNew).toSorted((one, other) => placeOf(one) - placeOf(other))
    this.#isEnd = records.length < limit
    if (shown === undefined || shown !== this.#current) return
    if (this.#isElsewhere()) {
      this.#show(undefined)
      return
    }
    const held = records.find(({ name }) => name === shown.name)
    if (held !== undefined) {
      this.#lost = undefined
      // Show changes of colleagues.
      this.#current = held
    } else if (!isPending(shown.name)) void this.#lose(shown, this.#isExpired() ? 'expired' : 'taken')
  }

  /** Reports that the claim of the current record is lost, and to whom. */
  async #lose(shown: DomainRecord, kind: 'expired' | 'taken'): Promise<void> {
    if (this.#lost === undefined || kind === 'taken') this.#lost = { kind }
    this.#publish()
    const { signal } = this.#stop
    const record = await readRecord(shown.name, signal).catch(() => null)
    if (record === null || signal.aborted || this.#current !== shown || this.#lost === undefined) return
    this.#lost = findLostClaim(record, shown, kind)
    this.#publish()
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
    if (this.#current !== undefined && !isPending(this.#current.name))
      void this.#lose(this.#current, 'expired')
  }

  /** Claims of an inactive user expire, so that others get the names. */
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
    const neededElsewhere = triageTabs.held()
    release(this.#held().filter((name) => !isPending(name) && !neededElsewhere.has(name)))
    this.#claimedAt = 0
    triageTabs.announce(undefined)
  }

  #held(): readonly string[] {
    return [...(this.#current === undefined ? [] : [this.#current]), ...this.#ahead].map(({ name }) => name)
  }

  #readSoon(ms = RECOUNT_MS): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      // A machine that slept runs late what it was to do before.
      if (this.#error === undefined && !this.#isAway()) void this.#read()
    }, ms)
  }

  #publish(): void {
    const { uncounted, handled, canUndo } = this.#decisions
    if (!this.#stop.signal.aborted)
      triageTabs.announce({
        // What is no longer this tab's may be shown by another one.
        shown: this.#lost === undefined ? this.#current?.name : undefined,
        since: this.#shownAt,
        decided: [...uncounted],
        held: this.#held(),
      })
    const left = this.#remaining === undefined ? undefined : Math.max(0, this.#remaining - uncounted.size)
    this.state.set({
      current: this.#current,
      next: this.#ahead.filter(({ name }) => triageTabs.find(name) === undefined).slice(0, 2),
      left,
      handled,
      canGoBack: canUndo,
      lost: this.#lost,
      isEnd: this.#isEnd,
      error: this.#error,
    })
  }
}
