import type { CachedAnswer } from './answer-cache.ts'
import type { QueryType } from './record-data.ts'
import { Server } from './server.ts'
import { formatServer, type ServerAddress } from './servers.ts'

/** The servers of a zone are to be found. */
export interface ZoneSource {
  readonly zone: string
  /** Finds them. */
  readonly through: { resolve(name: string, type: QueryType): CachedAnswer | Promise<CachedAnswer> }
  /** Port of the servers; 53 except in tests. */
  readonly port?: number
}

/** TLDs have about a dozen servers; more would not help. */
const MAX_SERVERS = 16
/** Pause after a search that found none, in milliseconds. */
const RETRY_MS = 5_000

/** Finds the authoritative servers of a zone, keeps them for their TTL, and then finds them again in the background. */
export class ZoneServers {
  readonly #source: ZoneSource
  readonly #now: () => number
  #servers: readonly Server[] = []
  #addresses = ''
  #expires = Number.NEGATIVE_INFINITY
  #search: Promise<readonly Server[]> | undefined

  /** @param now a monotonic clock in milliseconds */
  constructor(source: ZoneSource, now: () => number) {
    this.#source = source
    this.#now = now
  }

  /** Returns the known servers, or a promise of them; none if they cannot be found now. Never rejects. */
  get(): readonly Server[] | Promise<readonly Server[]> {
    if (this.#now() >= this.#expires) this.#search ??= this.#find()
    return this.#servers.length === 0 && this.#search !== undefined ? this.#search : this.#servers
  }

  async #find(): Promise<readonly Server[]> {
    const { addresses, expires } = await this.#findAddresses()
    this.#search = undefined
    this.#expires = expires
    const text = addresses.map(formatServer).join()
    // Servers that cannot be found again are used on.
    if (addresses.length > 0 && text !== this.#addresses) {
      this.#servers = addresses.map((address) => new Server(address, this.#now))
      this.#addresses = text
    }
    return this.#servers
  }

  async #findAddresses(): Promise<{ addresses: readonly ServerAddress[]; expires: number }> {
    const { zone, through } = this.#source
    const { answer, expires } = await through.resolve(zone, 'ns')
    const names = answer.kind === 'found' ? answer.servers.slice(0, MAX_SERVERS) : []
    // IPv6 only if there is nothing else: many machines have IPv6 addresses without connectivity.
    for (const family of [4, 6] as const) {
      const found = await this.#resolveAddresses(names, family)
      if (found.addresses.length > 0) return { ...found, expires: Math.min(expires, found.expires) }
    }
    return { addresses: [], expires: this.#now() + RETRY_MS }
  }

  async #resolveAddresses(names: readonly string[], family: 4 | 6) {
    const { through, port = 53 } = this.#source
    const results = await Promise.all(
      names.map(async (name) => through.resolve(name, family === 4 ? 'a' : 'aaaa')),
    )
    // A server whose address cannot be found does not affect the others.
    const found = results.filter(({ answer }) => answer.kind === 'records')
    const addresses = new Set(
      found.flatMap(({ answer }) => (answer.kind === 'records' ? answer.records : [])),
    )
    return {
      addresses: [...addresses]
        .filter((address) => typeof address === 'string')
        .slice(0, MAX_SERVERS)
        .map((address) => ({ address, family, port })),
      expires: Math.min(...found.map(({ expires }) => expires)),
    }
  }
}
