import type { Clock } from '../../lib/clock.ts'
import { declareErrors, tooManyRequests, type HttpError } from '../../lib/errors.ts'
import { accountClient, type Client } from '../../lib/client.ts'
import { RateLimit } from '../../lib/rate-limit.ts'
import { addressClient, type Peer } from '../client.ts'
import { RequestTurns } from '../connection-limits.ts'
import type { KeyLimits, LimitedScope, Service } from './key-limits.ts'
import type { KeyRateLimit } from './key-rate-limit.ts'

/** The holder of a request's API key, and the limits of the key. */
export interface Identity extends KeyLimits {
  /** 0 for administrators, who own no data. */
  readonly accountId: number
  readonly keyId: string
  readonly account: string
  readonly service: Service
}

/** Looks up the holder of a key; undefined for an unknown or revoked key. */
export interface Identities {
  /** @param client whose turn a read from the database uses; unknown keys are not cached */
  readonly identify: (key: string, client: Client) => Promise<Identity | undefined>
  /** The same from the cache only; also undefined for a key that is not cached. */
  readonly identifyCached: (key: string) => Identity | undefined
}

/** Addresses whose wrong keys are counted. */
const MAX_ADDRESSES = 50_000

/** @param perMinute wrong keys of one address */
export const failureLimit = (perMinute: number, clock: Clock): RateLimit =>
  new RateLimit({ burst: perMinute, perSecond: perMinute / 60, maxClients: MAX_ADDRESSES }, () => clock.now())

/** Which keys may call an endpoint. */
export interface Access {
  readonly service: Service
  /** The limited scopes that allow it. A key of scope `full` may call every endpoint of its service. */
  readonly scopes: readonly LimitedScope[]
}

export interface AuthenticatorOptions {
  readonly identities: Identities
  /** Of wrong keys, by address. */
  readonly failures: RateLimit
  readonly keyRateLimit: KeyRateLimit
  /** The turns of requests without a cached key. */
  readonly unauthenticated: RequestTurns<Peer>
  readonly clock: Clock
}

/** Authenticates and authorises requests: checks the key, limits failures per address, enforces the rates of keys. */
export class Authenticator {
  readonly #options: AuthenticatorOptions
  readonly #accounts = new RequestTurns<Identity>(({ accountId }) => accountClient(accountId))

  constructor(options: AuthenticatorOptions) {
    this.#options = options
  }

  /**
   * Checks in this order: missing 401, unknown 401 (429 past the address's limit), other service 403, expired 401,
   * out of scope 403, over its rate 429. Only a request that passes all other checks counts towards the rate.
   *
   * A valid key is accepted even if its address is over the limit of failures: a broken client must not lock out
   * others behind the same address, and keys of 160 random bits cannot be guessed. An expired key is not a guess,
   * so it is not counted.
   */
  identify(key = '', access: Access, peer: Peer): Identity | Promise<Identity> {
    const cached = this.#options.identities.identifyCached(key)
    if (cached === undefined) return this.#lookUp(key, access, peer)
    const turn = this.#accounts.take(cached)
    return turn === undefined
      ? this.#authorize(cached, access)
      : turn.then(() => this.#authorize(cached, access))
  }

  async #lookUp(key: string, access: Access, peer: Peer): Promise<Identity> {
    await this.#options.unauthenticated.take(peer)
    if (key === '') throw keyErrors.key_missing()
    const identity = await this.#options.identities.identify(key, addressClient(peer.ip))
    if (identity === undefined) {
      this.#countFailure(peer.ip)
      throw keyErrors.key_invalid()
    }
    return this.#authorize(identity, access)
  }

  #authorize(identity: Identity, access: Access): Identity | Promise<Identity> {
    if (identity.service !== access.service) throw keyErrors.key_of_other_service()
    if (this.#hasExpired(identity)) throw keyErrors.key_expired()
    if (!allows(identity, access)) throw keyErrors.key_out_of_scope()
    return this.#options.keyRateLimit.tryTake(identity.keyId, identity.rate)
      ? identity
      : this.#waitForRate(identity)
  }

  async #waitForRate(identity: Identity): Promise<Identity> {
    const wait = await this.#options.keyRateLimit.take(identity.keyId, identity.rate)
    if (wait !== undefined) throw tooMany(wait)
    return identity
  }

  /** Whether a key that was valid when the request began is still valid. */
  async isCurrent(key: string | undefined, { accountId }: Identity): Promise<boolean> {
    const identity =
      key === undefined ? undefined : await this.#options.identities.identify(key, accountClient(accountId))
    return identity?.accountId === accountId && !this.#hasExpired(identity)
  }

  /** Milliseconds until the key expires; infinite for one that never does. */
  expiresIn({ expiresAt }: Identity): number {
    return expiresAt === null ? Infinity : expiresAt - this.#options.clock.now()
  }

  #hasExpired(identity: Identity): boolean {
    return this.expiresIn(identity) <= 0
  }

  #countFailure(address: string): void {
    const client = addressClient(address)
    const wait = this.#options.failures.waitOf(client)
    if (wait > 0) throw tooMany(wait)
    this.#options.failures.count(client)
  }
}

function allows({ scope }: Identity, { scopes }: Access): boolean {
  return scope === 'full' || scopes.includes(scope)
}

function tooMany(waitMs: number): HttpError {
  return tooManyRequests(Math.max(1, Math.ceil(waitMs / 1000)))
}

/** Errors about the key of a request, in the order of the checks. */
export const keyErrors = declareErrors({
  key_missing: [401, 'Falta la clave de API'],
  key_invalid: [401, 'La clave de API no es válida'],
  key_of_other_service: [403, 'La clave de API no da acceso a este servicio'],
  key_expired: [401, 'La clave de API expiró'],
  key_out_of_scope: [403, 'La clave de API no permite esta operación'],
})
