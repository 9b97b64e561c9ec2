import type { Clock } from '../../lib/clock.ts'
import { accountClient } from '../../lib/client.ts'
import type { Gate } from '../../lib/gate.ts'
import {
  allMatches,
  finish,
  formatTimestamp,
  MergedSearch,
  TimeSlice,
  toWords,
} from '../../lib/name-index/index.ts'
import type { Database, Reader } from '../../storage/database/database.ts'
import { VersionedCache } from '../../storage/database/versioned-cache.ts'
import { nameOfHit } from '../list/hits.ts'
import type { NameIndex } from '../list/name-index.ts'
import { indexQuery } from '../list/search.ts'
import { namesSeenWith, getServers, type ServerKind } from '../servers/queries.ts'
import { addDays, dayOf, type Span } from '../stats/counts.ts'
import type { SplitName } from '../words/dictionary.ts'
import { KeyedNames, maxTotal, toDistinct, type Campaign, type Registration, toSkeletons } from './groups.ts'

/** Skeletons are rare among the names of this many days up to the last one asked for. */
export const MAX_CAMPAIGN_DAYS = 92
export const MAX_CAMPAIGNS = 200
/** Shorter words, such as articles, say nothing. */
const MIN_WORD = 3
/** Spans cached until the next change; the groups of one take at most 1 MB. */
const MAX_CACHED = 20
/** Names whose servers are read at a time. */
const PAGE = 500

interface CampaignsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly nameIndex: Pick<NameIndex, 'current' | 'contextAt'>
  readonly split: SplitName
  readonly searches: Gate
}

/** Finds groups of names that were registered within a day and share a skeleton, a rare word or a server. */
export class Campaigns {
  readonly #options: CampaignsOptions
  readonly #cache: VersionedCache<readonly Campaign[]>

  constructor(options: CampaignsOptions) {
    this.#options = options
    this.#cache = new VersionedCache(options.database, ['domain', 'dns'], MAX_CACHED)
  }

  /** Returns the last day with a registration; undefined without any. @param signal ends the search */
  async lastDay(signal: AbortSignal): Promise<string | undefined> {
    const { clock, nameIndex } = this.#options
    const { registered } = await nameIndex.current({ left: () => signal })
    const slice = new TimeSlice()
    // Only records whose registration is known have a first day.
    const query = indexQuery({ from: '0001-01-01 00:00:00' }, nameIndex.contextAt(clock.now()))
    const search = new MergedSearch(registered, query, true, {}, slice)
    const [newest] = await finish(search.next(1), slice, signal)
    const key = newest?.segment.columns.keys[newest.position]
    return key === undefined ? undefined : dayOf(formatTimestamp(key))
  }

  /**
   * Returns the groups of a span, largest first, at most `MAX_CAMPAIGNS`.
   * @param signal ends the search
   * @throws OverloadError if too many requests wait
   */
  async find(span: Span, account: number, signal: AbortSignal): Promise<readonly Campaign[]> {
    const key = JSON.stringify(span)
    const client = accountClient(account)
    const read = () => this.#read(span, this.#options.database.readerOf(client), signal)
    return (
      this.#cache.peek(key) ?? this.#options.searches.run(client, () => this.#cache.get(key, read), signal)
    )
  }

  async #read({ from, to }: Span, reader: Reader, signal: AbortSignal): Promise<readonly Campaign[]> {
    const { clock, nameIndex, split } = this.#options
    const context = nameIndex.contextAt(clock.now())
    const { registered } = await nameIndex.current({ left: () => signal })
    const listed: Registration[] = []
    const [skeletons, words] = [new KeyedNames(), new KeyedNames()]
    const since = `${addDays(dayOf(to), 1 - MAX_CAMPAIGN_DAYS)} 00:00:00`
    const slice = new TimeSlice()
    const query = indexQuery({ from: since < from ? since : from, to }, context)
    const search = allMatches(registered, query, slice, (segment, position) => {
      const key = segment.columns.keys[position] ?? NaN
      // It was first recorded as deleted: the date is not that of a registration.
      if (segment.deletedAt(position) === key) return
      const date = formatTimestamp(key)
      const registration = { name: nameOfHit({ segment, position }), at: Date.parse(`${date}Z`) / 1000 }
      const isListed = date >= from
      if (isListed) listed.push(registration)
      const parts = toWords(segment, position)
      // Nothing is left of a name that consists of words.
      for (const skeleton of parts.length === 0 ? toSkeletons(registration.name, split) : [])
        skeletons.add(skeleton, registration, isListed)
      for (const word of new Set(parts)) if (word.length >= MIN_WORD) words.add(word, registration, isListed)
    })
    await finish(search, slice, signal)
    const groups = [...skeletons.groups('skeleton')]
    for (const group of words.groups('word'))
      if ((context.getDemand([group.key]) ?? 0) <= maxTotal(group.names.length)) groups.push(group)
    groups.push(...(await serverGroups(reader, this.#options.database, listed, signal)))
    return toDistinct(groups).slice(0, MAX_CAMPAIGNS)
  }
}

/** Finds the groups that were seen with a server that few names have. */
async function serverGroups(
  reader: Reader,
  { dialect }: Database,
  listed: readonly Registration[],
  signal: AbortSignal,
): Promise<readonly Campaign[]> {
  const servers = new KeyedNames()
  const kinds = new Map<string, readonly [ServerKind, string]>()
  for (let start = 0; start < listed.length; start += PAGE) {
    signal.throwIfAborted()
    const page = new Map(listed.slice(start, start + PAGE).map((each) => [each.name, each]))
    for (const { kind, server, name } of await reader.all(getServers(dialect, [...page.keys()]))) {
      const registration = page.get(name)
      // As the filter of lists that finds its names.
      const key = `${kind}=${server}`
      kinds.set(key, [kind, server])
      if (registration !== undefined) servers.add(key, registration)
    }
  }
  const groups: Campaign[] = []
  for (const group of servers.groups('server')) {
    signal.throwIfAborted()
    const [kind, server] = kinds.get(group.key) ?? ['ns', '']
    const most = maxTotal(group.names.length)
    const names = await reader.all(namesSeenWith(kind, server, '', most + 1))
    if (names.length <= most) groups.push(group)
  }
  return groups
}
