import { OverloadError } from '../../lib/errors.ts'
import type { Database } from '../../storage/database/database.ts'
import {
  DayCounts,
  seriesFilters,
  Totals,
  type Counted,
  type CountRequest,
  dayOf,
  RisingWords,
  TagCounts,
} from './counts.ts'
import { splitTags } from '../tags.ts'
import { daysAfter, groupsAfter, tagsAfter, wordsAfter } from './queries.ts'

/** Records counted in one statement, about 60 ms, so that other scans get a turn. */
const PAGE = 50_000

/** Ten million records take about 30 s on an idle core, several times that on a busy one. */
const MAX_MS = 120_000

/**
 * Counts in the database, in one pass over the table: an index of dates would be faster for a few days, but the other columns
 * would be fetched record by record, which takes minutes with ten million.
 * @throws OverloadError if it takes too long
 */
export async function countInDatabase(
  { dialect, scanner }: Pick<Database, 'dialect' | 'scanner'>,
  request: CountRequest,
  now: number,
): Promise<Counted> {
  const { filters, span, weeks } = request
  const days = new DayCounts(dayOf(span.from), dayOf(span.to))
  const all = seriesFilters(request)
  const totals = new Totals()
  const rising = new RisingWords()
  const tags = new TagCounts()
  const deadline = performance.now() + MAX_MS
  for (let after = ''; ;) {
    if (performance.now() > deadline) throw new OverloadError()
    for (const { series, day, count } of await scanner.all(daysAfter(dialect, all, span, after, PAGE, now)))
      days.add(series, day, count)
    const rows = await scanner.values(groupsAfter(dialect, filters, after, PAGE, now))
    if (weeks !== undefined) {
      for (const { words, date_reg } of await scanner.all(wordsAfter(dialect, all, weeks, after, PAGE, now)))
        rising.add(words.trim().split(' '), date_reg >= weeks.lastWeek)
    }
    if ((request.tags ?? 0) > 0) {
      for (const { tags: found, count } of await scanner.all(tagsAfter(dialect, filters, after, PAGE, now)))
        tags.add(splitTags(found), Number(count))
    }
    let visited = 0
    for (const [length, agent, records, bought, reserved, revision, discarded, count, last] of rows) {
      totals.addLength(Number(length), {
        records: Number(records),
        bought: Number(bought),
        reserved: Number(reserved),
        revision: Number(revision),
        discarded: Number(discarded),
      })
      totals.addAgent(String(agent), Number(records))
      visited += Number(count)
      if (String(last) > after) after = String(last)
    }
    if (visited < PAGE) return { days, totals, rising, tags }
  }
}
