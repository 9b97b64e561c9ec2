import { createStore, useStore } from '../base/store.ts'
import { callApi } from './client.ts'
import type { SCOPES } from '../base/constants.ts'
import { withRetries } from './retry.ts'
import { enterKey, keyFor, SERVICES, session, type Keys, type ServiceName } from './session.ts'

export type Scope = (typeof SCOPES)[ServiceName][number]

/** What a key may do, and whose it is. */
export interface Access {
  readonly service: ServiceName
  readonly key: string
  /** `full` until it is known. */
  readonly scope: Scope
  /** Undefined until it is known. */
  readonly account: string | undefined
}

/** The access by the last key of each service in this page, also after it was rejected: the work is still its account's. */
const accesses = createStore<Readonly<Partial<Record<ServiceName, Access>>>>({})

/** Actions of the console that not every key allows. */
const NEEDS = {
  writeDomains: { service: 'domainwatch', scopes: ['write', 'full'] },
  readImages: { service: 'imagestore', scopes: ['read', 'full'] },
  changeImages: { service: 'imagestore', scopes: ['full'] },
} as const satisfies Record<string, { service: ServiceName; scopes: readonly Scope[] }>

export type Permission = keyof typeof NEEDS

/** Requests the access by a key. @throws ApiError if the key is invalid or of another service */
export async function loadAccess(service: ServiceName, key: string): Promise<Access> {
  const { data } = await callApi(`GET /api/v1/${service}/key`, { key })
  return { service, key, scope: data.scope, account: data.account }
}

/** Whether a key is, or may be, of another account than the last one of its service in this page. */
export function isOfNextUser({ service, account }: Access): boolean {
  const last = accesses.get()[service]
  return last !== undefined && last.account !== account
}

/** Continues with a key of the same user, or of another service. */
export function enterAccess(access: Access): void {
  remember(access)
  enterKey(access.service, access.key)
}

const remember = (access: Access): void => accesses.set({ ...accesses.get(), [access.service]: access })

/** Requests the access by the keys that the page has not asked about. A rejected key shows when it is used. */
export function loadAccesses(keys: Keys): void {
  for (const service of SERVICES) {
    const key = keys[service]
    if (key === undefined || accesses.get()[service]?.key === key) continue
    remember({ service, key, scope: 'full', account: undefined })
    withRetries(() => loadAccess(service, key))
      .then((access) => accesses.get()[service]?.key === key && remember(access))
      .catch(() => undefined)
  }
}

/** The scope of the session's key of each service; `full` until it is known. */
export function useScopes(): (service: ServiceName) => Scope {
  const known = useStore(accesses)
  return (service) => known[service]?.scope ?? 'full'
}

/** The account of the session's key of each service; undefined until it is known. */
export function useAccounts(): (service: ServiceName) => string | undefined {
  useStore(session)
  useStore(accesses)
  return getAccount
}

/** The same, outside components. */
export const getAccount = (service: ServiceName): string | undefined =>
  keyFor(service) === undefined ? undefined : accesses.get()[service]?.account

/** Calls a listener when the session's keys change, or an account is learned. */
export function onUser(listener: () => void): void {
  session.subscribe(listener)
  accesses.subscribe(listener)
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
