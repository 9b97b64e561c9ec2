import { setTimeout as pause } from 'node:timers/promises'
import { OverloadError } from '../../lib/errors.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Query } from '../../storage/database/sql.ts'

/** Rows read at a time. */
export const PAGE = 1_000
/** A database that is away for a moment must not end what runs for hours. */
const ATTEMPTS = 6
const PAUSE_MS = 2_000

/** All rows of a table, page by page, in the order of its key. @param after the page that follows a row */
export async function* rowsOf<Row>(
  database: Database,
  first: Query<Row>,
  after: (last: Row) => Query<Row>,
): AsyncGenerator<Row> {
  for (let page = await patiently(() => database.scanner.all(first)); page.length > 0;) {
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    page = await patiently(() => database.scanner.all(after(last)))
  }
}

/** For what may be done twice. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof OverloadError) || attempt === ATTEMPTS) throw error
    }
    await pause(PAUSE_MS)
  }
}
