import { systemClock } from '../lib/clock.ts'
import { parseLabel } from '../lib/domain-names.ts'
import { openDatabase } from '../storage/database/open.ts'
import {
  DISMISSED_HEAD,
  dismissedLine,
  forgetNames,
  readDismissed,
  type DismissedRow,
} from '../domainwatch/queries-dismissed.ts'
import { bareName } from '../domainwatch/import/format.ts'
import type { Database } from '../storage/database/database.ts'
import { record } from './audit.ts'
import type { Options } from './command.ts'
import { usageFault, printAll } from './output.ts'

/** Names read at a time. */
const PART = 2_000

/** `catalejo dismissed list`: prints dismissed names as CSV, those dismissed last first. Works while the service runs. */
export async function listDismissed({ config, own }: Options): Promise<void> {
  await using database = await openDatabase(config, { existing: true })
  await printAll(allDismissed(database, own['search'] ?? ''))
}

async function* allDismissed(database: Database, search: string): AsyncGenerator<string> {
  yield DISMISSED_HEAD
  for (let after: DismissedRow | undefined; ;) {
    const rows = await readDismissed(database, database.scanner, search, after, PART)
    yield rows.map(dismissedLine).join('')
    after = rows.at(-1)
    if (after === undefined || rows.length < PART) return
  }
}

/** `catalejo dismissed forget NAME…`: lists of the registry record the names again. Works while the service runs. */
export async function forgetDismissed({ config, positionals }: Options): Promise<void> {
  const names: string[] = []
  for (const text of positionals) {
    const label = parseLabel(bareName(text))
    if (!label.ok) return usageFault(`not a .cl name: ${text}`)
    names.push(label.name)
  }
  await using database = await openDatabase(config, { existing: true })
  const count = await forgetNames(database, systemClock, names)
  await record(database, 'dismissed.forget', names.join(' '))
  console.log(`${count} forgotten`)
}
