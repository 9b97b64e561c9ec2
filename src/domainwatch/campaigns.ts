import type { SplitName } from './words.ts'
import { accountClient } from '../lib/client.ts'
import { allMatches, finish, formatTimestamp, MergedSearch, TimeSlice } from '../lib/name-index/index.ts'
import { type Database, type Reader, VersionedCache } from '../storage/database/database.ts'
import { nameOfHit } from './list/hits.ts'
import type { DomainContext } from './context.ts'
import { indexQuery } from './list/search.ts'
import { namesSeenWith, getServers, type ServerKind } from './history/queries.ts'
import { addDays, dayOf, type Span } from './stats.ts'

/** A name, and when it was registered, in seconds. */
interface Registration {
  readonly name: string
  readonly at: number
}

type CampaignKind = 'skeleton' | 'word' | 'server'

/** Names that were registered within a day and share a key. */
export interface Campaign {
  readonly kind: CampaignKind
  readonly key: string
  /** The oldest first, ties by name. */
  readonly names: readonly Registration[]
}

/** Names of a group: fewer are chance. */
const MIN_NAMES = 4
const DAY_SECONDS = 24 * 60 * 60
/** A key is rare if at most this many names have it for each one of the group. */
const RARITY = 3

/** Returns how many names may have the key of a group of `count` names. */
const maxTotal = (count: number): number => RARITY * count

/** Registrations by what they share. */
class KeyedNames {
  readonly #keys = new Map<string, { total: number; names: Registration[] }>()

  /** @param isListed whether groups can have the name; others only count as names with the key */
  add(key: string, registration: Registration, isListed = true): void {
    let known = this.#keys.get(key)
    if (known === undefined) this.#keys.set(key, (known = { total: 0, names: [] }))
    known.total++
    if (isListed) known.names.push(registration)
  }

  /** Finds the groups within a day of each key that is rare among the names added. */
  *groups(kind: CampaignKind): Generator<Campaign> {
    for (const [key, { total, names }] of this.#keys) {
      if (names.length < MIN_NAMES || total > maxTotal(names.length)) continue
      const sorted = names.toSorted((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1))
      for (const group of toDays(sorted))
        if (total <= maxTotal(group.length)) yield { kind, key, names: group }
    }
  }
}

function* toDays(sorted: readonly Registration[]): Generator<readonly Registration[]> {
  let [start, end] = [0, 0]
  for (let first = 0, after = 0; first < sorted.length; first++) {
    const last = (sorted[first]?.at ?? NaN) + DAY_SECONDS
    while ((sorted[after]?.at ?? Infinity) <= last) after++
    if (after - first > end - start) [start, end] = [first, after]
  }
  if (end - start < MIN_NAMES) return
  yield sorted.slice(start, end)
  yield* toDays(sorted.slice(0, start))
  yield* toDays(sorted.slice(end))
}

/** Returns the groups, largest first, ties newest first, without those whose names are all in one before. */
function toDistinct(groups: readonly Campaign[]): readonly Campaign[] {
  const newest = ({ names }: Campaign) => names.at(-1)?.at ?? 0
  const sorted = groups.toSorted(
    (a, b) =>
      b.names.length - a.names.length ||
      newest(b) - newest(a) ||
      (`${a.kind} ${a.key}` < `${b.kind} ${b.key}` ? -1 : 1),
  )
  const distinct: Campaign[] = []
  const holders = new Map<string, ReadonlySet<string>[]>()
  for (const group of sorted) {
    const names = new Set(group.names.map(({ name }) => name))
    const [first = ''] = names
    if (holders.get(first)?.some((larger) => [...names].every((name) => larger.has(name))) === true) continue
    distinct.push(group)
    for (const name of names) {
      const known = holders.get(name)
      if (known === undefined) holders.set(name, [names])
      else known.push(names)
    }
  }
  return distinct
}

/** Marks of a skeleton, which no name contains. */
const WORDS = '*'
const NUMBER = '#'
/** Shorter words begin or end too many names by chance. */
const MIN_PART = 4
/** Letters that must be left: fewer are shared by chance. */
const MIN_LEFT = 3
/** Skeletons of a name with several parts that can be read in several ways. */
const MAX_SKELETONS = 32

/**
 * Returns the name with `*` for dictionary words and `#` for numbers: `*-xkq#` for `pago-xkq24`. Letters that only begin or
 * end with words can be read in several ways. None if no mark or too little else is left.
 */
function toSkeletons(name: string, split: SplitName): readonly string[] {
  let skeletons = ['']
  for (const part of name.match(/\d+|-|[^\d-]+/g) ?? []) {
    const readings = part === '-' ? [part] : toReadings(part, split)
    skeletons = skeletons
      .flatMap((skeleton) => readings.map((reading) => skeleton + reading))
      .slice(0, MAX_SKELETONS)
  }
  return skeletons.filter(
    (skeleton) => /[*#]/.test(skeleton) && skeleton.replaceAll(/[-*#]/g, '').length >= MIN_LEFT,
  )
}

/** Replaces a number, letters that consist of words, or words that they begin or end with. */
function toReadings(part: string, split: SplitName): readonly string[] {
  if (/\d/.test(part)) return [NUMBER]
  if (split(part).length > 0) return [WORDS]
  const readings = [part]
  for (let length = part.length - 1; length >= MIN_PART; length--) {
    if (split(part.slice(0, length)).length > 0) readings.push(WORDS + part.slice(length))
    if (split(part.slice(-length)).length > 0) readings.push(part.slice(0, -length) + WORDS)
  }
  return readings
}

/** Skeletons are rare among the names of this many days up to the last one asked for. */
export const MAX_CAMPAIGN_DAYS = 92
export const MAX_CAMPAIGNS = 200
/** Shorter words, such as articles, say nothing. */
const MIN_WORD = 3
/** Spans cached until the next change; the groups of one take at most 1 MB. */
const MAX_CACHED = 20
/** Names whose servers are read at a time. */
const PAGE = 500

type CampaignsContext = Pick<DomainContext, 'clock' | 'database' | 'dictionary' | 'nameIndex' | 'searches'>

/** Finds groups of names that were registered within a day and share a skeleton, a rare word or a server. */
export class Campaigns {
  readonly #options: CampaignsContext
  readonly #cache: VersionedCache<readonly Campaign[]>

  constructor(options: CampaignsContext) {
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
    const { clock, dictionary, nameIndex } = this.#options
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
      const parts = segment.toWords(position)
      // Nothing is left of a name that consists of words.
      for (const skeleton of parts.length === 0 ? toSkeletons(registration.name, dictionary.split) : [])
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
