import { EXPORT_FORMATS, exportText, type ExportedRecord } from '../domainwatch/export.ts'
import { Interest, NameIndex, Rules } from '../domainwatch/index.ts'
import { isExpired } from '../domainwatch/limits.ts'
import { recordsAfter } from '../domainwatch/queries-records.ts'
import {
  DISMISSED_HEAD,
  dismissedLine,
  forgetNames,
  readDismissed,
  type DismissedRow,
} from '../domainwatch/queries-dismissed.ts'
import { bareName } from '../domainwatch/import/format.ts'
import { FIELD_NAMES, fieldsParameter, RecordFields, type FieldName } from '../domainwatch/record-fields.ts'
import { readDictionary } from '../domainwatch/words.ts'
import { InterruptibleSleep, systemClock } from '../lib/clock.ts'
import { parseLabel } from '../lib/domain-names.ts'
import { Gate } from '../lib/gate.ts'
import { POOLS } from '../lib/limits.ts'
import { createTasks } from '../lib/tasks.ts'
import { openDatabase } from '../storage/database/open.ts'
import type { ChangeLog } from '../storage/database/changes/change-log.ts'
import type { Change } from '../storage/database/changes/change.ts'
import type { Database } from '../storage/database/database.ts'
import { record } from './accounts.ts'
import { abortOnSignal, type Options } from './command.ts'
import { usageFault, printAll } from './output.ts'

/** Records or names read at a time. */
const PART = 2_000
const INDEX_THREADS = 2
const OF_OTHERS: ReadonlySet<FieldName> = new Set(['demand', 'twins', 'interest', 'because'])

/** `catalejo export`: prints every record on standard output, in the order of names. Works while the service runs. */
export async function exportAll({ config, own }: Options): Promise<void> {
  const format = EXPORT_FORMATS.find((name) => name === own['format']) ?? 'csv'
  const fields = typeof own['fields'] === 'string' ? fieldsParameter.parse(own['fields']) : undefined
  if (fields !== undefined && 'takes' in fields)
    return usageFault(`--fields must be all, or a list separated by commas of ${FIELD_NAMES.join(', ')}`)
  await using database = await openDatabase(config, { existing: true })
  const dictionary = readDictionary(config.words)
  const tasks = createTasks(INDEX_THREADS)
  const report = (message: string) => console.error(`catalejo: ${message}`)
  const { timeZone } = config
  const rules = new Rules(database, dictionary.split)
  const index = new NameIndex({ database, tasks, dictionary, timeZone, report, rules })
  // Some fields are about other records.
  if (fields?.value.some((field) => OF_OTHERS.has(field)) === true) await index.load()
  const interest = new Interest({ database, clock: systemClock, tasks, nameIndex: index, dictionary })
  const of = { database, clock: systemClock, timeZone, dictionary, nameIndex: index, interest }
  const records = new RecordFields({ ...of, searches: new Gate(POOLS.searches) })
  const further = fields && { fields: fields.value, read: records.byName.bind(records) }
  await printAll(exportText(allRecords(database), format, config.timeZone, further))
  index.close()
  await tasks.close()
}

async function* allRecords({ scanner }: Database): AsyncGenerator<readonly ExportedRecord[]> {
  for (let after = ''; ;) {
    const records = await scanner.all(recordsAfter(after, PART))
    const now = systemClock.now()
    yield records.filter(({ discarded_at: at }) => at === null || !isExpired(at, now))
    const last = records.at(-1)
    if (last === undefined || records.length < PART) return
    after = last.name
  }
}

/** Changes read at a time. */
const PAGE = 500
const MAX_PAUSE_MS = 1_000

/** `catalejo changes`: prints changes, one JSON line each. Exits with 3 if changes after `--since` have been removed. */
export async function changes({ config, own }: Options): Promise<void> {
  await using database = await openDatabase(config, { existing: true })
  const stopping = abortOnSignal()
  // The reader has closed the pipe.
  process.stdout.once('error', () => stopping.abort())
  const cursor = own['since'] ?? (await database.changes.start())
  const isFollowing = own['follow'] === 'yes'
  await printAll(linesAfter(database.changes, cursor, isFollowing, stopping.signal))
}

/** Yields the changes after a cursor, then new ones if it is to follow them. */
async function* linesAfter(
  log: ChangeLog,
  since: string,
  isFollowing: boolean,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const wakeup = new InterruptibleSleep()
  const unwatch = isFollowing ? log.watch(() => wakeup.wakeAll()) : () => {}
  try {
    for (let cursor = since; !signal.aborted;) {
      const page = await log.since(cursor, PAGE)
      if (page.kind === 'gap') return reportGap()
      yield page.changes.map(line).join('')
      if (page.cursor === cursor && !isFollowing) return
      // What was committed since the read does not wake it.
      if (page.cursor === cursor) await wakeup.sleep(MAX_PAUSE_MS, signal)
      cursor = page.cursor
    }
  } finally {
    unwatch()
  }
}

const line = (change: Change): string => `${JSON.stringify(change)}\n`

function reportGap(): void {
  console.error('catalejo: the changes after this cursor were deleted; start without --since')
  process.exitCode = 3
}

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
