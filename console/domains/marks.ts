import { ApiError, ask, ConnectionLost } from '../api/client.ts'
import { keyFor, whenKeyLeaves } from '../api/session.ts'
import { perform, type Gesture, type Handle, type Outcome } from '../app/operations.ts'
import { say } from '../app/toasts.tsx'
import { t, tn } from '../i18n/index.ts'
import {
  changedRecords,
  currentOf,
  knownMarks,
  layOver,
  noteRecord,
  noteSent,
  noteStored,
  takeOff,
  type Mark,
  type Marks,
} from './overlay.ts'
import { readRecords } from './read-records.ts'
import type { DomainRecord } from './records.ts'

/** Answers name this many faulty records at most; so many times the rest is sent again without them. */
const MAX_ATTEMPTS = 12
/** Names that a message spells out. */
const MAX_NAMED = 3
const MAX_SEEN = 20_000

/** Records that operations changed, as this console last knew them: what undo compares with what the service has. */
const seen = new Map<string, DomainRecord>()

const VERBS = { revision: ['unreview', 'review'], discarded: ['restore', 'discard'] } as const

/** Layers of operations are numbered here: they are laid before the operation has its number. */
let lastLayer = 0

/**
 * Sets a mark of records: shown now, stored in turn, undone by reference. Undefined if there is nothing to change.
 * @param onFailed hears the records that stay as they were
 */
export function setMark(
  records: readonly DomainRecord[],
  mark: Mark,
  value: 0 | 1,
  onFailed: (records: readonly DomainRecord[]) => void = () => {},
): Handle | undefined {
  const targets = records.map(currentOf).filter((one) => one[mark] !== value)
  if (targets.length === 0) {
    if (records.length > 0) say(t('domains.noChange'))
    return undefined
  }
  /** A mark that waits for a slow service goes where it was set, whoever is signed in by then. */
  const key = keyFor('domainwatch')
  const layer = ++lastLayer
  const names = targets.map(({ name }) => name)
  const verb = VERBS[mark][value]
  const before = new Map<string, number>()
  /** Without those that the service refused. */
  let stored: readonly DomainRecord[] = targets
  layOver(layer, targets, () => ({ [mark]: value }))
  return perform({
    subjects: names.map(subjectOf),
    pending: t(`domains.doing.${verb}`, { what: whatOf(names) }),
    failed: (reason) => t(`domains.failed.${verb}`, { what: whatOf(names), reason }),
    onFailed: () => {
      takeOff(layer, names)
      stored = []
      onFailed(targets)
    },
    async run(): Promise<Outcome> {
      // What the service has now: operations before this one are through, and may have failed.
      for (const one of targets) before.set(one.name, knownMarks(one.name)[mark] ?? one[mark])
      const refused = await store(key, layer, targets, () => ({ [mark]: value }))
      stored = targets.filter(({ name }) => !refused.has(name))
      const done = tn(`domains.done.${verb}`, stored.length)
      const named = stored.length === 1 ? `${done}: ${stored[0]?.name}.cl` : done
      if (refused.size === 0) return { text: named }
      takeOff(layer, [...refused.keys()])
      onFailed(targets.filter(({ name }) => refused.has(name)))
      return { text: `${named}. ${refusalText(refused)}`, isFault: true }
    },
    undo: () => restoring(mark, () => stored, before),
  })
}

/** Gives each record the value back that it had, unless somebody changed it since. */
function restoring(
  mark: Mark,
  storedRecords: () => readonly DomainRecord[],
  before: ReadonlyMap<string, number>,
): Gesture {
  const key = keyFor('domainwatch')
  const layer = ++lastLayer
  const records = storedRecords()
  const names = records.map(({ name }) => name)
  const marksOf = (name: string): Marks => ({ [mark]: before.get(name) ?? 0 })
  layOver(layer, records.map(currentOf), marksOf)
  return {
    subjects: names.map(subjectOf),
    pending: t('domains.undoing', { what: whatOf(names) }),
    failed: (reason) => t('domains.undoFailed', { what: whatOf(names), reason }),
    onFailed: () => takeOff(layer, names),
    async run() {
      // What the operation did not come to store needs no undoing.
      const changed = storedRecords().filter(({ name }) => seen.has(name))
      const known = changed.flatMap(({ name }) => seen.get(name) ?? [])
      if (known.length === 0) {
        takeOff(layer, names)
        return { text: t('domains.nothingToUndo') }
      }
      const now = await readRecords(known, key)
      const same = known.filter((one) => isSame(one, now.get(one.name)))
      const others = known.filter((one) => !same.includes(one)).map(({ name }) => name)
      takeOff(
        layer,
        names.filter((name) => !same.some((one) => one.name === name)),
      )
      for (const name of others) showAnew(now.get(name))
      const refused = same.length === 0 ? NO_REFUSALS : await store(key, layer, same, marksOf)
      takeOff(layer, [...refused.keys()])
      const done = same.map(({ name }) => name).filter((name) => !refused.has(name))
      const parts = [
        ...(done.length > 0 ? [t('domains.undoneOf', { what: whatOf(done) })] : []),
        ...(others.length > 0 ? [t('domains.changedMeanwhile', { what: namesText(others) })] : []),
        ...(refused.size > 0 ? [refusalText(refused)] : []),
      ]
      return { text: parts.join(' '), isFault: done.length < known.length }
    },
  }
}

const NO_REFUSALS: ReadonlyMap<string, string> = new Map()

/**
 * Stores marks, and returns the names that the service refused with its reason: they keep no other from being stored.
 * Throws if none was stored.
 */
async function store(
  key: string | undefined,
  layer: number,
  records: readonly DomainRecord[],
  marksOf: (name: string) => Marks,
): Promise<ReadonlyMap<string, string>> {
  const refused = new Map<string, string>()
  let rest = records
  for (let attempt = 1; ; attempt++) {
    const values = new Map(rest.map(({ name }) => [name, marksOf(name)]))
    noteSent(values)
    try {
      await send(key, rest, values)
      noteStored(layer, values)
      for (const { name } of rest) remember(name, records, values.get(name) ?? {})
      return refused
    } catch (error) {
      const faults = error instanceof ApiError ? error.errors : []
      for (const { index, msg } of faults) refused.set(rest[index]?.name ?? '', msg)
      const left = rest.filter(({ name }) => !refused.has(name))
      if (faults.length > 0 && left.length === 0) throw new Error(faults[0]?.msg, { cause: error })
      if (faults.length === 0 || left.length === rest.length || attempt === MAX_ATTEMPTS) throw error
      rest = left
    }
  }
}

async function send(
  key: string | undefined,
  records: readonly DomainRecord[],
  values: ReadonlyMap<string, Marks>,
): Promise<void> {
  const data = [...values].map(([domain, marks]) => ({ domain, ...marks }))
  try {
    await ask('POST /api/v1/domainwatch/update', { body: { data }, ...(key === undefined ? {} : { key }) })
  } catch (error) {
    // The answer was lost on the way: only the service knows whether it stored them.
    if (!(error instanceof ConnectionLost)) throw error
    const now = await readRecords(records, key).catch(() => undefined)
    const isStored = records.every(({ name }) => hasMarks(now?.get(name), values.get(name) ?? {}))
    if (!isStored) throw error
  }
}

function hasMarks(record: DomainRecord | undefined, { revision, discarded }: Marks): boolean {
  if (record === undefined) return false
  return (
    (revision ?? record.revision) === record.revision && (discarded ?? record.discarded) === record.discarded
  )
}

function remember(name: string, records: readonly DomainRecord[], marks: Marks): void {
  const record = records.find((one) => one.name === name)
  if (record === undefined) return
  seen.delete(name)
  seen.set(name, { ...record, ...knownMarks(name), ...marks })
  for (const oldest of seen.keys()) {
    if (seen.size <= MAX_SEEN) break
    seen.delete(oldest)
  }
}

/** Whether nobody changed the record since this console did. */
function isSame(known: DomainRecord, now: DomainRecord | undefined): boolean {
  const fields = ['status', 'reserved', 'revision', 'discarded', 'agent', 'date_reg'] as const
  return now !== undefined && fields.every((field) => known[field] === now[field])
}

function showAnew(record: DomainRecord | undefined): void {
  if (record === undefined) return
  noteRecord(record)
  changedRecords.set(new Map([...changedRecords.get(), [record.name, record]]))
}

whenKeyLeaves(() => seen.clear())

export const subjectOf = (name: string): string => `domain:${name}`

/** `casa.cl`, or `3 dominios`. */
const whatOf = (names: readonly string[]): string =>
  names.length === 1 ? `${names[0]}.cl` : tn('domains.rows', names.length)

function namesText(names: readonly string[]): string {
  const named = names.slice(0, MAX_NAMED).map((name) => `${name}.cl`)
  const more = names.length - named.length
  return `${named.join(', ')}${more > 0 ? ` ${t('domains.andMore', { n: more })}` : ''}`
}

function refusalText(refused: ReadonlyMap<string, string>): string {
  const [reason = ''] = refused.values()
  return t('domains.notChanged', { what: namesText([...refused.keys()]), reason })
}
