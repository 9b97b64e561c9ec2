import { tabStorage } from '../base/browser-storage.ts'
import { createStore, useStore } from '../base/store.ts'
import { callApi } from './client.ts'
import type { SCOPES } from '../base/constants.ts'
import { withRetries } from './retry.ts'
import { isHeld, keyFor, onSignOut, SERVICES, session, type Keys, type ServiceName } from './session.ts'

export type Scope = (typeof SCOPES)[ServiceName][number]

interface Known {
  readonly scope: Scope
  readonly account: string
}

/** The accounts of the tab's keys: a reload must not forget whose work is open. */
const STORAGE_KEY = 'catalejo.accounts'

/** The known scopes and accounts of keys, also of those that were removed: their work is still their account's. */
const known = createStore<ReadonlyMap<string, Known>>(stored())
const asked = new Set<string>()

onUser(() => {
  const keys = Object.values(session.get()).filter((key) => !isHeld(key))
  const accounts = keys.flatMap((key) => (accountOfKey(key) === undefined ? [] : [[key, accountOfKey(key)]]))
  tabStorage.write(STORAGE_KEY, JSON.stringify(accounts))
})

/** Actions of the console that not every key allows. */
const NEEDS = {
  writeDomains: { service: 'domainwatch', scopes: ['write', 'full'] },
  readImages: { service: 'imagestore', scopes: ['read', 'full'] },
  changeImages: { service: 'imagestore', scopes: ['full'] },
} as const satisfies Record<string, { service: ServiceName; scopes: readonly Scope[] }>

export type Permission = keyof typeof NEEDS

/** Requests the scope of a key. @throws ApiError if the key is invalid or of another service */
export async function loadScope(service: ServiceName, key: string): Promise<void> {
  const { data } = await callApi(`GET /api/v1/${service}/key`, { key })
  asked.add(key)
  known.set(new Map([...known.get(), [key, { scope: data.scope, account: data.account }]]))
}

/** Requests the scopes of all keys, once in each page. A rejected key shows when it is used. */
export function loadScopes(keys: Keys): void {
  for (const service of SERVICES) {
    const key = keys[service]
    if (key === undefined || asked.has(key)) continue
    asked.add(key)
    withRetries(() => loadScope(service, key)).catch(() => asked.delete(key))
  }
}

/** The scope of the session's key of each service; `full` until it is known. */
export function useScopes(): (service: ServiceName) => Scope {
  const keys = useStore(session)
  const entries = useStore(known)
  return (service) => entries.get(keys[service] ?? '')?.scope ?? 'full'
}

/** The account of the session's key of each service; undefined until it is known. */
export function useAccounts(): (service: ServiceName) => string | undefined {
  const keys = useStore(session)
  const entries = useStore(known)
  return (service) => entries.get(keys[service] ?? '')?.account
}

/** The same, outside components. */
export const getAccount = (service: ServiceName): string | undefined => accountOfKey(keyFor(service))

/** Calls a listener when the session's keys change, or an account is learned. */
export function onUser(listener: () => void): void {
  session.subscribe(listener)
  known.subscribe(listener)
}

/** Whose work something is: that of a key, and of its account once that is known. */
export type Owner = string | undefined

function accountOfKey(key: Owner): string | undefined {
  return known.get().get(key ?? '')?.account
}

/** The present user of a service, in components. */
export function useOwner(service: ServiceName): Owner {
  useStore(known)
  return useStore(session)[service]
}

/** Whether two keys are one, or of one account. */
export function isSameOwner(one: Owner, other: Owner): boolean {
  const account = accountOfKey(one)
  return (one !== undefined && one === other) || (account !== undefined && account === accountOfKey(other))
}

function stored(): ReadonlyMap<string, Known> {
  try {
    const found: unknown = JSON.parse(tabStorage.read(STORAGE_KEY) ?? '[]')
    const accounts = Array.isArray(found) ? found.filter(isAccount) : []
    // The scope is asked for again.
    return new Map(accounts.map(([key, account]) => [key, { account, scope: 'full' }]))
  } catch {
    return new Map()
  }
}

function isAccount(entry: unknown): entry is readonly [key: string, account: string] {
  return Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'string'
}

/**
 * Calls a listener at sign-out, and when a key of another account follows one that was rejected: what was entered or
 * chosen must not be shown to the next user. After a rejection, the same user continues with another key.
 */
export function onNextUser(service: ServiceName, listener: () => void): void {
  let last = keyFor(service)
  let isGone = false
  session.subscribe(() => {
    const key = keyFor(service)
    if (key === undefined) {
      isGone = true
      return
    }
    if (isGone && !isSameOwner(last, key)) listener()
    isGone = false
    last = key
  })
  onSignOut(listener)
}

/** Whether the keys of the session suffice for what the console does. */
export function usePermissions(): (ability: Permission) => boolean {
  const getScope = useScopes()
  return (ability) => {
    const { service, scopes } = NEEDS[ability]
    const scope = getScope(service)
    return scopes.some((one) => one === scope)
  }
}
