import { useMemo } from 'react'
import { queryClient } from '../../api/query-client.ts'
import { untilAnswered } from '../../api/retry.ts'
import { t } from '../../i18n/index.ts'
import { changeErrorMessage } from '../../api/error-message.ts'
import { createLimiter } from '../../base/concurrency-limiter.ts'
import { createStore, useStore } from '../../base/store.ts'
import { dismissOldFailures, dismissToast, showToast } from '../../design/toasts.tsx'
import { guardWork } from '../../base/unsaved-work.ts'

export type OperationState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'

/** An operation of the user: one entry of the log. */
export interface Operation {
  readonly id: number
  /** What it writes. Operations with a common subject run one after the other, in order. */
  readonly subjects: readonly string[]
  readonly state: OperationState
  /** The message about it in its current state. */
  readonly text: string
  /** The operation that undoes this one. */
  readonly undoneBy: number | undefined
  /** The service finishes it, also without this page. */
  readonly isHandedOver: boolean
}

/** What an operation reports while it is running. */
export interface Progress {
  readonly tell: (text: string) => void
  /** It waits for the connection. */
  readonly onWait: () => void
  /** The service has it. */
  readonly handOver: () => void
}

export interface OperationSpec {
  readonly subjects: readonly string[]
  /** The message while it is running. */
  readonly pending: string
  readonly failed: (reason: string) => string
  /** A job of the service: it takes no turn from short requests. */
  readonly isJob?: boolean
  /** Runs it. Resolves to the final message; rejects with the reason. */
  readonly run: (progress: Progress) => Promise<OperationOutcome>
  /** Called when it failed, or was cancelled before it ran: reverts the optimistic update. */
  readonly onFailed?: () => void
  /** Undoes it; absent if it cannot be undone. */
  readonly undo?: () => OperationSpec
  /** Stops it early and keeps what it did so far. */
  readonly stop?: () => void
}

interface RequestSpec extends Pick<OperationSpec, 'pending' | 'failed' | 'onFailed' | 'undo'> {
  readonly subject: string
  readonly done: string
  /** The queries that show what it changes. */
  readonly shownBy: readonly string[]
  /** It can be repeated after a lost answer, and is until the connection lasts. */
  readonly isRepeatable?: boolean
  readonly send: () => Promise<unknown>
}

/** An operation of one request. */
export function toOperation(asked: RequestSpec): OperationSpec {
  const { subject, done, shownBy, isRepeatable = false, send, ...spec } = asked
  const refresh = () =>
    Promise.all(shownBy.map((name) => queryClient.invalidateQueries({ queryKey: [name] })))
  return {
    ...spec,
    subjects: [subject],
    onFailed() {
      spec.onFailed?.()
      // Someone else may have changed it already, as the lists show.
      void refresh()
    },
    async run({ onWait }) {
      await (isRepeatable ? untilAnswered(send, onWait) : send())
      await refresh()
      return { text: done }
    },
  }
}

export interface OperationOutcome {
  readonly text: string
  /** Partly done: shown like a failure, so that it is noticed. */
  readonly isError?: boolean
}

export interface OperationHandle {
  readonly id: number
  readonly settled: Promise<OperationState>
}

const MAX_LOGGED = 200
/** Maximum number of pending operations. Beyond it, further ones are rejected with a message. */
const MAX_PENDING = 200
/** Concurrent operations. A browser opens six connections per host: some stay free for reads. */
const MAX_RUNNING = 3
/** Requests that take longer than this are shown while they run. */
const SLOW_MS = 400

interface Entry {
  operation: Operation
  readonly gesture: OperationSpec
  /** A failure that `undoLast` has reported. */
  isAcknowledged: boolean
  isShown: boolean
  readonly startedAt: number
}

const entries = new Map<number, Entry>()
/** The last operation in the queue of each subject. */
const tails = new Map<string, Promise<unknown>>()
const slots = createLimiter(MAX_RUNNING)
let lastId = 0

/** Newest last. */
export const operations = createStore<readonly Operation[]>([])

const isPending = ({ state }: Operation): boolean => state === 'waiting' || state === 'running'

/** Whether leaving the page could lose it. */
export const isUnsaved = (operation: Operation): boolean => isPending(operation) && !operation.isHandedOver

guardWork(() => operations.get().some(isUnsaved))

/** Runs an operation after pending ones on the same subjects. Undefined if too many are pending. */
export function runOperation(gesture: OperationSpec): OperationHandle | undefined {
  if (operations.get().filter(isPending).length >= MAX_PENDING) {
    gesture.onFailed?.()
    showToast(t('operation.tooMany'), { isError: true })
    return undefined
  }
  const id = ++lastId
  const { subjects, pending, isJob = false } = gesture
  const operation: Operation = {
    id,
    subjects,
    state: 'waiting',
    text: pending,
    undoneBy: undefined,
    isHandedOver: false,
  }
  const startedAt = performance.now()
  entries.set(id, { operation, gesture, isAcknowledged: false, isShown: false, startedAt })
  const before = Promise.all(subjects.flatMap((subject) => tails.get(subject) ?? []))
  const settled = before.then(() => (isJob ? execute(id) : slots.run(() => execute(id))))
  for (const subject of subjects) tails.set(subject, settled)
  void settled.then(() => {
    for (const subject of subjects) if (tails.get(subject) === settled) tails.delete(subject)
  })
  publish()
  setTimeout(() => {
    const entry = entries.get(id)
    if (entry === undefined || !isPending(entry.operation)) return
    entry.isShown = true
    report(id, entry.operation.text)
  }, SLOW_MS)
  return { id, settled }
}

/** Shows the progress of an operation that takes noticeably long. */
function report(id: number, text: string): void {
  change(id, { text })
  const entry = entries.get(id)
  if (entry?.isShown === true && entry.operation.undoneBy === undefined)
    showToast(text, { key: keyOf(id), isPending: true, ...toUndo(id) })
}

async function execute(id: number): Promise<OperationState> {
  const entry = entries.get(id)
  if (entry === undefined || entry.operation.state === 'cancelled') return 'cancelled'
  const { gesture } = entry
  change(id, { state: 'running' })
  try {
    const { text, isError = false } = await gesture.run({
      tell: (now) => report(id, now),
      onWait: () => report(id, t('operation.held', { text: gesture.pending })),
      handOver: () => change(id, { isHandedOver: true }),
    })
    change(id, { state: 'done', text })
    if (!isError) dismissFailures(entry)
    if (entry.operation.undoneBy === undefined) showToast(text, { key: keyOf(id), isError, ...toUndo(id) })
    return 'done'
  } catch (error) {
    const text = gesture.failed(changeErrorMessage(error))
    change(id, { state: 'failed', text })
    gesture.onFailed?.()
    showToast(text, { key: keyOf(id), isError: true })
    return 'failed'
  }
}

/** Removes old messages about failures, and those that this operation on the same subjects has made up for. */
function dismissFailures({ gesture: { subjects }, startedAt }: Entry): void {
  dismissOldFailures(startedAt)
  for (const [id, { operation }] of entries) {
    const isRedone = operation.subjects.every((subject) => subjects.includes(subject))
    if (operation.state === 'failed' && isRedone) dismissToast(keyOf(id))
  }
}

export const getState = (id: number): OperationState | undefined => entries.get(id)?.operation.state

/** Undoes exactly this operation, once, after it has ended. Cancels it if it has not started. */
export function undo(id: number): OperationHandle | undefined {
  const entry = entries.get(id)
  if (entry?.gesture.undo === undefined || entry.operation.undoneBy !== undefined) return undefined
  const { state, text } = entry.operation
  if (state === 'cancelled') return undefined
  if (state === 'failed') {
    entry.isAcknowledged = true
    showToast(t('operation.nothingChanged', { text }), { key: keyOf(id) })
    return undefined
  }
  if (state === 'waiting') {
    change(id, { state: 'cancelled', text: t('domains.undone') })
    entry.gesture.onFailed?.()
    showToast(t('domains.undone'), { key: keyOf(id) })
    return { id, settled: Promise.resolve('done') }
  }
  dismissToast(keyOf(id))
  if (state === 'running') entry.gesture.stop?.()
  const handle = runOperation(entry.gesture.undo())
  if (handle === undefined) return undefined
  change(id, { undoneBy: handle.id })
  void handle.settled.then((outcome) => {
    if (outcome !== 'failed') return
    // It can be retried, also with its button.
    change(id, { undoneBy: undefined })
    const failure = entries.get(handle.id)
    if (failure !== undefined)
      showToast(failure.operation.text, {
        key: keyOf(handle.id),
        isError: true,
        ...toUndo(id),
      })
  })
  return handle
}

/**
 * Undoes the newest operation that is not undone yet. If the newest one failed, reports that and undoes nothing:
 * the user meant that one, not an older one.
 */
export function undoLast(): OperationHandle | undefined {
  const newest = [...entries.values()].reverse().filter(({ gesture }) => gesture.undo !== undefined)
  const [last] = newest
  if (last?.operation.state === 'failed' && !last.isAcknowledged) return undo(last.operation.id)
  const found = newest.find(
    ({ operation: { state, undoneBy } }) =>
      undoneBy === undefined && state !== 'failed' && state !== 'cancelled',
  )
  if (found === undefined) showToast(t('domains.nothingToUndo'))
  return found === undefined ? undefined : undo(found.operation.id)
}

function change(id: number, changes: Partial<Operation>): void {
  const entry = entries.get(id)
  if (entry === undefined) return
  entry.operation = { ...entry.operation, ...changes }
  publish()
}

/** Whether nothing is left to undo. An undo that fails can be repeated. */
function isSpent({ gesture, operation: { undoneBy } }: Entry): boolean {
  if (gesture.undo === undefined) return true
  if (undoneBy === undefined) return false
  const undo = entries.get(undoneBy)?.operation
  return undo === undefined || (!isPending(undo) && undo.state !== 'failed')
}

function publish(): void {
  // Undoing must not push out what can still be undone.
  for (const mayGo of [isSpent, () => true]) {
    for (const [id, entry] of entries) {
      if (entries.size <= MAX_LOGGED) break
      if (!isPending(entry.operation) && mayGo(entry)) entries.delete(id)
    }
  }
  operations.set([...entries.values()].map(({ operation }) => operation))
}

/** The subjects with pending operations. */
export function usePendingSubjects(): ReadonlySet<string> {
  const all = useStore(operations)
  return useMemo(() => new Set(all.filter(isPending).flatMap(({ subjects }) => subjects)), [all])
}

const keyOf = (id: number): string => `operation-${id}`

function toUndo(id: number): { undo?: () => void } {
  const entry = entries.get(id)
  return entry?.gesture.undo === undefined ? {} : { undo: () => void undo(id) }
}
