import type { SplitName } from '../words/dictionary.ts'

/** A name, and when it was registered, in seconds. */
export interface Registration {
  readonly name: string
  readonly at: number
}

export type CampaignKind = 'skeleton' | 'word' | 'server'

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
export const maxTotal = (count: number): number => RARITY * count

/** Registrations by what they share. */
export class KeyedNames {
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
export function toDistinct(groups: readonly Campaign[]): readonly Campaign[] {
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
const MIN_WORD = 4
/** Letters that must be left: fewer are shared by chance. */
const MIN_LEFT = 3
/** Skeletons of a name with several parts that can be read in several ways. */
const MAX_SKELETONS = 32

/**
 * Returns the name with `*` for dictionary words and `#` for numbers: `*-xkq#` for `pago-xkq24`. Letters that only begin or
 * end with words can be read in several ways. None if no mark or too little else is left.
 */
export function toSkeletons(name: string, split: SplitName): readonly string[] {
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
  for (let length = part.length - 1; length >= MIN_WORD; length--) {
    if (split(part.slice(0, length)).length > 0) readings.push(WORDS + part.slice(length))
    if (split(part.slice(-length)).length > 0) readings.push(part.slice(0, -length) + WORDS)
  }
  return readings
}
