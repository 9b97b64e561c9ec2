import { serverNow } from '../api/server.ts'
import { whenKeyLeaves } from '../api/session.ts'
import { createStore } from '../app/store.ts'
import { hasValues, type Values } from './changes.ts'
import type { DomainRecord } from './records.ts'

export type Mark = 'revision' | 'discarded'
export type Marks = Values

/** What lies over the rows of one record. */
export interface Patch extends Marks {
  /** When the service had it, by this machine's clock: what is asked for later shows it. Infinity while it is under way. */
  readonly at: number
  /** When this console discarded it, by the service's clock. */
  readonly discardedAt?: number
}

/** What an operation under way is about to store. */
interface Layer {
  readonly id: number
  readonly marks: Marks
}

interface Overlay {
  /** The marks as the service has them, without what is under way. */
  known: Marks
  at: number
  discardedAt: number | undefined
  layers: readonly Layer[]
  /** What was sent and the stream of events has not told about yet. */
  unheard: readonly Marks[]
}

/** What this console changed lies over the rows, so they stay where they are under the pointer. */
const MAX_PATCHES = 20_000

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

/** A record with what others and this console changed since it was read. */
export const currentOf = (record: DomainRecord): DomainRecord =>
  patched(changedRecords.get().get(record.name) ?? record, patches.get())

let lastLayer = 0

/** Layers of operations are numbered here: they are laid before the operation has its number. */
export const nextLayer = (): number => ++lastLayer

/** The fields of a record that operations under way are about to store. */
export const openFields = (name: string): ReadonlySet<string> =>
  new Set(overlays.get(name)?.layers.flatMap(({ marks }) => Object.keys(marks)))

/** Shows marks that an operation is about to store. */
export function layOver(
  id: number,
  records: readonly DomainRecord[],
  marksOf: (name: string) => Marks,
): void {
  for (const record of records) {
    const { name } = record
    const old = overlays.get(name)
    const marks = marksOf(name)
    // What is shown now is what the service has, unless an operation on the same mark is under way.
    const known = { ...shownMarks(record, marks), ...old?.known }
    const layers = [...(old?.layers ?? []), { id, marks }]
    overlays.delete(name)
    overlays.set(name, { at: Infinity, discardedAt: undefined, unheard: [], ...old, known, layers })
  }
  publish(records.map(({ name }) => name))
}

/** What a record has of these fields, as far as it tells. */
const shownMarks = (record: DomainRecord, like: Marks): Marks =>
  Object.fromEntries(Object.entries(record).filter(([field]) => field in like))

/** The marks of a record as the service has them, as far as operations touched them. */
export const knownMarks = (name: string): Marks => overlays.get(name)?.known ?? {}

/** Takes off what did not come to be stored: the record is shown as it was. */
export function takeOff(id: number, names: readonly string[]): void {
  for (const name of names) {
    const overlay = overlays.get(name)
    if (overlay === undefined) continue
    overlay.layers = overlay.layers.filter((layer) => layer.id !== id)
    if (overlay.layers.length === 0 && overlay.at === Infinity) overlays.delete(name)
  }
  publish(names)
}

/** Notes what is on its way to the service: the stream of events may tell about it before the answer is here. */
export function noteSent(values: ReadonlyMap<string, Marks>): void {
  for (const [name, marks] of values) {
    const overlay = overlays.get(name)
    if (overlay !== undefined) overlay.unheard = [...overlay.unheard, marks].slice(-8)
  }
}

/** Notes what the service has stored. */
export function noteStored(id: number, values: ReadonlyMap<string, Marks>): void {
  for (const [name, marks] of values) {
    const overlay = overlays.get(name)
    if (overlay === undefined) continue
    overlay.layers = overlay.layers.filter((layer) => layer.id !== id)
    overlay.known = { ...overlay.known, ...marks }
    overlay.at = Date.now()
    if (marks.discarded === 1) overlay.discardedAt = serverNow()
  }
  publish([...values.keys()])
  const changed = changedRecords.get()
  const again = [...values].flatMap(([name, marks]) => {
    const record = changed.get(name)
    return record === undefined ? [] : [[name, { ...record, ...marks }] as const]
  })
  // What others changed before this console did has the marks now, too.
  if (again.length > 0) changedRecords.set(new Map([...changed, ...again]))
}

/** Takes off what lies over rows that were asked for after it was done. */
export function settlePatches(records: readonly DomainRecord[], askedAt: number): void {
  if (overlays.size === 0) return
  const settled = records.filter(({ name }) => (overlays.get(name)?.at ?? Infinity) < askedAt)
  for (const record of settled) noteRecord(record)
}

/** Whether an event tells of what this console did itself, which it does once. */
export function isOwnMark(record: DomainRecord): boolean {
  const overlay = overlays.get(record.name)
  if (overlay === undefined) return false
  const at = overlay.unheard.findIndex((marks) => hasValues(record, marks))
  if (at < 0) return false
  overlay.unheard = overlay.unheard.slice(at + 1)
  return true
}

/** Takes a record as the service has it now. What is under way stays over it, and so does the moment of discarding. */
export function noteRecord(record: DomainRecord): void {
  const { name, discarded } = record
  const overlay = overlays.get(name)
  if (overlay === undefined) return
  if (overlay.layers.length > 0) {
    overlay.known = { ...overlay.known, ...shownMarks(record, ALL) }
  } else if (overlay.discardedAt === undefined || discarded === 0) {
    overlays.delete(name)
  } else {
    overlay.known = {}
    overlay.at = Infinity
  }
  publish([name])
}

// Another account has other marks.
whenKeyLeaves(() => {
  overlays.clear()
  patches.set(new Map())
  changedRecords.set(new Map())
})

function publish(names: readonly string[]): void {
  const next = new Map(patches.get())
  for (const name of names) {
    const overlay = overlays.get(name)
    if (overlay === undefined) next.delete(name)
    else next.set(name, patchOf(overlay))
  }
  for (const [name, { layers }] of overlays) {
    if (overlays.size <= MAX_PATCHES) break
    if (layers.length > 0) continue
    overlays.delete(name)
    next.delete(name)
  }
  patches.set(next)
}

function patchOf({ known, at, layers, discardedAt }: Overlay): Patch {
  const shown: Marks = Object.assign({}, known, ...layers.map(({ marks }) => marks))
  const isNew = shown.discarded === 1 && known.discarded === 0
  const time = isNew ? serverNow() : discardedAt
  return {
    ...shown,
    at: layers.length > 0 ? Infinity : at,
    ...(time === undefined ? {} : { discardedAt: time }),
  }
}
