import { FilterContext, splitTags, type FilteredRecord } from '../../src/domainwatch/filtered-record.ts'
import { isExpired } from '../../src/domainwatch/limits.ts'

/** What is left of a name without hyphens and marks. */
const bare = (name: string): string => name.normalize('NFD').replace(/[\p{M}-]/gu, '')

/** Whether two names are the same or twins, by the definition. */
export function areTwins(one: string, other: string): boolean {
  const [a, b] = [bare(one), bare(other)]
  return a === b || [`${a}s`, `${a}es`].includes(b) || [`${b}s`, `${b}es`].includes(a)
}

type Known = Pick<FilteredRecord, 'name' | 'status' | 'discarded_at' | 'words'>

/** A context whose signals follow from these records by their definitions. */
export function plainContext(now: number, timeZone = 'UTC', records: Iterable<Known> = []): FilterContext {
  const listed = [...records].filter(({ discarded_at: at }) => at === null || !isExpired(at, now))
  const counted = listed
    .filter(({ status, discarded_at }) => status === 1 && discarded_at === null)
    .map(({ words }) => splitTags(words))
  const text = (name: Uint8Array) => Buffer.from(name).toString('latin1')
  const withTwins = (name: string) => listed.filter((other) => areTwins(name, other.name))
  return new FilterContext(now, timeZone, {
    getDemand(words) {
      const counts = words
        .filter((word) => word.length >= 3)
        .map((word) => counted.filter((all) => all.includes(word)).length)
      return counts.length === 0 ? null : Math.min(...counts)
    },
    hasBoughtTwin: (name) =>
      withTwins(text(name)).some((other) => other.status === 1 && other.name !== text(name)),
    firstTwins: (name) =>
      withTwins(text(name))
        .map((other) => other.name)
        .sort()
        .slice(0, 11),
  })
}
