import { browserStorage, onOtherTab } from '../base/browser-storage.ts'
import { SERVICE_URL } from '../base/server.ts'
import { createStore } from '../base/store.ts'
import { reloadForNextUser } from '../base/unsaved-work.ts'
import { apiErrorOf, send } from './client.ts'
import { enterAccess, isOfNextUser, loadAccess } from './scope.ts'
import {
  forgetStoredKey,
  keyFor,
  rejectedService,
  SERVICES,
  session,
  SIGNED_OUT,
  type ServiceName,
} from './session.ts'

/** The proxy requires a new sign-in, which it can ask for only when a page is loaded. */
export class ProxyLogin extends Error {}

export type ProxySession =
  | { readonly state: 'opening' | 'open' | 'signed-out' }
  | { readonly state: 'failed'; readonly error: unknown }

export const proxySession = createStore<ProxySession>({ state: 'opening' })

/** The service of the key that the proxy gave last. */
let heldService: ServiceName | undefined

/** Signs in the user whom the proxy knows, unless they have signed out, and again whenever their key is rejected. */
export function startProxySession(): void {
  onOtherTab((name, _before, now) => {
    if (name === SIGNED_OUT && now !== null) reloadForNextUser()
  })
  if (browserStorage.read(SIGNED_OUT) === null) void open()
  else proxySession.set({ state: 'signed-out' })
  session.subscribe(() => {
    if (
      heldService !== undefined &&
      rejectedService.get() === heldService &&
      keyFor(heldService) === undefined
    )
      void open()
  })
}

/** Signs in by reloading the page, so that the proxy can ask who the user is. */
export function signInAgain(): void {
  browserStorage.remove(SIGNED_OUT)
  location.reload()
}

async function open(): Promise<void> {
  proxySession.set({ state: 'opening' })
  try {
    const response = await send(new URL('console/session', SERVICE_URL), {
      method: 'POST',
      // The proxy recognises the user by them.
      credentials: 'same-origin',
      redirect: 'manual',
    })
    const answer: unknown = await response.json().catch(() => undefined)
    const { key, service, code }: Readonly<Record<string, unknown>> = Object(answer)
    if (!response.ok) throw typeof code === 'string' ? apiErrorOf(response.status, answer) : new ProxyLogin()
    const name = SERVICES.find((one) => one === service)
    if (name === undefined || typeof key !== 'string') throw new ProxyLogin()
    const access = await loadAccess(name, key)
    if (isOfNextUser(access)) {
      reloadForNextUser()
      return
    }
    // An older key that the browser stored is not the proxy's, which is kept in memory only.
    forgetStoredKey(name)
    heldService = name
    enterAccess(access)
    proxySession.set({ state: 'open' })
  } catch (error) {
    proxySession.set({ state: 'failed', error })
  }
}
