import { OverloadError } from '../../lib/errors.ts'
import type { Database } from '../../storage/database/database.ts'
import { seriesFilters, type Counted, type CountRequest } from './counted.ts'
import { DayCounts, dayOf } from './days.ts'
import { daysAfter, groupsAfter } from './queries.ts'
import { Tally } from './tally.ts'

/** Records counted in one statement, so that other scans come in between: some 60 ms. */
const PAGE = 50_000

/** Ten million records take some 30 s of a core, and several times that where others are at work. */
const MAX_MS = 120_000

/**
 * Counts in the database, in one walk through the table: an index of dates would be quicker for a few days, but what is not in it
 * would be fetched record by record, which takes minutes among ten million.
 * @throws OverloadError when it takes too long
 */
export async function countInDatabase(
  { dialect, scanner }: Pick<Database, 'dialect' | 'scanner'>,
  request: CountRequest,
  now: number,
): Promise<Counted> {
  const { filters, span } = request
  const days = new DayCounts(dayOf(span.from), dayOf(span.to))
  const all = seriesFilters(request)
  const tally = new Tally()
  const deadline = performance.now() + MAX_MS
  for (let after = ''; ;) {
    if (performance.now() > deadline) throw new OverloadError()
    for (const { series, day, count } of await scanner.all(daysAfter(dialect, all, span, after, PAGE, now)))
      days.add(series, day, count)
    const rows = await scanner.values(groupsAfter(dialect, filters, after, PAGE, now))
    let visited = 0
    for (const [length, agent, records, bought, reserved, revision, discarded, count, last] of rows) {
      tally.addLength(Number(length), {
        records: Number(records),
        bought: Number(bought),
        reserved: Number(reserved),
        revision: Number(revision),
        discarded: Number(discarded),
      })
      tally.addAgent(String(agent), Number(records))
      visited += Number(count)
      if (String(last) > after) after = String(last)
    }
    if (visited < PAGE) return { days, tally }
  }
}
