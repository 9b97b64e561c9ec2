import { ask } from '../api/client.ts'
import { serverNow } from '../api/server.ts'
import { createStore } from '../app/store.ts'
import { say, sayFault } from '../app/toasts.tsx'
import { t, tn } from '../i18n/index.ts'
import type { DomainRecord } from './records.ts'

export type Mark = 'revision' | 'discarded'

interface Patch {
  /** When the service had it, by this machine's clock: what is asked for later shows it. */
  readonly at: number
  readonly revision?: number
  readonly discarded?: number
  /** When this console discarded it, by the service's clock. */
  readonly discardedAt?: number
  /** Whether the stream of events told of it: what it tells next is somebody else's. */
  isHeard?: boolean
}

interface Step {
  readonly mark: Mark
  readonly before: readonly { readonly name: string; readonly value: number }[]
}

const MAX_STEPS = 100
/** What this console changed lies over the rows, so they stay where they are under the pointer. */
const MAX_PATCHES = 20_000

export const patches = createStore<ReadonlyMap<string, Patch>>(new Map())
const steps: Step[] = []

export function patched(record: DomainRecord, over: ReadonlyMap<string, Patch>): DomainRecord {
  const patch = over.get(record.name)
  return patch === undefined ? record : { ...record, ...patch }
}

/** Takes off what lies over rows that were asked for after it was done. */
export function settlePatches(records: readonly DomainRecord[], askedAt: number): void {
  const old = patches.get()
  if (old.size === 0) return
  const over = records.filter(({ name }) => (old.get(name)?.at ?? Infinity) < askedAt)
  for (const { name } of over) dropPatch(name)
}

/** Whether an event tells of what this console did itself, which it does once. */
export function isOwnMark({ name, revision, discarded }: DomainRecord): boolean {
  const patch = patches.get().get(name)
  if (patch === undefined || patch.isHeard === true) return false
  if (patch.revision === undefined && patch.discarded === undefined) return false
  if ((patch.revision ?? revision) !== revision || (patch.discarded ?? discarded) !== discarded) return false
  patch.isHeard = true
  return true
}

/** Forgets the marks of a record that is known anew, but for the moment it was discarded at. */
export function dropPatch(name: string): void {
  const old = patches.get().get(name)
  if (old === undefined) return
  const { discardedAt } = old
  const next = new Map(patches.get())
  if (discardedAt === undefined) next.delete(name)
  else next.set(name, { at: Infinity, discardedAt })
  patches.set(next)
}

/** Sets a mark of records, tells what was done and offers to undo it. */
export async function setMark(records: readonly DomainRecord[], mark: Mark, value: 0 | 1): Promise<void> {
  const over = patches.get()
  const current = records.map((one) => patched(one, over))
  const before = current
    .filter((one) => one[mark] !== value)
    .map(({ name, [mark]: old }) => ({ name, value: old }))
  if (before.length === 0) return
  const names = before.map(({ name }) => name)
  const told = { revision: ['unreview', 'review'], discarded: ['restore', 'discard'] } as const
  const isDone = await send(
    mark,
    before.map(({ name }) => ({ name, value })),
  )
  if (!isDone) return
  steps.push({ mark, before })
  if (steps.length > MAX_STEPS) steps.shift()
  say(tn(`domains.done.${told[mark][value]}`, names.length), { undo: () => void undo() })
}

/** Takes the last marking back. */
export async function undo(): Promise<readonly string[]> {
  const step = steps.pop()
  if (step === undefined) {
    say(t('domains.nothingToUndo'))
    return []
  }
  if (await send(step.mark, step.before)) say(t('domains.undone'))
  else steps.push(step)
  return step.before.map(({ name }) => name)
}

async function send(mark: Mark, values: readonly { name: string; value: number }[]): Promise<boolean> {
  const old = patches.get()
  // Shown at once; taken back when the service says no.
  patches.set(laidOver(old, mark, values, Infinity))
  try {
    await ask('POST /api/v1/domainwatch/update', {
      body: { data: values.map(({ name, value }) => ({ domain: name, [mark]: value })) },
    })
    patches.set(laidOver(patches.get(), mark, values, Date.now()))
    return true
  } catch (error) {
    patches.set(old)
    sayFault(error)
    return false
  }
}

function laidOver(
  old: ReadonlyMap<string, Patch>,
  mark: Mark,
  values: readonly { name: string; value: number }[],
  at: number,
): ReadonlyMap<string, Patch> {
  const next = new Map([...old].slice(-MAX_PATCHES))
  for (const { name, value } of values) {
    const time = mark === 'discarded' && value === 1 ? { discardedAt: serverNow() } : {}
    const news = at === Infinity ? { isHeard: false } : {}
    next.set(name, { ...next.get(name), [mark]: value, at, ...time, ...news })
  }
  return next
}
