import { ApiError, ask, askStream, type RecordError } from '../api/client.ts'
import { serverNow, TIME_ZONE } from '../api/server.ts'
import { linesOf } from '../domains/lines.ts'
import type { BadLine, ReadList, Row } from './read.ts'

/** One request: large enough to be quick, small enough that progress is seen. */
const BATCH_ROWS = 2_000
/** Names that are looked up one by one, so many at a time. */
const MAX_LOOKED_UP = 2_000
const LOOK_UPS_AT_ONCE = 6
/** Recorded names of the list's own days that a preview compares with. */
const MAX_COMPARED = 400_000
const NOT_RECORDED = 'El dominio no está registrado en el servicio'

export type Effect = 'new' | 'changed' | 'same'

interface Known {
  readonly status: number
  readonly date: string
}

export interface Foreseen {
  readonly effects: ReadonlyMap<string, Effect>
  /** Else names that are told to be new may be recorded with a date outside the list's days. */
  readonly isExact: boolean
}

/** What storing the list would do, name by name; undefined where it is too long to compare. */
export async function foresee(list: ReadList, signal: AbortSignal): Promise<Foreseen | undefined> {
  if (list.rows.length === 0) return { effects: new Map(), isExact: true }
  const ofDays =
    list.kind === 'registrations' ? await recordedInDays(list.rows, signal) : new Map<string, Known>()
  if (ofDays === undefined) return undefined
  const others = await lookUp(
    list.rows.filter(({ domain }) => !ofDays.has(domain)),
    signal,
  )
  if (others === undefined && list.kind === 'deletions') return undefined
  const effects = list.rows.map(({ domain, status, date }) => {
    const old = ofDays.get(domain) ?? others?.get(domain)
    if (old === undefined) return [domain, 'new'] as const
    const isSame = old.status === status && (date === undefined || old.date === date)
    return [domain, isSame ? 'same' : 'changed'] as const
  })
  return { effects: new Map(effects), isExact: others !== undefined }
}

async function recordedInDays(
  rows: readonly Row[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Known> | undefined> {
  const dates = rows.map(({ date }) => date ?? '').sort()
  const known = new Map<string, Known>()
  const query = { from: dates[0], to: dates.at(-1), format: 'ndjson' }
  for await (const line of linesOf(await askStream('/api/v1/domainwatch/export', query, signal))) {
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
      const query = { search: domain, length: Math.min(63, [...domain].length), limit: 1 }
      const { data } = await ask('GET /api/v1/domainwatch/list', { query, signal })
      const found = data.data[0]?.find(({ name }) => name === domain)
      if (found !== undefined) known.set(domain, { status: found.status, date: found.date_reg })
    }
  }
  await Promise.all(Array.from({ length: LOOK_UPS_AT_ONCE }, work))
  return known
}

export interface Progress {
  readonly done: number
  readonly stored: number
  readonly refused: readonly BadLine[]
}

/** Stores the list batch by batch. A line that the service refuses is told of and loses no other. */
export async function storeList(
  list: ReadList,
  tell: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Progress> {
  let progress: Progress = { done: 0, stored: 0, refused: [] }
  for (let start = 0; start < list.rows.length; start += BATCH_ROWS) {
    const batch = list.rows.slice(start, start + BATCH_ROWS)
    const refused = await storeBatch(batch, signal)
    progress = {
      done: start + batch.length,
      stored: progress.stored + batch.length - refused.length,
      refused: [...progress.refused, ...refused],
    }
    tell(progress)
  }
  return progress
}

async function storeBatch(batch: readonly Row[], signal: AbortSignal): Promise<BadLine[]> {
  const refused: BadLine[] = []
  const unknown: Row[] = []
  // Names that are recorded keep their date of registration: only what is bought or not is set.
  const deleted = batch.filter(({ date }) => date === undefined)
  await sendAll(
    deleted,
    (rows) => ({ name: 'update', rows }),
    signal,
    (row, { msg }) => {
      if (msg === NOT_RECORDED) unknown.push(row)
      else refused.push(badLine(row, msg))
    },
  )
  const added = [...batch.filter(({ date }) => date !== undefined), ...unknown]
  await sendAll(
    added,
    (rows) => ({ name: 'add', rows }),
    signal,
    (row, { msg }) => refused.push(badLine(row, msg)),
  )
  return refused
}

const badLine = ({ line, domain }: Row, message: string): BadLine => ({ line, text: domain, message })

interface Order {
  readonly name: 'add' | 'update'
  readonly rows: readonly Row[]
}

/** Sends rows, without those that are refused: a batch is stored whole or not at all, and the first 100 faults are told. */
async function sendAll(
  rows: readonly Row[],
  order: (rows: readonly Row[]) => Order,
  signal: AbortSignal,
  refuse: (row: Row, error: RecordError) => void,
): Promise<void> {
  let left = rows
  while (left.length > 0) {
    try {
      await send(order(left), signal)
      return
    } catch (error) {
      if (!(error instanceof ApiError) || error.errors.length === 0) throw error
      const faults = new Map(error.errors.map((one) => [one.index, one]))
      for (const [index, fault] of faults) {
        const row = left[index]
        if (row !== undefined) refuse(row, fault)
      }
      left = left.filter((_, index) => !faults.has(index))
    }
  }
}

async function send({ name, rows }: Order, signal: AbortSignal): Promise<void> {
  if (name === 'update') {
    const data = rows.map(({ domain, status }) => ({ domain, status }))
    await ask('POST /api/v1/domainwatch/update', { body: { data }, signal })
    return
  }
  const now = localNow()
  const data = rows.map(({ domain, status, date = now }) => ({
    domain,
    length: [...domain].length,
    reserve: 0,
    status,
    date_reg: date,
  }))
  await ask('POST /api/v1/domainwatch/add', { body: { data }, signal })
}

/** `YYYY-MM-DD HH:MM:SS` in the time zone of the service. */
function localNow(): string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'medium',
    timeZone: TIME_ZONE,
  })
  return format.format(serverNow())
}
