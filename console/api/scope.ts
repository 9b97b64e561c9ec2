import { createStore, useStore } from '../app/store.ts'
import { callApi } from './client.ts'
import type { SCOPES } from './constants.ts'
import { onSignOut, session, type Keys, type ServiceName } from './session.ts'

export type Scope = (typeof SCOPES)[ServiceName][number]

interface Known {
  readonly key: string
  readonly scope: Scope
  readonly account: string
}

/** The known scopes of the session's keys. */
const known = createStore<Readonly<Partial<Record<ServiceName, Known>>>>({})

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
  known.set({ ...known.get(), [service]: { key, scope: data.scope, account: data.account } })
}

/** Requests the unknown scopes of all keys. A rejected key shows when it is used. */
export function loadScopes(keys: Keys): void {
  for (const service of ['domainwatch', 'imagestore', 'admin'] as const) {
    const key = keys[service]
    if (key !== undefined && known.get()[service]?.key !== key) loadScope(service, key).catch(() => undefined)
  }
}

/** The scope of the session's key of each service; `full` until it is known. */
export function useScopes(): (service: ServiceName) => Scope {
  const keys = useStore(session)
  const told = useStore(known)
  return (service) => {
    const one = told[service]
    return one !== undefined && one.key === keys[service] ? one.scope : 'full'
  }
}

/** The account of the session's key of each service; undefined until it is known. */
export function useAccounts(): (service: ServiceName) => string | undefined {
  const keys = useStore(session)
  const told = useStore(known)
  return (service) => {
    const one = told[service]
    return one !== undefined && one.key === keys[service] ? one.account : undefined
  }
}

/** The same, outside components. */
export function accountOf(service: ServiceName): string | undefined {
  const one = known.get()[service]
  return one !== undefined && one.key === session.get()[service] ? one.account : undefined
}

/** Whose work something is: that of a key, and of its account if it is known. */
export interface Owner {
  readonly key: string | undefined
  readonly account: string | undefined
}

/** The present user of a service. */
export const ownerOf = (service: ServiceName): Owner => ({
  key: session.get()[service],
  account: accountOf(service),
})

/** The same, in components. */
export function useOwner(service: ServiceName): Owner {
  const account = useAccounts()(service)
  return { key: useStore(session)[service], account }
}

/** Whether two keys are one, or of one account. */
export const isSameOwner = (one: Owner, other: Owner): boolean =>
  (one.key !== undefined && one.key === other.key) ||
  (one.account !== undefined && one.account === other.account)

/**
 * Calls a listener at sign-out, and when a key of another account follows one that was rejected: what was entered or
 * chosen must not be shown to the next user. After a rejection, the same user continues with another key.
 */
export function onNextUser(service: ServiceName, listener: () => void): void {
  let last = ownerOf(service)
  let isGone = false
  const look = () => {
    const user = ownerOf(service)
    if (user.key === undefined) {
      isGone = true
      return
    }
    if (isGone && !isSameOwner(last, user)) listener()
    isGone = false
    last = user
  }
  session.subscribe(look)
  known.subscribe(look)
  onSignOut(listener)
}

/** Whether the keys of the session suffice for what the console does. */
export function usePermissions(): (ability: Permission) => boolean {
  const scopeOf = useScopes()
  return (ability) => {
    const { service, scopes } = NEEDS[ability]
    const scope = scopeOf(service)
    return scopes.some((one) => one === scope)
  }
}
