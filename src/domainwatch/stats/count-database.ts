import type { Database } from '../../database/database.ts'
import { seriesFilters, type Counted, type CountRequest } from './counted.ts'
import { DayCounts, dayOf } from './days.ts'
import { deletions, groupsAfter, registrations } from './queries.ts'
import { Tally } from './tally.ts'

/** Records counted in one statement, so that other scans come in between: some 60 ms. */
const PAGE = 50_000

/** Counts in the database: days by the indexes of dates, the rest in one walk through the table. */
export async function countInDatabase(
  { dialect, scanner }: Pick<Database, 'dialect' | 'scanner'>,
  request: CountRequest,
  now: number,
): Promise<Counted> {
  const { filters, span } = request
  const days = new DayCounts(dayOf(span.from), dayOf(span.to))
  const all = seriesFilters(request)
  for (const { day, count } of await scanner.all(registrations(dialect, all, span, now))) {
    days.add('registered', day, count)
  }
  for (const { day, count } of await scanner.all(deletions(dialect, all, span, now))) {
    days.add('deleted', day, count)
  }
  const tally = new Tally()
  for (let after = ''; ;) {
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
