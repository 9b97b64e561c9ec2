import { ask } from '../api/client.ts'
import { operations, stateOf, undo } from '../app/operations.ts'
import { createStore } from '../app/store.ts'
import { queryOf, type Filters } from '../domains/filters.ts'
import { setMark } from '../domains/marks.ts'
import { changedRecords, currentOf, type Mark } from '../domains/overlay.ts'
import type { DomainRecord } from '../domains/records.ts'
import { countOpen, isOpen } from './count-open.ts'
import { keepSkipped, skippedIn } from './skips.ts'

/** The first page is here soon; the ones after it are as large as the service gives. */
const FIRST_ROWS = 200
const PAGE_ROWS = 1_024
/** The next page is asked for before the names run out. */
const MIN_AHEAD = 50
const MAX_STEPS = 500
const RECOUNT_MS = 1_500
const COUNT_AGAIN_MS = 10_000

export interface PileState {
  readonly current: DomainRecord | undefined
  readonly next: DomainRecord | undefined
  /** Open records that were neither marked nor skipped; undefined until they are counted. */
  readonly left: number | undefined
  readonly handled: number
  readonly skipped: number
  readonly canGoBack: boolean
  /** Rows looked through while no open one was found. */
  readonly looked: number
  readonly isReading: boolean
  readonly error: unknown
}

type Step =
  | { readonly kind: 'skip'; readonly record: DomainRecord }
  | { readonly kind: 'mark'; readonly record: DomainRecord; readonly operation: number | undefined }

/** The open records of a view, one at a time, read page by page as they are used up. */
export class Pile {
  readonly state = createStore<PileState>({
    current: undefined,
    next: undefined,
    left: undefined,
    handled: 0,
    skipped: 0,
    canGoBack: false,
    looked: 0,
    isReading: true,
    error: undefined,
  })
  readonly #filters: Filters
  readonly #view: string
  #current: DomainRecord | undefined
  #ahead: DomainRecord[] = []
  #steps: Step[] = []
  #skipped: Set<string>
  /** Marked here since the records were counted. */
  #marked = new Set<string>()
  #handled = 0
  #counted: number | undefined
  #cursor: string | undefined
  #isEnd = false
  #looked = 0
  #isReading = false
  #error: unknown
  #stop = new AbortController()
  #recount: ReturnType<typeof setTimeout> | undefined

  constructor(filters: Filters) {
    this.#filters = filters
    this.#view = queryOf(filters).toString()
    this.#skipped = new Set(skippedIn(this.#view))
  }

  /** Begins to read. Returns what ends it. */
  start(): () => void {
    this.#stop = new AbortController()
    const leave = changedRecords.subscribe(() => {
      this.#countSoon()
      this.#publish()
    })
    void this.#count()
    this.#fill()
    return () => {
      leave()
      clearTimeout(this.#recount)
      this.#stop.abort()
      this.#isReading = false
    }
  }

  mark(mark: Mark): void {
    const record = this.#current
    if (record === undefined) return
    // A mark that the record has already is a decision, too.
    const handle =
      currentOf(record)[mark] === 1 ? undefined : setMark([record], mark, 1, () => this.#giveBack(record))
    this.#marked.add(record.name)
    this.#done({ kind: 'mark', record, operation: handle?.id })
    void handle?.settled.then(() => this.#publish())
  }

  skip(): void {
    const record = this.#current
    if (record === undefined) return
    this.#skipped.add(record.name)
    keepSkipped(this.#view, this.#skipped)
    this.#done({ kind: 'skip', record })
  }

  /** Takes the last step back: its record is on top again, and exactly its operation is undone. */
  back(): void {
    const step = this.#steps.pop()
    if (step === undefined) return
    const { record } = step
    this.#handled--
    const isCounted = step.kind === 'mark' && !this.#marked.delete(record.name)
    // It was marked before the records were counted.
    if (isCounted && this.#counted !== undefined) this.#counted++
    if (this.#skipped.delete(record.name)) keepSkipped(this.#view, this.#skipped)
    if (this.#current !== undefined) this.#ahead.unshift(this.#current)
    this.#ahead = this.#ahead.filter(({ name }) => name !== record.name)
    this.#current = record
    if (step.kind === 'mark' && step.operation !== undefined) {
      const handle = undo(step.operation)
      void handle?.settled.then(() => this.#countSoon())
    }
    this.#publish()
  }

  showSkipped(): void {
    this.#skipped.clear()
    keepSkipped(this.#view, this.#skipped)
    this.restart()
  }

  /** Reads the view anew from its beginning. */
  restart(): void {
    this.#stop.abort()
    this.#stop = new AbortController()
    this.#ahead = []
    this.#cursor = undefined
    this.#isEnd = false
    this.#isReading = false
    this.#looked = 0
    this.retry()
    void this.#count()
  }

  retry(): void {
    this.#error = undefined
    this.#fill()
  }

  #done(step: Step): void {
    this.#steps = [...this.#steps, step].slice(-MAX_STEPS)
    this.#handled++
    this.#current = undefined
    this.#fill()
  }

  /** What was not stored comes after the name that is looked at: nothing changes under a key about to be pressed. */
  #giveBack(record: DomainRecord): void {
    const at = this.#steps.findLastIndex((step) => step.record.name === record.name)
    if (at >= 0) {
      this.#steps = this.#steps.toSpliced(at, 1)
      this.#handled--
    }
    this.#marked.delete(record.name)
    if (this.#current?.name !== record.name && !this.#ahead.some(({ name }) => name === record.name)) {
      this.#ahead.unshift(record)
    }
    this.#fill()
  }

  /** Puts the next open record on top, and reads on where few are left. */
  #fill(): void {
    this.#ahead = this.#ahead.filter((record) => this.#isWanted(record))
    this.#current ??= this.#ahead.shift()
    const isWhole =
      this.#filters['last_register'] !== undefined || this.#filters['last_deleted'] !== undefined
    const isShort = isWhole || this.#ahead.length < MIN_AHEAD
    if (isShort && !this.#isEnd && !this.#isReading && this.#error === undefined) void this.#read()
    this.#publish()
  }

  #isWanted(record: DomainRecord): boolean {
    return (
      !this.#skipped.has(record.name) && isOpen(this.#filters, currentOf(record)) && !this.#isHandled(record)
    )
  }

  /** With a mark that the view asks for, a record stays in it. */
  #isHandled({ name }: DomainRecord): boolean {
    return this.#marked.has(name) || this.#current?.name === name
  }

  async #read(): Promise<void> {
    const { signal } = this.#stop
    this.#isReading = true
    try {
      const cursor = this.#cursor
      const limit = cursor === undefined ? FIRST_ROWS : PAGE_ROWS
      const query = { ...this.#filters, limit, fields: 'all', ...(cursor === undefined ? {} : { cursor }) }
      const { data, next } = await ask('GET /api/v1/domainwatch/list', { query, signal })
      if (signal.aborted) return
      const known = new Set(this.#ahead.map(({ name }) => name))
      const rows = data.data[0] ?? []
      this.#ahead.push(...rows.filter(({ name }) => !known.has(name)))
      this.#looked += rows.length
      this.#cursor = next
      this.#isEnd = next === undefined
    } catch (error) {
      if (signal.aborted) return
      this.#error = error
    }
    this.#isReading = false
    this.#fill()
  }

  /** Counts, unless something is under way whose effect nobody can tell: then once more, later. */
  async #count(): Promise<void> {
    const { signal } = this.#stop
    const before = activity()
    try {
      if (before.isBusy) return this.#countSoon()
      const counted = await countOpen(this.#filters, signal)
      if (signal.aborted) return
      if (activity().text !== before.text) return this.#countSoon()
      this.#counted = counted
      this.#marked.clear()
      this.#publish()
    } catch {
      // The names themselves tell about a lost connection.
      if (!signal.aborted) this.#countSoon(COUNT_AGAIN_MS)
    }
  }

  #countSoon(ms = RECOUNT_MS): void {
    clearTimeout(this.#recount)
    this.#recount = setTimeout(() => void this.#count(), ms)
  }

  #left(): number | undefined {
    const here = this.#ahead.length + (this.#current === undefined ? 0 : 1)
    if (this.#isEnd) return here
    if (this.#counted === undefined) return undefined
    return Math.max(here, this.#counted - this.#marked.size - this.#skipped.size)
  }

  #publish(): void {
    this.state.set({
      current: this.#current,
      next: this.#ahead[0],
      left: this.#left(),
      handled: this.#handled,
      skipped: this.#skipped.size,
      canGoBack: this.#steps.length > 0,
      looked: this.#looked,
      isReading: this.#isReading,
      error: this.#error,
    })
  }
}

/** What this console has under way and did, as a text that changes with it. */
function activity(): { isBusy: boolean; text: string } {
  const all = operations.get()
  const isBusy = all.some(({ id }) => ['waiting', 'running'].includes(stateOf(id) ?? ''))
  return { isBusy, text: all.map(({ id, state }) => `${id}${state}`).join() }
}
