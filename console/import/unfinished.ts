import { SERVICE_URL, serverNow } from '../api/server.ts'
import { browserStorage } from '../app/browser-storage.ts'
import type { DayOrder } from './dates.ts'
import { deleteSavedFile, MAX_AGE_MS } from './saved-file.ts'

/** An import that the page was left in the middle of. */
export interface UnfinishedImport {
  readonly name: string
  readonly size: number
  readonly rows: number
  /** Number of rows, from the start, that are stored or rejected. */
  readonly done: number
  readonly stored: number
  readonly refused: number
  /** The order of dates that the person chose. */
  readonly order: DayOrder | undefined
  /** When it was last stored from, by the service's clock. */
  readonly at: number
}

const ORDERS: readonly DayOrder[] = ['year-first', 'day-first', 'month-first']

const placeOf = (account: string): string => `catalejo.import ${SERVICE_URL.pathname} ${account}`

export function saveUnfinished(account: string, left: Omit<UnfinishedImport, 'at'>): void {
  browserStorage.write(placeOf(account), JSON.stringify({ ...left, at: serverNow() }))
}

/** Forgets the import and its file. */
export async function deleteUnfinished(account: string): Promise<void> {
  browserStorage.remove(placeOf(account))
  await deleteSavedFile(account)
}

/** The import that this account left in this browser. */
export function loadUnfinished(account: string): UnfinishedImport | undefined {
  try {
    const found: unknown = JSON.parse(browserStorage.read(placeOf(account)) ?? 'null')
    if (typeof found !== 'object' || found === null) return undefined
    const {
      name,
      size,
      rows,
      done,
      stored,
      refused,
      order,
      at,
    }: Partial<Record<keyof UnfinishedImport, unknown>> = found
    if (typeof name !== 'string' || typeof size !== 'number' || typeof rows !== 'number') return undefined
    if (typeof done !== 'number' || typeof stored !== 'number' || typeof refused !== 'number')
      return undefined
    if (typeof at !== 'number' || serverNow() - at > MAX_AGE_MS) return undefined
    return { name, size, rows, done, stored, refused, order: ORDERS.find((one) => one === order), at }
  } catch {
    return undefined
  }
}
