import { createStore } from '../app/store.ts'

export const SERVICES = ['domainwatch', 'imagestore', 'admin'] as const
export type ServiceName = (typeof SERVICES)[number]

export type Keys = Readonly<Partial<Record<ServiceName, string>>>

const STORAGE_KEY = 'catalejo.keys'

/** The pasted keys, one per service. For this tab only, unless the user chose to be remembered. */
export const session = createStore<Keys>(load())

/** The service whose key is no longer valid. */
export const rejectedService = createStore<ServiceName | undefined>(undefined)

export const keyFor = (service: ServiceName): string | undefined => session.get()[service]

export function saveKey(service: ServiceName, key: string, isRemembered: boolean): void {
  rejectedService.set(undefined)
  session.set({ ...session.get(), [service]: key })
  const storage = isRemembered ? localStorage : sessionStorage
  storage.setItem(STORAGE_KEY, JSON.stringify({ ...stored(storage), [service]: key }))
}

export function removeKey(service: ServiceName): void {
  if (session.get()[service] === undefined) return
  session.set(without(session.get(), service))
  for (const storage of [localStorage, sessionStorage]) {
    const rest = without(stored(storage), service)
    if (Object.keys(rest).length === 0) storage.removeItem(STORAGE_KEY)
    else storage.setItem(STORAGE_KEY, JSON.stringify(rest))
  }
  rejectedService.set(service)
}

export function signOut(): void {
  for (const storage of [localStorage, sessionStorage]) storage.removeItem(STORAGE_KEY)
  rejectedService.set(undefined)
  session.set({})
}

/** Calls a listener when a key is removed or replaced, so that the next user does not see what was done with it. */
export function onKeyRemoved(listener: () => void): void {
  let before = session.get()
  session.subscribe(() => {
    const now = session.get()
    const isGone = SERVICES.some(
      (service) => before[service] !== undefined && before[service] !== now[service],
    )
    before = now
    if (isGone) listener()
  })
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
  return { ...stored(localStorage), ...stored(sessionStorage) }
}

function stored(storage: Storage): Keys {
  try {
    const found: unknown = JSON.parse(storage.getItem(STORAGE_KEY) ?? '{}')
    if (typeof found !== 'object' || found === null) return {}
    const entries = Object.entries(found).filter((entry): entry is [ServiceName, string] => {
      return SERVICES.some((service) => service === entry[0]) && typeof entry[1] === 'string'
    })
    return Object.fromEntries(entries)
  } catch {
    return {}
  }
}
