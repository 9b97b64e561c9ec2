import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createAccounts } from '../accounts/index.ts'
import { openDatabase } from '../storage/database/open.ts'
import { systemClock } from '../lib/clock.ts'
import { toEpoch, isCalendarDateTime, localDateTime } from '../lib/dates.ts'
import type { Database } from '../storage/database/database.ts'
import { Staging } from '../storage/blobs/staging.ts'
import { IMPORT_FORMATS } from '../domainwatch/import/format.ts'
import { importLines, type ImportOutcome } from '../domainwatch/import/importer.ts'
import { readLines, SourceFault, bytesOf } from '../domainwatch/import/source.ts'
import { announceFreed } from '../domainwatch/registry/apply-list.ts'
import { DEFAULT_WINDOW, WINDOW_NAMES, type Facts } from '../domainwatch/registry/rules.ts'
import { serviceTimeZone } from '../domainwatch/registry/queries.ts'
import { readDictionary } from '../domainwatch/words.ts'
import { checkpointsOf } from './checkpoint.ts'
import { upgrading } from '../server/before-upgrade.ts'
import { failureLine, usageFault, fail, createProgress } from './output.ts'
import type { Options } from './command.ts'
import { asError } from '../lib/errors.ts'
import { countOf } from '../lib/text.ts'

const STANDARD_INPUT = '-'
/** Refused lines that are shown of a file. */
const MAX_SHOWN_FAULTS = 20
const UNKNOWN_FORMAT = 'neither a list of the registry nor an export (--format sets the format)'

/** `catalejo import FILE…`: loads lists of domains. Works while the service runs. */
export async function importFiles({ config, own, positionals, switches }: Options): Promise<void> {
  const format = IMPORT_FORMATS.find((name) => name === own['format'])
  const isPiped = positionals.length === 0 && process.stdin.isTTY !== true
  const files = isPiped ? [STANDARD_INPUT] : positionals
  if (files.length === 0) return usageFault('import needs files, or - for standard input')
  const window = WINDOW_NAMES.find((name) => name === own['window']) ?? DEFAULT_WINDOW
  if (own['source']?.startsWith('feed:') === true)
    return usageFault('--source must not be the name of a feed')

  await using database = await openDatabase(config, upgrading(config))
  const account = await accountFor(database, own['account'])
  if (account === undefined) return
  const { timeZone, zone } = await timeZones(database, config)
  const time = own['as-of'] === undefined ? undefined : readTime(own['as-of'], timeZone)
  if (typeof time === 'string') return usageFault(time)
  const asOf = time
  const progress = createProgress()
  const dictionary = readDictionary(config.words)
  const isDry = switches.has('dry-run')
  const { split } = dictionary
  const target = { database, clock: systemClock, timeZone, split, account }
  let lastBegan = 0

  for (const file of files) {
    const outcome = await importFile(file).catch(failure)
    progress.end()
    report(file, outcome, timeZone, isDry)
    // The database cannot store the other files either.
    if (outcome.kind === 'failed') break
  }

  async function importFile(file: string): Promise<FileOutcome> {
    if (file !== STANDARD_INPUT) return importPath(file, file)
    // It is read twice.
    const staging = await Staging.open(join(resolve(config.data), 'staging'), { flush: false })
    await using copy = await staging.write(process.stdin)
    return await importPath(file, copy.path)
  }

  async function importPath(file: string, path: string): Promise<FileOutcome> {
    const size = await sizeOf(path)
    if (typeof size === 'string') return { kind: 'unreadable', reason: size }
    const checkpoints = file === STANDARD_INPUT || isDry ? undefined : await checkpointsOf(config.data, path)
    if (switches.has('restart')) await checkpoints?.remove()
    const after = await checkpoints?.read()
    if (after !== undefined) console.error(`${file}: resuming after line ${after.line}`)
    // Each list of a source is later than the one before.
    lastBegan = Math.max(systemClock.now(), lastBegan + 1)
    const at = after?.asOf ?? asOf ?? lastBegan
    const digest = await digestOf(path)
    progress.begin(file, size, 0, 'bytes')
    let [readBytes, storedBytes] = [0, 0]
    const source = {
      read: () => readBytes,
      stored(bytes: number) {
        progress.add(bytes - storedBytes)
        storedBytes = bytes
      },
    }
    const bytes = bytesOf(path, (count) => void (readBytes += count))
    const outcome = await importLines(readLines(bytes), target, {
      format,
      zone,
      restores: true,
      list: { source: own['source'], window, at, digest, isForced: switches.has('force') },
      isDry,
      after,
      source,
      ...(checkpoints === undefined
        ? {}
        : { stored: (reached) => checkpoints.write({ ...reached, asOf: at }) }),
    })
    if (!isDry) await announceFreed(database, systemClock)
    // A file that could not be read to its end is continued next time.
    if (outcome.kind !== 'imported' || outcome.cutOff === undefined) await checkpoints?.remove()
    return outcome
  }
}

/** Returns a digest of the content of a file. A damaged one is read as far as possible, and its list does not end. */
async function digestOf(path: string): Promise<string> {
  const digest = createHash('sha256')
  try {
    for await (const piece of bytesOf(path, () => {})) digest.update(piece)
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error
  }
  return digest.digest('base64url')
}

/**
 * Returns the time zone of the service, which is that of records, and the one that dates of lists are in: the same, unless a
 * setting names another.
 */
export async function timeZones(database: Database, { timeZone, shown }: Options['config']) {
  const service = (await database.first(serviceTimeZone()))?.time_zone ?? timeZone
  const isNamed = shown.some(({ name, from }) => name === 'CATALEJO_TIME_ZONE' && from !== 'default')
  return { timeZone: service, zone: isNamed ? timeZone : service }
}

/** Returns a time of the past in milliseconds since 1970, or a string that says why it is none. */
function readTime(text: string, timeZone: string): number | string {
  const time = text.replace('T', ' ').replace(/ \d\d:\d\d$/, '$&:00')
  if (!isCalendarDateTime(time)) return '--as-of must be a time, such as 2026-01-31 15:00'
  const at = toEpoch(time, timeZone)
  return at > systemClock.now() ? '--as-of must be in the past' : at
}

type FileOutcome = ImportOutcome | { readonly kind: 'unreadable' | 'failed'; readonly reason: string }

const failure = (error: unknown): FileOutcome => ({
  kind: 'failed',
  reason: `not all of it was stored, run the command again to continue: ${failureLine(error)}`,
})

/** The size in bytes, or a string that says why the file cannot be read. */
async function sizeOf(path: string): Promise<number | string> {
  try {
    const found = await stat(path)
    return found.isDirectory() ? 'it is a folder' : found.size
  } catch (error) {
    return asError(error).message
  }
}

const SKIPPED = {
  identical: 'the same as the last list of its source, so it changes nothing',
  older: 'not later than the last list of its source, so it changes nothing (--as-of, --source)',
}

const INCOMPLETE = {
  damaged: 'its last line has no end and was dropped, and names that it lacks are not taken as absent',
  shrunken:
    'under half of the names of the last list, so names that it lacks are not taken as absent (--force takes it as complete)',
  empty: 'empty, unlike the last list of its source, so it changes nothing (--force imports it)',
}

function report(file: string, outcome: FileOutcome, timeZone: string, isDry: boolean): void {
  if (outcome.kind !== 'imported') {
    console.error(`${file}: ${outcome.kind === 'unknown-format' ? UNKNOWN_FORMAT : outcome.reason}`)
    process.exitCode = 1
    return
  }
  const { counts, cutOff, skipped, list } = outcome
  const faults = outcome.faults.slice(0, MAX_SHOWN_FAULTS)
  const { read, added, changed, refused } = counts
  const effect = isDry
    ? `${added} would be new, ${changed - added} would change, ${read - changed} would stay`
    : `${changed} new or changed`
  console.log(`${file}: ${countOf(read, 'record')}, ${effect}, ${countOf(refused, 'line')} refused`)
  for (const { line, msg } of faults) {
    console.error(`${file}:${line}: ${msg}`)
  }
  if (refused > faults.length) console.error(`${file}: … and more`)
  if (skipped !== undefined) console.error(`${file}: ${SKIPPED[skipped]}`)
  if (list.gap !== undefined) {
    const [from, to] = [list.gap.from, list.gap.to].map((at) => localDateTime(at, timeZone))
    console.error(`${file}: the last complete list is older than the window: a gap from ${from} to ${to}`)
  }
  // Refused lines are reported one by one.
  if (list.incomplete !== undefined && refused === 0) console.error(`${file}: ${INCOMPLETE[list.incomplete]}`)
  if (cutOff !== undefined) console.error(`${file}: cannot be read to its end: ${cutOff.message}`)
  if (refused > 0 || cutOff !== undefined) process.exitCode = 1
}

/** The named account, or the only one. */
export async function accountFor(database: Database, name: string | undefined) {
  const accounts = await createAccounts(database, systemClock).ofService('domainwatch')
  const found =
    name === undefined
      ? accounts.length === 1
        ? accounts[0]
        : undefined
      : accounts.find((account) => account.name === name)
  if (found !== undefined) return found
  const names = accounts.map((account) => account.name).join(', ')
  return usageFault(
    name === undefined
      ? `--account is needed, the owner of the records: ${names || 'create one with catalejo key create'}`
      : `there is no account «${name}» of the service domainwatch`,
  )
}

/** `catalejo lists repair FILE`: corrects names that version 0.1.0 took as free. Works while the service runs. */
export async function repairLists({
  config,
  own,
  positionals: [path = ''],
  switches,
}: Options): Promise<void> {
  await using database = await openDatabase(config, { existing: true })
  const account = await accountFor(database, own['account'])
  if (account === undefined) return
  const { timeZone, zone } = await timeZones(database, config)
  const { split } = readDictionary(config.words)
  const target = { database, clock: systemClock, timeZone, split, account }
  const isApplied = switches.has('apply')
  const list = {
    source: 'repair',
    window: DEFAULT_WINDOW,
    at: systemClock.now(),
    digest: '',
    isForced: false,
    repaired: (name: string, was: Facts, is: Facts) =>
      console.log(`${name}.cl: free since ${was.released_at ?? was.date_reg}, registered ${is.date_reg}`),
  }
  const options = { format: 'registrations', zone, restores: true, list, isDry: !isApplied } as const
  const outcome = await importLines(readLines(bytesOf(path, () => {})), target, options)
  if (outcome.kind !== 'imported') return fail(`${path}: not a list of registrations`)
  const { counts, cutOff } = outcome
  console.log(
    isApplied
      ? `${countOf(counts.changed, 'record')} corrected`
      : `${countOf(counts.changed, 'record')} would be corrected (--apply corrects them)`,
  )
  if (cutOff !== undefined) fail(`${path}: cannot be read to its end: ${cutOff.message}`)
}
