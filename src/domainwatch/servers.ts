import { isIP } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Segment } from '../lib/name-index/index.ts'
import type { Condition } from './filter-kinds.ts'
import { nameOfHit } from './list/hits.ts'
import { badParameter } from '../http/errors.ts'
import type { Parameter, Values } from '../http/parameters.ts'
import { accountClient } from '../lib/client.ts'
import type { Database } from '../storage/database/database.ts'
import type { Filters } from './filters.ts'
import { namesSeenWith, type SeenServer, type ServerKind } from './history/queries.ts'

let sets = 0

/** A set of names that a list is limited to. */
export class NameSet implements Condition {
  readonly #names: ReadonlySet<string>
  readonly #id = ++sets
  readonly index = {
    kind: 'record' as const,
    test: (segment: Segment, position: number) => this.#names.has(nameOfHit({ segment, position })),
  }

  constructor(names: ReadonlySet<string>) {
    this.#names = names
  }

  matches = ({ name }: { readonly name: string }): boolean => this.#names.has(name)

  /** Tells sets apart in keys of caches. */
  toJSON(): number {
    return this.#id
  }
}

/** Names that share a server. More share that of a large provider, which says nothing about who is behind them. */
const MAX_NAMES = 50_000
/** Names read between two turns of the event loop. */
const PAGE = 2_000
const MAX_HOST_CHARACTERS = 255

const host = (description: string): Parameter<string> => ({
  required: false,
  description,
  schema: { type: 'string', minLength: 1, maxLength: MAX_HOST_CHARACTERS, examples: ['ns1.example.com'] },
  parse: (given) => {
    const value = given.trim().toLowerCase().replace(/\.$/, '')
    const isHost = value.length <= MAX_HOST_CHARACTERS && /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(value)
    return isHost ? { value } : { takes: 'debe ser el nombre de un servidor' }
  },
})

/** Filters of lists by what the DNS was seen to say. */
export const serverParameters = {
  ns: host('Only names that were seen with this name server'),
  mx: host('Only names that were seen with this mail server'),
  ip: {
    required: false,
    description: 'Only names that were seen with this address, IPv4 or IPv6',
    schema: { type: 'string', examples: ['192.0.2.1'] },
    parse: (given: string) => {
      const value = given.trim()
      return isIP(value) === 0 ? { takes: 'debe ser una dirección IP' } : { value: canonicalAddress(value) }
    },
  } satisfies Parameter<string>,
}

const KINDS = ['ns', 'mx', 'ip'] as const

/** Narrows lists to names that were seen with the same servers. */
export class ObservedServers {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /**
   * Returns the filters, limited to the names that were seen with all of the given servers, if any are.
   * @throws HttpError 400 for a server that too many names share
   */
  async narrow(
    filters: Filters,
    values: Values<typeof serverParameters>,
    account: number | undefined,
  ): Promise<Filters> {
    let among: Set<string> | undefined
    for (const kind of KINDS) {
      const server = values[kind]
      if (server === undefined) continue
      const names = await this.#namesWith(kind, server, account)
      const before: ReadonlySet<string> = among ?? names
      among = new Set([...names].filter((name) => before.has(name)))
    }
    return among === undefined ? filters : { ...filters, among: new NameSet(among) }
  }

  async #namesWith(kind: ServerKind, server: string, account: number | undefined): Promise<Set<string>> {
    const reader = this.#database.readerOf(accountClient(account))
    const names = new Set<string>()
    for (let after: string | undefined = ''; after !== undefined;) {
      const rows: readonly { name: string }[] = await reader.all(namesSeenWith(kind, server, after, PAGE))
      for (const { name } of rows) names.add(name)
      if (names.size > MAX_NAMES)
        throw badParameter(kind, `debe ser un servidor con ${MAX_NAMES} nombres como máximo`)
      after = rows.length < PAGE ? undefined : rows.at(-1)?.name
      if (after !== undefined) await nextTurn()
    }
    return names
  }
}

/** Returns the servers of an answer, as observations hold it. */
function serversIn(kind: ServerKind, answer: string | null): readonly string[] {
  const records: readonly unknown[] = JSON.parse(answer ?? '[]')
  const servers = records.map((record) =>
    String(kind === 'mx' ? Object(record).exchange : record).toLowerCase(),
  )
  // A null MX (RFC 7505) names no server.
  return [...new Set(servers)]
    .filter((server) => server !== '.')
    .map(kind === 'ip' ? canonicalAddress : String)
}

export const toSeenServers = (
  kind: ServerKind,
  name: string,
  at: number,
  answer: string | null,
): SeenServer[] => serversIn(kind, answer).map((server) => ({ kind, server, name, at }))

/** Returns an address in the form in which it is stored (RFC 5952). */
function canonicalAddress(address: string): string {
  return isIP(address) === 6
    ? new URL(`http://[${address.replace(/%.*/, '')}]`).hostname.slice(1, -1)
    : address
}
