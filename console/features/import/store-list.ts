import { MAX_LABEL_CHARACTERS } from '../../base/constants.ts'
import { ApiError, callApi, streamApi, type RecordError } from '../../api/client.ts'
import type { ErrorCode } from '../../api/schema.ts'
import { withRetries } from '../../api/retry.ts'
import { localNow } from '../../base/server.ts'
import { linesOf } from '../domains/records.ts'
import type { BadLine, ReadList, Row } from './read-list.ts'

/** Records per request: large enough to be fast, small enough to show progress. */
const BATCH_ROWS = 2_000
/** Names looked up one by one, and concurrently. */
const MAX_LOOKED_UP = 2_000
const LOOK_UPS_AT_ONCE = 6
/** Maximum recorded names, of the list's days, that a preview compares with. */
const MAX_COMPARED = 400_000

export type Effect = 'new' | 'changed' | 'same'

interface Known {
  readonly status: number
  readonly date: string
}

export interface ImportPreview {
  readonly effects: ReadonlyMap<string, Effect>
  readonly sums: Readonly<Record<Effect, number>>
  /** Otherwise, names shown as new may be recorded with a date outside the list's days. */
  readonly isExact: boolean
}

/** The effect of storing the list, by name; undefined if it is too long to compare. */
export async function previewList(list: ReadList, signal: AbortSignal): Promise<ImportPreview | undefined> {
  const sums = { new: 0, changed: 0, same: 0 }
  if (list.rows.length === 0) return { effects: new Map(), sums, isExact: true }
  const ofDays =
    list.kind === 'registrations' ? await recordedInDays(list.rows, signal) : new Map<string, Known>()
  if (ofDays === undefined) return undefined
  const others = await lookUp(
    list.rows.filter(({ domain }) => !ofDays.has(domain)),
    signal,
  )
  if (others === undefined && list.kind === 'deletions') return undefined
  const effects = new Map<string, Effect>()
  for (const { domain, status, date } of list.rows) {
    const old = ofDays.get(domain) ?? others?.get(domain)
    const isSame = old !== undefined && old.status === status && (date === undefined || old.date === date)
    const effect = old === undefined ? 'new' : isSame ? 'same' : 'changed'
    effects.set(domain, effect)
    sums[effect]++
  }
  return { effects, sums, isExact: others !== undefined }
}

async function recordedInDays(
  rows: readonly Row[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Known> | undefined> {
  const [first = { date: '' }] = rows
  const [from, to] = rows.reduce(
    ([least = '', most = ''], { date = '' }) => [date < least ? date : least, date > most ? date : most],
    [first.date, first.date],
  )
  const known = new Map<string, Known>()
  const query = { from, to, format: 'ndjson' }
  for await (const line of linesOf(await streamApi('/api/v1/domainwatch/export', query, signal))) {
    const { name, status, date_reg: date } = JSON.parse(line)
    known.set(String(name), { status: Number(status), date: String(date) })
    if (known.size > MAX_COMPARED) return undefined
  }
  return known
}

async function lookUp(
  rows: readonly Row[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Known> | undefined> {
  if (rows.length > MAX_LOOKED_UP) return undefined
  const known = new Map<string, Known>()
  const left = [...rows]
  const work = async () => {
    for (let row = left.pop(); row !== undefined; row = left.pop()) {
      const { domain } = row
      const query = { search: domain, length: Math.min(MAX_LABEL_CHARACTERS, [...domain].length), limit: 1 }
      const { data } = await callApi('GET /api/v1/domainwatch/list', { query, signal })
      const found = data.data[0]?.find(({ name }) => name === domain)
      if (found !== undefined) known.set(domain, { status: found.status, date: found.date_reg })
    }
  }
  await Promise.all(Array.from({ length: LOOK_UPS_AT_ONCE }, work))
  return known
}

export interface Progress {
  /** Number of rows, from the start, that are stored or rejected. */
  readonly done: number
  readonly stored: number
  /** The first ones. */
  readonly refused: readonly BadLine[]
  readonly refusedCount: number
}

export const NO_REPAIRS: Progress = { done: 0, stored: 0, refused: [], refusedCount: 0 }

const MAX_REFUSED = 1_000

/** The key that the import started with, even after another user has entered theirs, and what stops it. */
interface Session {
  readonly key: string | undefined
  readonly signal: AbortSignal
}

/** Stores the list in batches, from the end of `progress`. A rejected row is reported and does not affect others. */
export async function storeList(
  list: ReadList,
  progress: Progress,
  tell: (progress: Progress, state: 'running' | 'waiting') => void,
  session: Session,
): Promise<Progress> {
  let now = progress
  while (now.done < list.rows.length) {
    const before = now
    const batch = list.rows.slice(before.done, before.done + BATCH_ROWS)
    // A batch that was stored but not acknowledged is sent again, which has no effect.
    const work = () => storeBatch(batch, session)
    const refused = await withRetries(work, () => tell(before, 'waiting'), session.signal)
    now = {
      done: before.done + batch.length,
      stored: before.stored + batch.length - refused.length,
      refused: [...before.refused, ...refused].slice(0, MAX_REFUSED),
      refusedCount: before.refusedCount + refused.length,
    }
    tell(now, 'running')
  }
  return now
}

async function storeBatch(batch: readonly Row[], session: Session): Promise<BadLine[]> {
  const refused: BadLine[] = []
  const unknown: Row[] = []
  // Recorded names keep their date of registration: only the status is set.
  const deleted = batch.filter(({ date }) => date === undefined)
  await sendAll(
    deleted,
    (rows) => ({ name: 'update', rows }),
    session,
    (row, fault, code) => {
      if (code === 'names_not_recorded') unknown.push(row)
      else refused.push(badLine(row, fault))
    },
  )
  const added = [...batch.filter(({ date }) => date !== undefined), ...unknown]
  await sendAll(
    added,
    (rows) => ({ name: 'add', rows }),
    session,
    (row, fault) => refused.push(badLine(row, fault)),
  )
  return refused
}

const badLine = ({ line, domain }: Row, { field, msg }: RecordError): BadLine => ({
  line,
  text: domain,
  reason: { said: msg, field },
})

interface Order {
  readonly name: 'add' | 'update'
  readonly rows: readonly Row[]
}

/** Sends rows, repeatedly without rejected ones: a batch is atomic, and only the first 100 faults are reported. */
async function sendAll(
  rows: readonly Row[],
  order: (rows: readonly Row[]) => Order,
  session: Session,
  refuse: (row: Row, fault: RecordError, code: ErrorCode | undefined) => void,
): Promise<void> {
  let left = rows
  while (left.length > 0) {
    try {
      await send(order(left), session)
      return
    } catch (error) {
      if (!(error instanceof ApiError) || error.errors.length === 0) throw error
      const faults = new Map(error.errors.map((one) => [one.index, one]))
      for (const [index, fault] of faults) {
        const row = left[index]
        if (row !== undefined) refuse(row, fault, error.code)
      }
      left = left.filter((_, index) => !faults.has(index))
    }
  }
}

async function send({ name, rows }: Order, { key, signal }: Session): Promise<void> {
  const options = { signal, key }
  if (name === 'update') {
    const data = rows.map(({ domain, status }) => ({ domain, status }))
    await callApi('POST /api/v1/domainwatch/update', { body: { data }, ...options })
    return
  }
  const now = localNow()
  const data = rows.map(({ domain, status, reserve, date = now }) => ({
    domain,
    length: [...domain].length,
    reserve,
    status,
    date_reg: date,
  }))
  await callApi('POST /api/v1/domainwatch/add', { body: { data }, ...options })
}
