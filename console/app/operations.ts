import { useMemo } from 'react'
import { whenKeyLeaves } from '../api/session.ts'
import { t } from '../i18n/index.ts'
import { faultText } from './fault-text.ts'
import { createSlots } from './slots.ts'
import { createStore, useStore } from './store.ts'
import { dismiss, say } from './toasts.tsx'

export type OperationState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'

/** What a person did: one entry of the log. */
export interface Operation {
  readonly id: number
  /** What it writes. Operations that share a subject run one after the other, in the order of the gestures. */
  readonly subjects: readonly string[]
  readonly state: OperationState
  /** What to tell about it in its present state. */
  readonly text: string
  /** The operation that undoes this one. */
  readonly undoneBy: number | undefined
}

export interface Gesture {
  readonly subjects: readonly string[]
  /** Said while it is under way. */
  readonly pending: string
  readonly failed: (reason: string) => string
  /** Does it, and tells how far it is. Resolves to what is said when it is done; rejects with the reason. */
  readonly run: (tell: (text: string) => void) => Promise<Outcome>
  /** Called when it failed or was cancelled before it ran: takes back what the page showed ahead of the service. */
  readonly onFailed?: () => void
  /** What undoes it; absent if nothing can. */
  readonly undo?: () => Gesture
  /** Ends it early, with what it did so far. */
  readonly stop?: () => void
}

export interface Outcome {
  readonly text: string
  /** Done in part: shown like a failure, so that nobody misses the rest. */
  readonly isFault?: boolean
}

export interface Handle {
  readonly id: number
  readonly settled: Promise<OperationState>
}

const MAX_LOGGED = 200
/** More than anybody has under way; beyond it gestures are refused in words. */
const MAX_PENDING = 200
/** A browser opens six connections to a host: some stay free for reading. */
const MAX_RUNNING = 3
/** Requests that take longer than this are shown while they are under way. */
const SLOW_MS = 400
/** Failures stay longer than news. */
const FAILURE_SHOWN_MS = 30_000

interface Entry {
  operation: Operation
  readonly gesture: Gesture
  /** A failure that `undoLast` has told about. */
  isAcknowledged: boolean
  /** Of a key that is gone: it ends in silence, and nobody else may undo it. */
  isForeign: boolean
  isShown: boolean
}

const entries = new Map<number, Entry>()
/** The end of the queue of each subject. */
const tails = new Map<string, Promise<unknown>>()
const slots = createSlots(MAX_RUNNING)
let lastId = 0

/** Newest last. */
export const operations = createStore<readonly Operation[]>([])

const isPending = ({ state }: Operation): boolean => state === 'waiting' || state === 'running'

// What waits for a slow service would be lost with the page: the browser asks first.
addEventListener('beforeunload', (event) => {
  if (operations.get().some(isPending)) event.preventDefault()
})

/** Runs a gesture after those under way on the same subjects. Undefined if too many are under way. */
export function perform(gesture: Gesture): Handle | undefined {
  if (operations.get().filter(isPending).length >= MAX_PENDING) {
    gesture.onFailed?.()
    say(t('operation.tooMany'), { isFault: true })
    return undefined
  }
  const id = ++lastId
  const { subjects, pending } = gesture
  const operation: Operation = { id, subjects, state: 'waiting', text: pending, undoneBy: undefined }
  entries.set(id, { operation, gesture, isAcknowledged: false, isForeign: false, isShown: false })
  const before = Promise.all(subjects.flatMap((subject) => tails.get(subject) ?? []))
  const settled = before.then(() => slots.run(() => execute(id)))
  for (const subject of subjects) tails.set(subject, settled)
  void settled.then(() => {
    for (const subject of subjects) if (tails.get(subject) === settled) tails.delete(subject)
  })
  publish()
  setTimeout(() => {
    const entry = entries.get(id)
    if (entry === undefined || entry.isForeign || !isPending(entry.operation)) return
    entry.isShown = true
    tell(id, entry.operation.text)
  }, SLOW_MS)
  return { id, settled }
}

/** Tells how far an operation is, if it takes long enough for somebody to read it. */
function tell(id: number, text: string): void {
  change(id, { text })
  const entry = entries.get(id)
  if (entry?.isShown === true && !entry.isForeign && entry.operation.undoneBy === undefined)
    say(text, { key: keyOf(id), isPending: true, ...undoOf(id) })
}

async function execute(id: number): Promise<OperationState> {
  const entry = entries.get(id)
  if (entry === undefined || entry.operation.state === 'cancelled') return 'cancelled'
  const { gesture } = entry
  change(id, { state: 'running' })
  try {
    const { text, isFault = false } = await gesture.run((now) => tell(id, now))
    change(id, { state: 'done', text })
    if (entry.operation.undoneBy === undefined && !entry.isForeign)
      say(text, { key: keyOf(id), isFault, ...undoOf(id) })
    return 'done'
  } catch (error) {
    const text = gesture.failed(faultText(error))
    change(id, { state: 'failed', text })
    gesture.onFailed?.()
    if (!entry.isForeign) say(text, { key: keyOf(id), isFault: true, shownMs: FAILURE_SHOWN_MS })
    return 'failed'
  }
}

export const stateOf = (id: number): OperationState | undefined => entries.get(id)?.operation.state

/** Undoes exactly this operation, once, after it is through. One that has not begun is cancelled. */
export function undo(id: number): Handle | undefined {
  const entry = entries.get(id)
  if (entry?.gesture.undo === undefined || entry.isForeign || entry.operation.undoneBy !== undefined)
    return undefined
  const { state, text } = entry.operation
  if (state === 'cancelled') return undefined
  if (state === 'failed') {
    entry.isAcknowledged = true
    say(t('operation.nothingChanged', { text }), { key: keyOf(id) })
    return undefined
  }
  if (state === 'waiting') {
    change(id, { state: 'cancelled', text: t('domains.undone') })
    entry.gesture.onFailed?.()
    say(t('domains.undone'), { key: keyOf(id) })
    return { id, settled: Promise.resolve('done') }
  }
  dismiss(keyOf(id))
  if (state === 'running') entry.gesture.stop?.()
  const handle = perform(entry.gesture.undo())
  if (handle === undefined) return undefined
  change(id, { undoneBy: handle.id })
  void handle.settled.then((outcome) => {
    // What could not be undone can be tried again.
    if (outcome === 'failed') change(id, { undoneBy: undefined })
  })
  return handle
}

/**
 * Undoes the newest operation that is not undone yet. If the newest one failed, says so and undoes nothing: whoever pressed
 * the key meant that one, not an older one that is out of sight.
 */
export function undoLast(): Handle | undefined {
  const newest = [...entries.values()]
    .reverse()
    .filter(({ gesture, isForeign }) => gesture.undo !== undefined && !isForeign)
  const [last] = newest
  if (last?.operation.state === 'failed' && !last.isAcknowledged) return undo(last.operation.id)
  const found = newest.find(
    ({ operation: { state, undoneBy } }) =>
      undoneBy === undefined && state !== 'failed' && state !== 'cancelled',
  )
  if (found === undefined) say(t('domains.nothingToUndo'))
  return found === undefined ? undefined : undo(found.operation.id)
}

function change(id: number, changes: Partial<Operation>): void {
  const entry = entries.get(id)
  if (entry === undefined) return
  entry.operation = { ...entry.operation, ...changes }
  publish()
}

function publish(): void {
  for (const [id, { operation }] of entries) {
    if (entries.size <= MAX_LOGGED) break
    if (!isPending(operation)) entries.delete(id)
  }
  operations.set([...entries.values()].map(({ operation }) => operation))
}

// The next person at this page neither reads nor undoes what the one before did. What is under way is finished.
whenKeyLeaves(() => {
  for (const [id, entry] of entries) {
    dismiss(keyOf(id))
    entry.isForeign = true
    if (!isPending(entry.operation)) entries.delete(id)
  }
  publish()
})

/** The subjects that something is under way on. */
export function usePendingSubjects(): ReadonlySet<string> {
  const all = useStore(operations)
  return useMemo(() => new Set(all.filter(isPending).flatMap(({ subjects }) => subjects)), [all])
}

const keyOf = (id: number): string => `operation-${id}`

function undoOf(id: number): { undo?: () => void } {
  return entries.get(id)?.gesture.undo === undefined ? {} : { undo: () => void undo(id) }
}
