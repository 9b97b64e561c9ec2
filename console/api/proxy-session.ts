import { browserStorage, onOtherTab } from '../base/browser-storage.ts'
import { SERVICE_URL } from '../base/server.ts'
import { createStore } from '../base/store.ts'
import { apiErrorOf, send } from './client.ts'
import { loadScope } from './scope.ts'
import {
  heldService,
  holdKey,
  keyFor,
  onSignOut,
  rejectedService,
  SERVICES,
  session,
  signOut,
} from './session.ts'

/** In every tab of the browser, until the user signs in again. */
const SIGNED_OUT = 'catalejo.signed-out'

/** The proxy requires a new sign-in, which it can ask for only when a page is loaded. */
export class ProxyLogin extends Error {}

export type ProxySession =
  | { readonly state: 'opening' | 'open' | 'signed-out' }
  | { readonly state: 'failed'; readonly error: unknown }

export const proxySession = createStore<ProxySession>({ state: 'opening' })

/** Signs in the user whom the proxy knows, unless they have signed out, and again whenever their key is rejected. */
export function startProxySession(): void {
  onSignOut(() => {
    browserStorage.write(SIGNED_OUT, 'yes')
    proxySession.set({ state: 'signed-out' })
  })
  onOtherTab((name, _before, now) => {
    if (name === SIGNED_OUT && now !== null) signOut()
  })
  if (browserStorage.read(SIGNED_OUT) === null) void open()
  else proxySession.set({ state: 'signed-out' })
  session.subscribe(() => {
    const service = heldService()
    if (service !== undefined && rejectedService.get() === service && keyFor(service) === undefined)
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
    // Whose key it is decides whether the work of the last one continues.
    await loadScope(name, key)
    holdKey(name, key)
    proxySession.set({ state: 'open' })
  } catch (error) {
    proxySession.set({ state: 'failed', error })
  }
}
