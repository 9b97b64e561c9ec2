import { createStore, del, delMany, entries, get, set } from 'idb-keyval'
import { browserStorage } from '../../base/browser-storage.ts'
import { serverNow, SERVICE_URL } from '../../base/server.ts'
import type { DayOrder } from './dates.ts'

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

/** The whole zone as a list, and some more. */
const MAX_BYTES = 48_000_000
/** Files that are kept: the newest ones. */
const MAX_FILES = 3
/** By then the next list is there. */
export const MAX_AGE_MS = 7 * 24 * 60 * 60_000
/** A database that another tab blocks may never open. */
const TIMEOUT_MS = 10_000

/** What tells files apart. */
export interface FileId {
  readonly name: string
  readonly size: number
}

interface Kept {
  readonly file: File
  /** By this machine's clock. */
  readonly at: number
}

const store = createStore('catalejo', 'imports')
const fileKeyOf = (account: string, { name, size }: FileId): string =>
  JSON.stringify([SERVICE_URL.pathname, account, size, name])

/**
 * Stores the file of an import, so that it can be resumed after the page was closed. Does nothing in browsers
 * without support.
 */
export async function saveFile(account: string, file: File): Promise<void> {
  if (file.size > MAX_BYTES) return
  await attempt(async () => {
    const kept: Kept = { file, at: Date.now() }
    await set(fileKeyOf(account, file), kept, store)
    const all = (await entries<string, Kept>(store)).toSorted(([, one], [, other]) => other.at - one.at)
    const old = all.filter(([, { at }], i) => i >= MAX_FILES || isOld(at)).map(([place]) => place)
    await delMany(old, store)
  })
}

/** The file that was kept for an account; undefined if there is none, or it is too old. */
export async function loadSavedFile(account: string, id: FileId): Promise<File | undefined> {
  const kept = await attempt(() => get<Kept>(fileKeyOf(account, id), store))
  if (kept === undefined) return undefined
  if (!isOld(kept.at)) return kept.file
  await deleteSavedFile(account, id)
  return undefined
}

export async function deleteSavedFile(account: string, id: FileId): Promise<void> {
  await attempt(() => del(fileKeyOf(account, id), store))
}

const isOld = (at: number): boolean => Date.now() - at > MAX_AGE_MS

/** Undefined if the browser forbids it, has no room, or takes too long. */
async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), TIMEOUT_MS)
  try {
    return await Promise.race([work(), late.promise])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
