import { Refusal } from '../core/errors.ts'
import type { FailedKeys } from './failed-keys.ts'

export const SERVICES = ['domainwatch', 'imagestore', 'admin'] as const
export type Service = (typeof SERVICES)[number]

/** Whose key a request carries. */
export interface Identity {
  /** 0 for an administrator, who has nothing of his own. */
  readonly accountId: number
  readonly keyId: string
  readonly account: string
  readonly service: Service
}

/** Who holds a key; undefined for an unknown or revoked one. */
export interface Identities {
  readonly identify: (key: string) => Promise<Identity | undefined>
  /** The same where it is known at this moment. */
  readonly identifyAtOnce: (key: string) => Identity | undefined
}

/** Checks the key of a request, and counts wrong ones by address. */
export class Authenticator {
  readonly #identities: Identities
  readonly #failures: FailedKeys

  constructor(identities: Identities, failures: FailedKeys) {
    this.#identities = identities
    this.#failures = failures
  }

  /**
   * @throws Refusal 401 without a key or with a wrong one, 403 with the other service's, 429 past the bound
   *
   * A right key is served whatever others at its address did: behind a shared address, somebody's broken
   * client must not lock the others out, and a key of 160 random bits is not found by trying.
   */
  async identify(key: string | undefined, service: Service, address: string): Promise<Identity> {
    if (key === undefined || key === '') throw new Refusal(401, 'Falta la clave de API')
    const identity = await this.#identities.identify(key)
    if (identity === undefined) {
      this.#countFailure(address)
      throw new Refusal(401, 'La clave de API no es válida')
    }
    if (identity.service !== service) {
      throw new Refusal(403, 'La clave de API no da acceso a este servicio')
    }
    return identity
  }

  /** Whose key it is, where that is known and it may; undefined for everything else, refusals included. */
  identifyAtOnce(key: string | undefined, service: Service): Identity | undefined {
    const identity = key === undefined ? undefined : this.#identities.identifyAtOnce(key)
    return identity?.service === service ? identity : undefined
  }

  /** Whether a key that was good when a request began is so still. */
  async isCurrent(key: string | undefined, { accountId }: Identity): Promise<boolean> {
    return key !== undefined && (await this.#identities.identify(key))?.accountId === accountId
  }

  #countFailure(address: string): void {
    const wait = this.#failures.count(address)
    if (wait === undefined) return
    const seconds = Math.max(1, Math.ceil(wait / 1000))
    throw new Refusal(429, 'Demasiadas solicitudes', { headers: { 'retry-after': String(seconds) } })
  }
}
