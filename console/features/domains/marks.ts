import { untilAnswered } from '../../api/retry.ts'
import {
  runOperation,
  type OperationSpec,
  type OperationHandle,
  type OperationOutcome,
} from '../work/operations.ts'
import { showToast } from '../../design/toasts.tsx'
import { t, tn } from '../../i18n/index.ts'
import {
  stateText,
  storeChanges,
  storeWithRetries,
  type Change,
  type Expected,
  type Rejection,
  type Values,
} from './changes.ts'
import {
  changedRecords,
  currentRecord,
  storedMarks,
  applyPending,
  nextUpdateId,
  updateStored,
  recordSent,
  recordStored,
  pendingFields,
  patched,
  patches,
  revertPending,
  type Mark,
} from './optimistic-updates.ts'
import { readRecord, type DomainRecord } from './records.ts'

/** Names listed in a message. */
const MAX_NAMED = 3
const MAX_STORED = 20_000
/** Attempts while others change the record in other ways. */
const MAX_ATTEMPTS = 5

/** Records as this console last stored them, which undo expects unchanged. */
const lastStored = new Map<string, DomainRecord>()

const VERBS = { revision: ['unreview', 'review'], discarded: ['restore', 'discard'] } as const
type Verb = (typeof VERBS)[Mark][number] | 'see'

/** Called with the records that were not changed, and which of them someone else has changed. */
type OnFailed = (records: readonly DomainRecord[], conflicts: ReadonlySet<string>) => void

/**
 * Sets a mark on records: shown immediately, stored in order, can be undone. Setting a mark is a decision, so the
 * record becomes seen. Undefined if there is nothing to change.
 */
export function setMark(
  records: readonly DomainRecord[],
  mark: Mark,
  value: 0 | 1,
  onFailed: OnFailed = () => {},
): OperationHandle | undefined {
  const targets = records.map(currentRecord).filter((one) => one[mark] !== value)
  if (targets.length === 0) {
    if (records.length > 0) showToast(t('domains.noChange'))
    return undefined
  }
  const set = value === 1 ? { [mark]: value, seen: 1 } : { [mark]: value }
  return change(targets, set, VERBS[mark][value], onFailed)
}

/**
 * Decides on one record, with a mark or without. What others made of it since it was read is not what the person
 * decided on: the service refuses the decision then, with the present record.
 */
export function decide(
  record: DomainRecord,
  mark: Mark | undefined,
  onFailed: OnFailed,
): OperationHandle | undefined {
  const set = mark === undefined ? { seen: 1 } : { [mark]: 1, seen: 1 }
  return change([patched(record, patches.get())], set, mark === undefined ? 'see' : VERBS[mark][1], onFailed)
}

function change(
  targets: readonly DomainRecord[],
  set: Values,
  verb: Verb,
  onFailed: OnFailed,
): OperationHandle | undefined {
  const updateId = nextUpdateId()
  const names = targets.map(({ name }) => name)
  const pending = new Map(names.map((name) => [name, pendingFields(name)]))
  const before = new Map<string, Values>()
  const conflicts = new Set<string>()
  /** Without rejected records. */
  let stored: readonly DomainRecord[] = targets
  applyPending(updateId, targets, () => set)
  return runOperation({
    subjects: names.map(toSubject),
    pending: t(`domains.doing.${verb}`, { what: namesOrCount(names) }),
    failed: (reason) => t(`domains.failed.${verb}`, { what: namesOrCount(names), reason }),
    onFailed: () => {
      revertPending(updateId, names)
      stored = []
      onFailed(targets, conflicts)
    },
    async run({ onWait }): Promise<OperationOutcome> {
      const changes = targets.map((one): Change => {
        const expect = getExpected(one, pending.get(one.name))
        before.set(one.name, pick(expect, set))
        return { domain: one.name, set, expect }
      })
      const refused = await store(updateId, targets, changes, onWait)
      for (const [name, { record }] of refused) if (record !== undefined) conflicts.add(name)
      const [first] = refused.values()
      if (first !== undefined && refused.size === targets.length) throw new Error(first.reason)
      stored = targets.filter(({ name }) => !refused.has(name))
      const done = tn(`domains.done.${verb}`, stored.length)
      const named = stored.length === 1 ? `${done}: ${stored[0]?.name}.cl` : done
      if (refused.size === 0) return { text: named }
      revertPending(updateId, [...refused.keys()])
      onFailed(
        targets.filter(({ name }) => refused.has(name)),
        conflicts,
      )
      return { text: `${named}. ${refusalText(refused)}`, isError: true }
    },
    undo: () => undoOperation(() => stored, before),
  })
}

/** Restores the values of each record, unless someone has changed it since. */
function undoOperation(
  storedRecords: () => readonly DomainRecord[],
  before: ReadonlyMap<string, Values>,
): OperationSpec {
  const updateId = nextUpdateId()
  const records = storedRecords()
  const names = records.map(({ name }) => name)
  const toValues = (name: string): Values => before.get(name) ?? {}
  applyPending(updateId, records.map(currentRecord), toValues)
  return {
    subjects: names.map(toSubject),
    pending: t('domains.undoing', { what: namesOrCount(names) }),
    failed: (reason) => t('domains.undoFailed', { what: namesOrCount(names), reason }),
    onFailed: () => revertPending(updateId, names),
    async run({ onWait }) {
      // What the operation did not store need not be undone.
      const known = storedRecords().flatMap(({ name }) => lastStored.get(name) ?? [])
      if (known.length === 0) {
        revertPending(updateId, names)
        return { text: t('domains.nothingToUndo') }
      }
      const changes = known.map((one) => ({
        domain: one.name,
        set: toValues(one.name),
        expect: getExpected(one, undefined),
      }))
      const refused = await store(updateId, known, changes, onWait)
      const done = known.map(({ name }) => name).filter((name) => !refused.has(name))
      revertPending(
        updateId,
        names.filter((name) => !done.includes(name)),
      )
      const others = [...refused].flatMap(([, { record }]) => record ?? [])
      const failed = new Map([...refused].filter(([, { record }]) => record === undefined))
      const parts = [
        ...(done.length > 0 ? [t('domains.undoneOf', { what: namesOrCount(done) })] : []),
        ...(others.length > 0 ? [t('domains.changedMeanwhile', { what: statesText(others) })] : []),
        ...(failed.size > 0 ? [refusalText(failed)] : []),
      ]
      return { text: parts.join(' '), isError: done.length < known.length }
    },
  }
}

/**
 * The expected state of a record: as the user saw it. Fields that pending operations change count as changed by
 * them.
 */
function getExpected(record: DomainRecord, open: ReadonlySet<string> | undefined): Expected {
  const { status, revision, discarded, seen } = record
  const shown: Readonly<Record<string, number | undefined>> = { status, revision, discarded, seen }
  const known: Readonly<Record<string, unknown>> = { ...storedMarks(record.name) }
  // Notes and tags are compared where they are stored.
  const entries = Object.entries(shown).map(([name, value]) => [
    name,
    open?.has(name) === true ? known[name] : value,
  ])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

const pick = (values: Expected, like: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => name in like))

/** Stores changes, shows the results, and returns rejected ones. */
async function store(
  updateId: number,
  records: readonly DomainRecord[],
  changes: readonly Change[],
  onWait: () => void,
): Promise<ReadonlyMap<string, Rejection>> {
  const values = new Map(changes.map(({ domain, set }) => [domain, set]))
  recordSent(updateId, values)
  let isRepeated = false
  const wait = () => {
    isRepeated = true
    onWait()
  }
  const refused = await storeWithRetries(changes, (work) => untilAnswered(work, wait))
  const done = changes.filter(({ domain }) => !refused.has(domain))
  recordStored(updateId, new Map(done.map(({ domain, set }) => [domain, set])), !isRepeated)
  for (const { domain, set, expect } of done) {
    const record = records.find(({ name }) => name === domain)
    if (record !== undefined) remember({ ...record, ...expect, ...set })
  }
  for (const { record } of refused.values()) showCurrent(record)
  return refused
}

function remember(record: DomainRecord): void {
  lastStored.delete(record.name)
  lastStored.set(record.name, record)
  for (const oldest of lastStored.keys()) {
    if (lastStored.size <= MAX_STORED) break
    lastStored.delete(oldest)
  }
}

function showCurrent(record: DomainRecord | undefined): void {
  if (record === undefined) return
  const known = changedRecords.get().get(record.name)
  // The response may come after the events of later changes.
  const latest = known !== undefined && known.date_mod >= record.date_mod ? known : record
  updateStored(latest)
  changedRecords.set(new Map([...changedRecords.get(), [latest.name, latest]]))
}

/** What a change of values finds: `done`, `expected` as the person saw them, or why it must not be made. */
type Found = 'done' | 'expected' | { readonly conflict: string }

/**
 * Gives a record other values, unless someone has changed these. Safe to repeat: what an earlier attempt stored is left as it is.
 * @throws with the reason for the user
 */
export async function replaceValues(
  name: string,
  set: Values,
  look: (now: DomainRecord) => Found,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const now = await readRecord(name)
    if (now === null) throw new Error(t('domains.gone'))
    const found = look(now)
    if (found === 'done') return
    if (found !== 'expected') {
      showCurrent(now)
      throw new Error(found.conflict)
    }
    // It must not change between reading and storing, either. Within a second, `date_mod` does not show that a mark has changed.
    const expect = { ...getExpected(now, undefined), date_mod: now.date_mod }
    const [refusal] = (await storeChanges([{ domain: name, set, expect }])).values()
    if (refusal === undefined) return
    showCurrent(refusal.record)
    // Perhaps only something else of it has changed.
    if (refusal.record === undefined || attempt === MAX_ATTEMPTS) throw new Error(refusal.reason)
  }
}

export const toSubject = (name: string): string => `domain:${name}`

/** `casa.cl`, or `3 dominios`. */
export const namesOrCount = (names: readonly string[]): string =>
  names.length === 1 ? `${names[0]}.cl` : tn('domains.rows', names.length)

function namesText(names: readonly string[]): string {
  const named = names.slice(0, MAX_NAMED)
  const more = names.length - named.length
  return `${named.join(', ')}${more > 0 ? ` ${t('domains.andMore', { n: more })}` : ''}`
}

const statesText = (records: readonly DomainRecord[]): string =>
  namesText(records.map((record) => `${record.name}.cl (${t('domains.now', { state: stateText(record) })})`))

function refusalText(refused: ReadonlyMap<string, Rejection>): string {
  const [{ reason } = { reason: '' }] = refused.values()
  return t('domains.notChanged', { what: namesText([...refused.keys()].map((name) => `${name}.cl`)), reason })
}
