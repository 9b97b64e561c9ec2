import { serverNow } from '../../base/server.ts'
import { createStore, useStore } from '../../base/store.ts'
import { hasValues, type Values } from './changes.ts'
import type { DomainRecord } from './records.ts'

export type Mark = 'revision' | 'discarded'
export type Marks = Values

/** Local changes of one record, shown over its row. */
export interface Patch extends Marks {
  /**
   * When the service stored it, by this machine's clock: later responses include it. Infinity while it is pending.
   */
  readonly at: number
  /** When this console discarded it, by the service's clock. */
  readonly discardedAt?: number
}

/** What a pending operation is about to store. */
interface PendingUpdate {
  readonly id: number
  readonly marks: Marks
}

/** A change that was sent, and whose event is still to come. */
interface Sent extends PendingUpdate {
  /** When the service stored it, by this machine's clock; Infinity while it is pending. */
  readonly at: number
}

interface Overlay {
  /** The marks stored by the service, without pending changes. */
  stored: Marks
  at: number
  discardedAt: number | undefined
  pending: readonly PendingUpdate[]
  sent: readonly Sent[]
}

/** Changes of this console, shown over the rows, which keep their position under the pointer. */
const MAX_PATCHES = 20_000
const MAX_CHANGED = 5_000
/** A stored change without an event after this time will not have one: nothing changed, or the stream was closed. */
const MAX_UNHEARD_MS = 30_000

const ALL: Marks = { revision: 0, discarded: 0, seen: 0, note: '', tags: [] }

const overlays = new Map<string, Overlay>()
export const patches = createStore<ReadonlyMap<string, Patch>>(new Map())

/** Records as others changed them since the rows were read. */
export const changedRecords = createStore<ReadonlyMap<string, DomainRecord>>(new Map())

export function patched(record: DomainRecord, over: ReadonlyMap<string, Patch>): DomainRecord {
  const patch = over.get(record.name)
  if (patch === undefined) return record
  const { at: _at, discardedAt: _discardedAt, ...values } = patch
  return { ...record, ...values }
}

/** Returns a record with what others have changed since it was read. Events lack some fields of rows. */
export function withReceived(
  record: DomainRecord,
  received: ReadonlyMap<string, DomainRecord>,
): DomainRecord {
  const change = received.get(record.name)
  // It may have been read after the change.
  return change === undefined || change.date_mod < record.date_mod ? record : { ...record, ...change }
}

/** Returns a record with the changes of others and of this console since it was read. */
export const currentRecord = (record: DomainRecord): DomainRecord =>
  patched(withReceived(record, changedRecords.get()), patches.get())

/** Returns a function that does so, and renders the component again when there are others. */
export function useCurrentRecord(): (record: DomainRecord) => DomainRecord {
  const [received, own] = [useStore(changedRecords), useStore(patches)]
  return (record) => patched(withReceived(record, received), own)
}

let lastUpdateId = 0

/** Numbers the pending updates, which are shown before their operation has a number. */
export const nextUpdateId = (): number => ++lastUpdateId

/** The fields of a record that pending operations are about to store. */
export const pendingFields = (name: string): ReadonlySet<string> =>
  new Set(overlays.get(name)?.pending.flatMap(({ marks }) => Object.keys(marks)))

/** The records that pending operations are about to make seen, as every decision does. */
export const namesBeingDecided = (): string[] =>
  [...overlays]
    .filter(([, { pending }]) => pending.findLast(({ marks }) => marks.seen !== undefined)?.marks.seen === 1)
    .map(([name]) => name)

/** Shows marks that an operation is about to store. */
export function applyPending(
  id: number,
  records: readonly DomainRecord[],
  toMarks: (name: string) => Marks,
): void {
  for (const record of records) {
    const { name } = record
    const old = overlays.get(name)
    const marks = toMarks(name)
    // The shown value is the stored one, unless an operation on the same mark is pending.
    const stored = { ...shownMarks(record, marks), ...old?.stored }
    const pending = [...(old?.pending ?? []), { id, marks }]
    overlays.delete(name)
    overlays.set(name, { at: Infinity, discardedAt: undefined, sent: [], ...old, stored, pending })
  }
  publish(records.map(({ name }) => name))
}

/** Returns these fields of a record, if it has them. */
const shownMarks = (record: DomainRecord, like: Marks): Marks =>
  Object.fromEntries(Object.entries(record).filter(([field]) => field in like))

/** Returns the stored marks of a record that operations have touched. */
export const storedMarks = (name: string): Marks => overlays.get(name)?.stored ?? {}

/** Reverts an operation that was not stored. */
export function revertPending(id: number, names: readonly string[]): void {
  for (const name of names) {
    const overlay = overlays.get(name)
    if (overlay === undefined) continue
    overlay.pending = overlay.pending.filter((update) => update.id !== id)
    overlay.sent = overlay.sent.filter((update) => update.id !== id)
    if (overlay.pending.length === 0 && overlay.at === Infinity) overlays.delete(name)
  }
  publish(names)
}

/** Records a sent change, because its event may arrive before the response. */
export function recordSent(id: number, values: ReadonlyMap<string, Marks>): void {
  for (const [name, marks] of values) {
    const overlay = overlays.get(name)
    if (overlay !== undefined) overlay.sent = [...overlay.sent, { id, marks, at: Infinity }].slice(-8)
  }
}

/**
 * Records a stored change.
 * @param hasEvent false if it may have no event to come, because someone else may have stored the same
 */
export function recordStored(id: number, values: ReadonlyMap<string, Marks>, hasEvent = true): void {
  for (const [name, marks] of values) {
    const overlay = overlays.get(name)
    if (overlay === undefined) continue
    overlay.pending = overlay.pending.filter((update) => update.id !== id)
    overlay.stored = { ...overlay.stored, ...marks }
    overlay.at = Date.now()
    overlay.sent = overlay.sent
      .filter((sent) => hasEvent || sent.id !== id)
      .map((sent) => (sent.id === id ? { ...sent, at: Date.now() } : sent))
    if (marks.discarded === 1) overlay.discardedAt = serverNow()
  }
  publish([...values.keys()])
  const changed = changedRecords.get()
  const again = [...values].flatMap(([name, marks]) => {
    const record = changed.get(name)
    return record === undefined ? [] : [[name, { ...record, ...marks }] as const]
  })
  // Earlier changes of others have these marks now, too.
  if (again.length > 0) changedRecords.set(new Map([...changed, ...again]))
}

/** Drops local changes that newly read rows include. */
export function dropIncludedPatches(records: readonly DomainRecord[], askedAt: number): void {
  if (overlays.size === 0) return
  for (const record of records) {
    const overlay = overlays.get(record.name)
    // What is pending is dropped once it has ended.
    if (overlay?.pending.length === 0 && overlay.at < askedAt) updateStored(record)
  }
}

/** A record of the event stream. */
export interface ReceivedRecord {
  readonly record: DomainRecord
  /** Whether this account changed it. */
  readonly isOwnAccount: boolean
}

/** Whether an event reports a change of this console itself; true once for each. */
function isOwnChange({ record, isOwnAccount }: ReceivedRecord): boolean {
  const overlay = overlays.get(record.name)
  if (overlay === undefined || !isOwnAccount) return false
  const at = overlay.sent.findIndex(({ marks }) => hasValues(record, marks))
  if (at < 0) return false
  overlay.sent = overlay.sent.slice(at + 1)
  return true
}

/** Returns a record of the event stream with the changes of this console that were stored after it. */
function withLaterMarks(record: DomainRecord): DomainRecord {
  const now = Date.now()
  const later = overlays.get(record.name)?.sent.filter(({ at }) => now - at < MAX_UNHEARD_MS && at <= now)
  return Object.assign({}, record, ...(later ?? []).map(({ marks }) => marks))
}

/** Shows records of the event stream, which come in the order of their changes. */
export function receiveRecords(all: readonly ReceivedRecord[]): void {
  const next = new Map(changedRecords.get())
  for (const received of all) {
    const isOwn = isOwnChange(received)
    // What this console shows of its own change is enough, unless a change of someone else is shown under it.
    if (isOwn && !next.has(received.record.name)) continue
    const record = withLaterMarks(received.record)
    if (!isOwn) updateStored(record)
    next.delete(record.name)
    next.set(record.name, record)
  }
  changedRecords.set(new Map([...next].slice(-MAX_CHANGED)))
}

/** Forgets which events are to come, for a new stream. */
export function forgetSent(): void {
  for (const overlay of overlays.values()) overlay.sent = []
}

/** Updates the stored record. Pending changes and the time of discarding stay. */
export function updateStored(record: DomainRecord): void {
  const { name, discarded } = record
  const overlay = overlays.get(name)
  if (overlay === undefined) return
  if (overlay.pending.length > 0) {
    overlay.stored = { ...overlay.stored, ...shownMarks(record, ALL) }
  } else if (overlay.discardedAt === undefined || discarded === 0) {
    overlays.delete(name)
  } else {
    overlay.stored = {}
    overlay.at = Infinity
  }
  publish([name])
}

function publish(names: readonly string[]): void {
  const next = new Map(patches.get())
  for (const name of names) {
    const overlay = overlays.get(name)
    if (overlay === undefined) next.delete(name)
    else next.set(name, toPatch(overlay))
  }
  for (const [name, { pending }] of overlays) {
    if (overlays.size <= MAX_PATCHES) break
    if (pending.length > 0) continue
    overlays.delete(name)
    next.delete(name)
  }
  patches.set(next)
}

function toPatch({ stored, at, pending, discardedAt }: Overlay): Patch {
  const shown: Marks = Object.assign({}, stored, ...pending.map(({ marks }) => marks))
  const isNew = shown.discarded === 1 && stored.discarded === 0
  const time = isNew ? serverNow() : discardedAt
  return {
    ...shown,
    at: pending.length > 0 ? Infinity : at,
    ...(time === undefined ? {} : { discardedAt: time }),
  }
}
