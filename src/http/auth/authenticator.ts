import type { Clock } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'
import { FairSlots } from '../../lib/fair-slots.ts'
import { clientGroup } from '../client.ts'
import type { FailedKeys } from './auth-rate-limit.ts'
import type { KeyLimits, LimitedScope, Service } from './key-limits.ts'
import type { KeyRates } from './key-rates.ts'

/**
 * Keys that are read from the database at the same time, of all addresses and of one. Wrong keys are never cached, so each of
 * them is read: without a limit they would take all connections of the database.
 */
const LOOKUPS = {
  slots: 2,
  slotsPerClient: 1,
  maxWaiting: 4_096,
  maxWaitingPerClient: 1_024,
  timeoutMs: 10_000,
}

/** Whose key a request carries, and what the key is limited to. */
export interface Identity extends KeyLimits {
  /** 0 for an administrator, who has nothing of his own. */
  readonly accountId: number
  readonly keyId: string
  readonly account: string
  readonly service: Service
}

/** Who holds a key; undefined for an unknown or revoked one. */
export interface Identities {
  readonly identify: (key: string) => Promise<Identity | undefined>
  /** The same without a wait; also undefined for a key that is not in memory. */
  readonly identifyCached: (key: string) => Identity | undefined
}

/** Which keys may call an endpoint. */
export interface Access {
  readonly service: Service
  /** The limited scopes that open it. A key of scope `full` opens every endpoint of its service. */
  readonly scopes: readonly LimitedScope[]
}

export interface AuthenticatorOptions {
  readonly identities: Identities
  readonly failures: FailedKeys
  readonly rates: KeyRates
  readonly clock: Clock
}

/** Checks the key of a request, counts wrong ones by address, and holds keys to their rates. */
export class Authenticator {
  readonly #identities: Identities
  readonly #failures: FailedKeys
  readonly #rates: KeyRates
  readonly #clock: Clock
  readonly #lookups = new FairSlots(LOOKUPS)

  constructor({ identities, failures, rates, clock }: AuthenticatorOptions) {
    this.#identities = identities
    this.#failures = failures
    this.#rates = rates
    this.#clock = clock
  }

  /**
   * Checks in this order: missing 401, unknown 401 (429 past the address's limit), other service 403, expired 401, out of
   * scope 403, over its rate 429. Only a request that passes all but the last counts towards the rate.
   *
   * A right key is served whatever others at its address did: behind a shared address, somebody's broken
   * client must not lock the others out, and a key of 160 random bits is not found by trying. An expired key is no guess
   * either, so it does not count against the address.
   */
  identify(key: string | undefined, access: Access, address: string): Identity | Promise<Identity> {
    if (key === undefined || key === '') throw new HttpError(401, 'Falta la clave de API')
    const cached = this.#identities.identifyCached(key)
    return cached === undefined ? this.#lookUp(key, access, address) : this.#authorize(cached, access)
  }

  async #lookUp(key: string, access: Access, address: string): Promise<Identity> {
    const identity = await this.#lookups.run(clientGroup(address), () => this.#identities.identify(key))
    if (identity === undefined) {
      this.#countFailure(address)
      throw new HttpError(401, 'La clave de API no es válida')
    }
    return this.#authorize(identity, access)
  }

  #authorize(identity: Identity, access: Access): Identity | Promise<Identity> {
    if (identity.service !== access.service) {
      throw new HttpError(403, 'La clave de API no da acceso a este servicio')
    }
    if (this.#hasExpired(identity)) throw new HttpError(401, 'La clave de API expiró')
    if (!opens(identity, access)) throw new HttpError(403, 'La clave de API no permite esta operación')
    return this.#rates.tryTake(identity.keyId, identity.rate) ? identity : this.#waitForRate(identity)
  }

  async #waitForRate(identity: Identity): Promise<Identity> {
    const wait = await this.#rates.take(identity.keyId, identity.rate)
    if (wait !== undefined) throw tooMany(wait)
    return identity
  }

  /** Whether a key that was good when a request began is so still. */
  async isCurrent(key: string | undefined, { accountId }: Identity): Promise<boolean> {
    const identity = key === undefined ? undefined : await this.#identities.identify(key)
    return identity?.accountId === accountId && !this.#hasExpired(identity)
  }

  /** Milliseconds until the key expires; infinite for one that never does. */
  expiresIn({ expiresAt }: Identity): number {
    return expiresAt === null ? Infinity : expiresAt - this.#clock.now()
  }

  #hasExpired(identity: Identity): boolean {
    return this.expiresIn(identity) <= 0
  }

  #countFailure(address: string): void {
    const wait = this.#failures.count(address)
    if (wait !== undefined) throw tooMany(wait)
  }
}

function opens({ scope }: Identity, { scopes }: Access): boolean {
  return scope === 'full' || scopes.includes(scope)
}

function tooMany(waitMs: number): HttpError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new HttpError(429, 'Demasiadas solicitudes', { headers: { 'retry-after': String(seconds) } })
}
