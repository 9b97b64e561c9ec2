import { stat } from 'node:fs/promises'
import { createAccounts } from '../accounts/index.ts'
import { openDatabase } from '../server/open-database.ts'
import { systemClock } from '../lib/clock.ts'
import type { Database } from '../storage/database/database.ts'
import { IMPORT_FORMATS } from '../domainwatch/import/format.ts'
import { importLines, type ImportOutcome } from '../domainwatch/import/importer.ts'
import { readLines } from '../domainwatch/import/lines.ts'
import { bytesOf } from '../domainwatch/import/source.ts'
import { dryRunRows, storeRows } from '../domainwatch/import/store-rows.ts'
import { readDictionary } from '../domainwatch/words/dictionary.ts'
import { splitFewNames } from '../domainwatch/words/split-names.ts'
import { checkpointsOf } from './checkpoint.ts'
import { reportMigration } from './instance.ts'
import { failureLine, usageFault } from './failure.ts'
import type { Options } from './command.ts'
import { createProgress } from './progress.ts'
import { asError } from '../lib/errors.ts'

const STANDARD_INPUT = '-'
const UNKNOWN_FORMAT = 'neither a list of the registry nor an export (--format sets the format)'

/** `catalejo import FILE…`: loads lists of domains. Works while the service runs. */
export async function importFiles({ config, own, positionals, switches }: Options): Promise<void> {
  const format = IMPORT_FORMATS.find((name) => name === own['format'])
  const isPiped = positionals.length === 0 && process.stdin.isTTY !== true
  const files = isPiped ? [STANDARD_INPUT] : positionals
  if (files.length === 0) return usageFault('import takes files, or - for standard input')

  await using database = await openDatabase(config, { load: true, onMigrated: reportMigration })
  const account = await accountFor(database, own['account'])
  if (account === undefined) return
  const progress = createProgress()
  const dictionary = readDictionary(config.words)
  const isDry = switches.has('dry-run')
  // The import splits the names itself, so a new database needs no splitting later.
  if (!isDry) await splitFewNames(database, dictionary)
  const target = { database, clock: systemClock, timeZone: config.timeZone, account }

  for (const file of files) {
    const outcome = await importFile(file).catch(failure)
    progress.end()
    report(file, outcome)
    // The database cannot store the other files either.
    if (outcome.kind === 'failed') break
  }

  async function importFile(file: string): Promise<FileOutcome> {
    const path = file === STANDARD_INPUT ? undefined : file
    const size = path === undefined ? undefined : await sizeOf(path)
    if (typeof size === 'string') return { kind: 'unreadable', reason: size }
    const checkpoints = path === undefined || isDry ? undefined : await checkpointsOf(config.data, path)
    if (switches.has('restart')) await checkpoints?.remove()
    const after = await checkpoints?.read()
    if (after !== undefined) console.error(`${file}: resuming after line ${after.line}`)
    progress.begin(file, size, 0, 'bytes')
    const trial = isDry ? dryRunRows(target) : undefined
    let [readBytes, storedBytes] = [0, 0]
    const source = {
      read: () => readBytes,
      stored(bytes: number) {
        progress.add(bytes - storedBytes)
        storedBytes = bytes
      },
    }
    const bytes = bytesOf(path, (count) => void (readBytes += count))
    const outcome = await importLines(readLines(bytes), {
      format,
      clock: systemClock,
      timeZone: config.timeZone,
      split: dictionary.split,
      store: trial?.store ?? storeRows(target),
      after,
      source,
      ...(checkpoints === undefined ? {} : { stored: (reached) => checkpoints.write(reached) }),
    })
    // A file that could not be read to its end is continued next time.
    if (outcome.kind !== 'imported' || outcome.cutOff === undefined) await checkpoints?.remove()
    return trial === undefined || outcome.kind !== 'imported' ? outcome : { ...outcome, added: trial.added() }
  }
}

type FileOutcome =
  /** `added`: in a dry run, how many names are not recorded yet. */
  | (ImportOutcome & { readonly added?: number })
  | { readonly kind: 'unreadable' | 'failed'; readonly reason: string }

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

function report(file: string, outcome: FileOutcome): void {
  if (outcome.kind !== 'imported') {
    console.error(`${file}: ${outcome.kind === 'unknown-format' ? UNKNOWN_FORMAT : outcome.reason}`)
    process.exitCode = 1
    return
  }
  const { counts, faults, cutOff, added } = outcome
  const { read, changed, refused } = counts
  const would = (count: number) =>
    `${count} would be new, ${changed - count} would change, ${read - changed} would stay`
  const effect = added === undefined ? `${changed} new or changed` : would(added)
  console.log(`${file}: ${read} records, ${effect}, ${refused} lines refused`)
  for (const { line, msg } of faults) {
    console.error(`${file}:${line}: ${msg}`)
  }
  if (refused > faults.length) console.error(`${file}: … and more`)
  if (cutOff !== undefined) console.error(`${file}: cannot be read to its end: ${cutOff.message}`)
  if (refused > 0 || cutOff !== undefined) process.exitCode = 1
}

/** The named account, or the only one. */
async function accountFor(database: Database, name: string | undefined) {
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
