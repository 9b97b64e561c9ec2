import { MAX_QUEUE_RECORDS } from '../api/constants.ts'
import { ConnectionError } from '../api/client.ts'
import { connection } from '../api/connection.ts'
import { keyFor } from '../api/session.ts'
import { operations, stateOf, undo } from '../app/operations.ts'
import { OtherTabs } from '../app/other-tabs.ts'
import { createStore } from '../app/store.ts'
import type { Filters } from '../filters/filters.ts'
import { decide } from '../domains/marks.ts'
import { changedRecords, type Mark } from '../domains/optimistic-updates.ts'
import type { DomainRecord } from '../domains/records.ts'
import { readRecord } from '../domains/read-record.ts'
import { claim, CLAIM_MS, release } from './claims.ts'
import { lostClaimOf, type LostClaim } from './lost-claim.ts'

/** Records claimed in advance: enough for a slow connection, few enough to leave work for colleagues. */
const AHEAD = 20
/** More are claimed before they run out. */
const MIN_AHEAD = 10
const MAX_STEPS = 500
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

/** What a tab shows, so that another of the same account, which holds the same claims, shows something else. */
interface TriageTab {
  readonly shown: string | undefined
  /** When it was shown: of two tabs that come to one name together, the first keeps it. */
  readonly since: number
  /** Names whose decision may not be stored yet. */
  readonly decided: readonly string[]
  /** Names that it shows, or will. */
  readonly held: readonly string[]
}

const tabs = new OtherTabs<TriageTab>('triage')

interface Step {
  readonly record: DomainRecord
  readonly operation: number
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
  #steps: readonly Step[] = []
  /** Decided here, and possibly not in the service's last count. */
  readonly #decided = new Set<string>()
  #handled = 0
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
  #key: string | undefined

  constructor(filters: Filters) {
    this.#filters = filters
  }

  /** Starts claiming. Returns a function that stops and releases undecided records. */
  start(): () => void {
    this.#stop = new AbortController()
    this.#key = keyFor('domainwatch')
    const leave = changedRecords.subscribe(() => this.#hear())
    const leaveConnection = connection.subscribe(() => this.#reconnect())
    const leaveTabs = tabs.states.subscribe(() => this.#hearTabs())
    const extend = setInterval(() => this.#extend(), EXTEND_MS)
    const come = () => this.#wake()
    const go = () => this.#release()
    addEventListener('pageshow', come)
    addEventListener('pagehide', go)
    document.addEventListener('visibilitychange', come)
    void this.#read()
    return () => {
      leave()
      leaveConnection()
      leaveTabs()
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

  /** Decides on the current record, with a mark or without. */
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

  /** Undoes the last decision, whose record becomes the current one again. */
  back(): void {
    this.#actedAt = Date.now()
    const step = this.#steps.at(-1)
    if (step === undefined || !this.#canGoBack()) return
    const { record, operation } = step
    this.#steps = this.#steps.slice(0, -1)
    this.#handled--
    // The service had counted it as decided.
    if (!this.#decided.delete(record.name) && this.#remaining !== undefined) this.#remaining++
    this.#ahead = [...(this.#current === undefined ? [] : [this.#current]), ...this.#ahead].filter(
      ({ name }) => name !== record.name,
    )
    this.#show(record)
    const handle = undo(operation)
    void handle?.settled.then((outcome) => {
      if (outcome === 'failed') this.#keepStep(step)
      this.#readSoon()
      this.#fill()
    })
    this.#publish()
  }

  /** A decision that could not be undone stands, and can be undone again. */
  #keepStep(step: Step): void {
    const { name } = step.record
    this.#steps = [...this.#steps, step].toSorted((one, other) => one.operation - other.operation)
    this.#handled++
    this.#decided.add(name)
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
    const before = this.#steps.length
    this.#steps = this.#steps.filter((step) => step.record.name !== record.name)
    this.#handled -= before - this.#steps.length
    this.#decided.delete(record.name)
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
      this.#show(this.#ahead.find(({ name }) => this.#tabWith(name) === undefined))
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

  /** The tab that shows a name or has decided on it. */
  #tabWith(name: string): TriageTab | undefined {
    return tabs.states.get()?.find(({ shown, decided }) => shown === name || decided.includes(name))
  }

  /** Leaves names to the tabs that had them first, and those that are decided; takes those that other tabs leave. */
  #hearTabs(): void {
    const decided = new Set(tabs.states.get()?.flatMap((tab) => tab.decided))
    this.#ahead = this.#ahead.filter(({ name }) => !decided.has(name))
    const count = tabs.states.get()?.length ?? 0
    // What a closed tab releases may have been claimed for this one in the meantime.
    if (count < this.#tabCount) this.#readSoon()
    this.#tabCount = count
    if (this.#isAway()) return
    if (this.#isElsewhere()) this.#show(undefined)
    this.#fill()
  }

  #isElsewhere(): boolean {
    const name = this.#current?.name
    const other = name === undefined || this.#isUnderWay(name) ? undefined : this.#tabWith(name)
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
    const settledBefore = new Set([...this.#decided].filter((name) => !this.#isUnderWay(name)))
    const shown = this.#current
    const busyElsewhere = (tabs.states.get() ?? []).reduce((n, { decided }) => n + decided.length + 1, 0)
    const limit = Math.min(
      MAX_QUEUE_RECORDS,
      this.#decided.size - settledBefore.size + busyElsewhere + AHEAD + 1,
    )
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
      // Decisions stored during the count may be in it or not.
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
    if (this.#isElsewhere()) {
      this.#show(undefined)
      return
    }
    const held = records.find(({ name }) => name === shown.name)
    if (held !== undefined) {
      this.#lost = undefined
      // Show changes of colleagues.
      this.#current = held
    } else if (!this.#isUnderWay(shown.name)) void this.#lose(shown, this.#isExpired() ? 'expired' : 'taken')
  }

  /** Reports that the claim of the current record is lost, and to whom. */
  async #lose(shown: DomainRecord, kind: 'expired' | 'taken'): Promise<void> {
    if (this.#lost === undefined || kind === 'taken') this.#lost = { kind }
    this.#publish()
    const { signal } = this.#stop
    const record = await readRecord(shown.name, signal, this.#key).catch(() => null)
    if (record === null || signal.aborted || this.#current !== shown || this.#lost === undefined) return
    this.#lost = lostClaimOf(record, shown, kind)
    this.#publish()
  }

  /** Whether an operation on the record is pending. */
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
    const neededElsewhere = new Set(tabs.states.get()?.flatMap(({ held }) => held))
    release(
      this.#held().filter((name) => !this.#isUnderWay(name) && !neededElsewhere.has(name)),
      this.#key,
    )
    this.#claimedAt = 0
    tabs.announce(undefined)
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

  /** The log of operations keeps only the newest. */
  #canGoBack(): boolean {
    const step = this.#steps.at(-1)
    return step !== undefined && stateOf(step.operation) !== undefined
  }

  #publish(): void {
    if (!this.#stop.signal.aborted)
      tabs.announce({
        // What is no longer this tab's may be shown by another one.
        shown: this.#lost === undefined ? this.#current?.name : undefined,
        since: this.#shownAt,
        decided: [...this.#decided],
        held: this.#held(),
      })
    const left = this.#remaining === undefined ? undefined : Math.max(0, this.#remaining - this.#decided.size)
    this.state.set({
      current: this.#current,
      next: this.#ahead.filter(({ name }) => this.#tabWith(name) === undefined).slice(0, 2),
      left,
      handled: this.#handled,
      canGoBack: this.#canGoBack(),
      lost: this.#lost,
      isEnd: this.#isEnd,
      error: this.#error,
    })
  }
}

const isBusy = (state: ReturnType<typeof stateOf>): boolean => state === 'waiting' || state === 'running'
