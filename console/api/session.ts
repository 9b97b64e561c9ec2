import { browserStorage, onOtherTab, tabStorage, type BrowserStorage } from '../base/browser-storage.ts'
import { HAS_PROXY_SIGN_IN } from '../base/server.ts'
import { createStore } from '../base/store.ts'
import { reloadForNextUser } from '../base/unsaved-work.ts'

export const SERVICES = ['domainwatch', 'imagestore', 'admin'] as const
export type ServiceName = (typeof SERVICES)[number]

export type Keys = Readonly<Partial<Record<ServiceName, string>>>

const STORAGE_KEY = 'catalejo.keys'
/** In every tab of the browser, until the user signs in by the proxy again. */
export const SIGNED_OUT = 'catalejo.signed-out'

/** The keys of this page, one per service. For this tab only, unless the user chose to be remembered. */
export const session = createStore<Keys>(load())

/** The service whose key is no longer valid. */
export const rejectedService = createStore<ServiceName | undefined>(undefined)

export const keyFor = (service: ServiceName): string | undefined => session.get()[service]

/** Uses a key in this page, and does not store it. */
export function enterKey(service: ServiceName, key: string): void {
  rejectedService.set(undefined)
  session.set({ ...session.get(), [service]: key })
}

/** Returns whether the browser keeps it beyond this page. */
export function storeKey(service: ServiceName, key: string, isRemembered: boolean): boolean {
  // The tab's own keys take precedence over remembered ones.
  if (isRemembered) storeKeys(tabStorage, without(stored(tabStorage), service))
  const storage = isRemembered ? browserStorage : tabStorage
  return storeKeys(storage, { ...stored(storage), [service]: key })
}

/** @param key forgotten only if it is this one; undefined for any */
export function forgetStoredKey(service: ServiceName, key?: string): void {
  for (const storage of [browserStorage, tabStorage]) {
    const kept = stored(storage)
    if (kept[service] !== undefined && kept[service] === (key ?? kept[service]))
      storeKeys(storage, without(kept, service))
  }
}

export function removeKey(service: ServiceName): void {
  const key = keyFor(service)
  if (key === undefined) return
  rejectedService.set(service)
  session.set(without(session.get(), service))
  // Another tab may have a newer key of this service.
  forgetStoredKey(service, key)
}

export function signOut(): void {
  for (const storage of [browserStorage, tabStorage]) storage.remove(STORAGE_KEY)
  if (HAS_PROXY_SIGN_IN) browserStorage.write(SIGNED_OUT, 'yes')
  reloadForNextUser()
}

// A sign-out, which removes the item, ends the session of every tab that uses the remembered keys; a rejection leaves an item
// without the key.
onOtherTab((name, before, now) => {
  if (name !== STORAGE_KEY) return
  const [old, left, own] = [keysIn(before), keysIn(now), stored(tabStorage)]
  const gone = SERVICES.filter(
    (service) =>
      old[service] !== undefined &&
      old[service] === keyFor(service) &&
      left[service] === undefined &&
      own[service] === undefined,
  )
  if (gone.length === 0) return
  if (now === null) {
    reloadForNextUser()
    return
  }
  rejectedService.set(gone[0])
  session.set(gone.reduce(without, session.get()))
})

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
