import { useEffect } from 'react'
import { CONSOLE_URL } from './server.ts'
import { tabStorage } from './browser-storage.ts'
import { createStore } from './store.ts'

const guards = new Set<() => boolean>()

/**
 * Asks the user before the page is left or the session ended, while that would lose work. Returns a function that ends it.
 * @param isOpen whether a part of the page has work that is not saved
 */
export function guardWork(isOpen: () => boolean): () => void {
  guards.add(isOpen)
  return () => void guards.delete(isOpen)
}

export const hasUnsavedWork = (): boolean => [...guards].some((isOpen) => isOpen())

let isSessionOver = false

addEventListener('beforeunload', (event) => {
  if (!isSessionOver && hasUnsavedWork()) event.preventDefault()
})

/** Reloads the page without a question: the next user must neither see nor send what the last one left. */
export function reloadForNextUser(): void {
  isSessionOver = true
  location.reload()
}

/** The same while a field or form of the component has text that is not saved. */
export function useGuard(isUnsaved: boolean): void {
  useEffect(() => (isUnsaved ? guardWork(() => true) : undefined), [isUnsaved])
}

const TIMEOUT_MS = 10_000
/** Nodes of different releases behind one load balancer must not cause an endless reload loop. */
const RELOAD_AT_MOST_EVERY_MS = 30_000
const STORAGE_KEY = 'catalejo.reloaded'

/** Whether the service has another release of the console than the one that runs. */
export const release = createStore<'current' | 'newer'>('current')

/** Fetches the page, which names the files of the current release. */
export async function checkRelease(): Promise<'current' | 'newer' | 'unreachable'> {
  try {
    const response = await fetch(CONSOLE_URL, { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (!response.ok) return 'unreachable'
    const own = document.querySelector<HTMLScriptElement>('script[type=module][src]')?.src.split('/').at(-1)
    const isSame = own === undefined || (await response.text()).includes(own)
    release.set(isSame ? 'current' : 'newer')
    return release.get()
  } catch {
    return 'unreachable'
  }
}

/** Reloads the page if nothing is lost: no unsaved work and no open dialog. The URL keeps the rest. */
export function reloadIfIdle(): boolean {
  if (hasUnsavedWork() || document.querySelector('dialog[open]') !== null) return false
  const now = Date.now()
  if (now - Number(tabStorage.read(STORAGE_KEY) ?? 0) < RELOAD_AT_MOST_EVERY_MS) return false
  if (!tabStorage.write(STORAGE_KEY, String(now))) return false
  location.reload()
  return true
}
