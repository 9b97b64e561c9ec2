import { browserStorage, onOtherTab, tabStorage, type BrowserStorage } from '../base/browser-storage.ts'
import { createStore } from '../base/store.ts'

export const SERVICES = ['domainwatch', 'imagestore', 'admin'] as const
export type ServiceName = (typeof SERVICES)[number]

export type Keys = Readonly<Partial<Record<ServiceName, string>>>

const STORAGE_KEY = 'catalejo.keys'

/** The pasted keys, one per service. For this tab only, unless the user chose to be remembered. */
export const session = createStore<Keys>(load())

/** The key that the proxy gave. */
let held: { readonly service: ServiceName; readonly key: string } | undefined

/** The service whose key is no longer valid. */
export const rejectedService = createStore<ServiceName | undefined>(undefined)

export const keyFor = (service: ServiceName): string | undefined => session.get()[service]

/** Keeps a key that the proxy gave in memory only, and forgets an older one that the browser stored. */
export function holdKey(service: ServiceName, key: string): void {
  held = { service, key }
  for (const storage of [browserStorage, tabStorage]) {
    const kept = stored(storage)
    if (kept[service] !== undefined) storeKeys(storage, without(kept, service))
  }
  rejectedService.set(undefined)
  session.set({ ...session.get(), [service]: key })
}

/** Returns the service of the key that the proxy gave last. */
export const heldService = (): ServiceName | undefined => held?.service

/** Whether a key must not be stored. */
export const isHeld = (key: string): boolean => key === held?.key

/** Returns whether the browser keeps it beyond this page. */
export function saveKey(service: ServiceName, key: string, isRemembered: boolean): boolean {
  rejectedService.set(undefined)
  session.set({ ...session.get(), [service]: key })
  // The tab's own keys take precedence over remembered ones.
  if (isRemembered) storeKeys(tabStorage, without(stored(tabStorage), service))
  const storage = isRemembered ? browserStorage : tabStorage
  return storeKeys(storage, { ...stored(storage), [service]: key })
}

export function removeKey(service: ServiceName): void {
  const key = session.get()[service]
  if (key === undefined) return
  rejectedService.set(service)
  session.set(without(session.get(), service))
  for (const storage of [browserStorage, tabStorage]) {
    const kept = stored(storage)
    // Another tab may have a newer key of this service.
    if (kept[service] === key) storeKeys(storage, without(kept, service))
  }
}

export function signOut(): void {
  for (const storage of [browserStorage, tabStorage]) storage.remove(STORAGE_KEY)
  rejectedService.set(undefined)
  session.set({})
}

// A sign-out, which removes the item, ends the session of every tab that uses the remembered keys; a rejection leaves an item
// without the key.
onOtherTab((name, before, now) => {
  if (name !== STORAGE_KEY) return
  const [old, left, own] = [keysIn(before), keysIn(now), stored(tabStorage)]
  const gone = SERVICES.filter(
    (service) =>
      old[service] !== undefined &&
      old[service] === session.get()[service] &&
      left[service] === undefined &&
      own[service] === undefined,
  )
  if (gone.length === 0) return
  if (now !== null) rejectedService.set(gone[0])
  session.set(gone.reduce(without, session.get()))
})

/** Calls a listener when the user signs out: what they entered must not be shown to the next user. */
export function onSignOut(listener: () => void): void {
  session.subscribe(() => {
    // After a rejection, the same user continues with another key.
    if (Object.keys(session.get()).length === 0 && rejectedService.get() === undefined) listener()
  })
}

/** Calls a listener when keys are removed or replaced, so that the next user does not see what was done with them. */
export function onKeysRemoved(listener: (services: readonly ServiceName[]) => void): void {
  let before = session.get()
  session.subscribe(() => {
    const now = session.get()
    const gone = SERVICES.filter(
      (service) => before[service] !== undefined && before[service] !== now[service],
    )
    before = now
    if (gone.length > 0) listener(gone)
  })
}

/** The same for the key of one service. */
export function onKeyRemoved(service: ServiceName, listener: () => void): void {
  onKeysRemoved((services) => services.includes(service) && listener())
}

/** `/api/v1/imagestore/list` is of the service `imagestore`. */
export function serviceOf(path: string): ServiceName {
  const name = path.split('/')[3]
  return SERVICES.find((service) => service === name) ?? 'domainwatch'
}

function without(keys: Keys, service: ServiceName): Keys {
  const { [service]: _dropped, ...rest } = keys
  return rest
}

function load(): Keys {
  return { ...stored(browserStorage), ...stored(tabStorage) }
}

function stored(storage: BrowserStorage): Keys {
  return keysIn(storage.read(STORAGE_KEY))
}

const storeKeys = (storage: BrowserStorage, keys: Keys): boolean =>
  storage.write(STORAGE_KEY, JSON.stringify(keys))

function keysIn(text: string | null): Keys {
  try {
    const found: unknown = JSON.parse(text ?? '{}')
    if (typeof found !== 'object' || found === null) return {}
    const entries = Object.entries(found).filter((entry): entry is [ServiceName, string] => {
      return SERVICES.some((service) => service === entry[0]) && typeof entry[1] === 'string'
    })
    return Object.fromEntries(entries)
  } catch {
    return {}
  }
}
