import { createStore, useStore } from '../app/store.ts'
import { callApi } from './client.ts'
import type { SCOPES } from './constants.ts'
import { session, type Keys, type ServiceName } from './session.ts'

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

/** Whether the keys of the session suffice for what the console does. */
export function usePermissions(): (ability: Permission) => boolean {
  const scopeOf = useScopes()
  return (ability) => {
    const { service, scopes } = NEEDS[ability]
    const scope = scopeOf(service)
    return scopes.some((one) => one === scope)
  }
}
