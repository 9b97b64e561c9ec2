import { createStore, del, delMany, entries, get, set } from 'idb-keyval'
import { SERVICE_URL } from '../../base/server.ts'

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
const placeOf = (account: string, { name, size }: FileId): string =>
  JSON.stringify([SERVICE_URL.pathname, account, size, name])

/**
 * Stores the file of an import, so that it can be resumed after the page was closed. Does nothing in browsers
 * without support.
 */
export async function saveFile(account: string, file: File): Promise<void> {
  if (file.size > MAX_BYTES) return
  await attempt(async () => {
    const kept: Kept = { file, at: Date.now() }
    await set(placeOf(account, file), kept, store)
    const all = (await entries<string, Kept>(store)).toSorted(([, one], [, other]) => other.at - one.at)
    const old = all.filter(([, { at }], i) => i >= MAX_FILES || isOld(at)).map(([place]) => place)
    await delMany(old, store)
  })
}

/** The file that was kept for an account; undefined if there is none, or it is too old. */
export async function loadSavedFile(account: string, id: FileId): Promise<File | undefined> {
  const kept = await attempt(() => get<Kept>(placeOf(account, id), store))
  if (kept === undefined) return undefined
  if (!isOld(kept.at)) return kept.file
  await deleteSavedFile(account, id)
  return undefined
}

export async function deleteSavedFile(account: string, id: FileId): Promise<void> {
  await attempt(() => del(placeOf(account, id), store))
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
