import { LRUCache } from 'lru-cache'
import ipaddr from 'ipaddr.js'
import type { Clock } from '../core/clock.ts'
import { Refusal } from '../core/errors.ts'

export type Service = 'domainwatch' | 'imagestore'

/** Whose key a request carries. */
export interface Identity {
  readonly accountId: number
  readonly account: string
  readonly service: Service
}

/** Finds who holds a key; undefined for an unknown or revoked one. */
export type FindIdentity = (key: string) => Promise<Identity | undefined>

const WINDOW_MS = 60_000
/** Addresses whose wrong keys are counted at a time; past it the longest unseen one is forgotten. */
const MAX_ADDRESSES = 50_000

/** Checks the key of a request, and counts wrong ones by address. */
export class Authenticator {
  readonly #find: FindIdentity
  readonly #clock: Clock
  readonly #limit: number
  readonly #failures = new LRUCache<string, { count: number; since: number }>({ max: MAX_ADDRESSES })

  /** @param limit wrong keys that one address may send in a minute before it is told to wait */
  constructor(find: FindIdentity, clock: Clock, limit: number) {
    this.#find = find
    this.#clock = clock
    this.#limit = limit
  }

  /**
   * @throws Refusal 401 without a key or with a wrong one, 403 with the other service's, 429 past the bound
   *
   * A right key is served whatever others at its address did: behind a shared address, somebody's broken
   * client must not lock the others out, and a key of 160 random bits is not found by trying.
   */
  async identify(key: string | undefined, service: Service, address: string): Promise<Identity> {
    if (key === undefined || key === '') throw new Refusal(401, 'Falta la clave de API')
    const identity = await this.#find(key)
    if (identity === undefined) {
      this.#countFailure(address)
      throw new Refusal(401, 'La clave de API no es válida')
    }
    if (identity.service !== service) {
      throw new Refusal(403, 'La clave de API no da acceso a este servicio')
    }
    return identity
  }

  #countFailure(address: string): void {
    const now = this.#clock.now()
    const group = addressGroup(address)
    let failures = this.#failures.get(group)
    // A clock that was set back must not freeze the window.
    if (failures === undefined || now - failures.since >= WINDOW_MS || now < failures.since) {
      failures = { count: 0, since: now }
      this.#failures.set(group, failures)
    }
    failures.count++
    if (failures.count <= this.#limit) return
    const seconds = Math.max(1, Math.ceil((failures.since + WINDOW_MS - now) / 1000))
    throw new Refusal(429, 'Demasiadas solicitudes', { headers: { 'retry-after': String(seconds) } })
  }
}

/** One home or server usually holds a whole IPv6 /64, so its addresses count as one. */
function addressGroup(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return parsed.parts.slice(0, 4).join(':')
}
