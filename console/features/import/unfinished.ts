import { SERVICE_URL, serverNow } from '../../base/server.ts'
import { browserStorage } from '../../base/browser-storage.ts'
import type { DayOrder } from './dates.ts'
import { deleteSavedFile, MAX_AGE_MS, type FileId } from './saved-file.ts'

/** An import that the page was left in the middle of. */
export interface UnfinishedImport extends FileId {
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

/** The names of all entries of an account begin with it. */
const startOf = (account: string): string =>
  `catalejo.import ${JSON.stringify([SERVICE_URL.pathname, account])} `
/** Each file has its own entry, because several tabs may import at the same time. */
const placeOf = (account: string, { name, size }: FileId): string => `${startOf(account)}${size} ${name}`

export function saveUnfinished(account: string, left: Omit<UnfinishedImport, 'at'>): void {
  browserStorage.write(placeOf(account, left), JSON.stringify({ ...left, at: serverNow() }))
}

/** Forgets the import and its file. */
export async function deleteUnfinished(account: string, file: FileId): Promise<void> {
  browserStorage.remove(placeOf(account, file))
  await deleteSavedFile(account, file)
}

/** Forgets all imports of an account and their files. */
export async function deleteAllUnfinished(account: string): Promise<void> {
  await Promise.all(listUnfinished(account).map((left) => deleteUnfinished(account, left)))
}

/** The imports that this account left in this browser, newest first. */
export function listUnfinished(account: string): readonly UnfinishedImport[] {
  const all = browserStorage.names(startOf(account)).flatMap((place) => {
    const left = load(place)
    if (left === undefined) browserStorage.remove(place)
    return left ?? []
  })
  return all.toSorted((one, other) => other.at - one.at)
}

/** The import of this very file that this account left; undefined if there is none. */
export const loadUnfinished = (account: string, file: FileId): UnfinishedImport | undefined =>
  load(placeOf(account, file))

function load(place: string): UnfinishedImport | undefined {
  try {
    const found: unknown = JSON.parse(browserStorage.read(place) ?? 'null')
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
