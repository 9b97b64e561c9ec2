import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { createAccounts } from '../accounts/index.ts'
import type { Config } from '../config/config.ts'
import { openDatabase } from '../context.ts'
import { systemClock } from '../core/clock.ts'
import type { Database } from '../database/database.ts'
import {
  dryRun,
  IMPORT_FORMATS,
  importLines,
  readLines,
  storeRows,
  type ImportOutcome,
} from '../domainwatch/index.ts'
import { checkpointsOf } from './checkpoint.ts'
import { readOptions } from './options.ts'
import { createProgress, type Progress } from './progress.ts'
import { usageFault } from './usage.ts'

const STANDARD_INPUT = '-'

interface Run {
  readonly config: Config
  readonly database: Database
  readonly account: string
  readonly format: (typeof IMPORT_FORMATS)[number] | undefined
  readonly isDry: boolean
  readonly restart: boolean
  readonly progress: Progress
}

/** `catalejo import FILE…`: loads lists of domains. Works beside a running service. */
export async function importFiles(args: readonly string[]): Promise<void> {
  const options = readOptions(args, ['account', 'format'], ['dry-run', 'restart'])
  if (options === undefined) return
  const { config, own, positionals, switches } = options
  const format = IMPORT_FORMATS.find((name) => name === own['format'])
  if (own['format'] !== undefined && format === undefined)
    return usageFault(`--format takes ${IMPORT_FORMATS.join(', ')}`)
  if (positionals.length === 0) return usageFault('import takes files, or - for standard input')

  const database = await openDatabase(config)
  try {
    const account = await accountFor(database, own['account'])
    if (account === undefined) return
    const progress = createProgress()
    const run = {
      config,
      database,
      account,
      format,
      isDry: switches.has('dry-run'),
      restart: switches.has('restart'),
      progress,
    }
    for (const file of positionals) {
      const outcome = await importFile(file, run)
      progress.end()
      report(file, outcome, run.isDry)
    }
  } finally {
    await database.close()
  }
}

async function importFile(file: string, run: Run): Promise<ImportOutcome> {
  const { config, database, account, format, isDry, restart, progress } = run
  const isStandardInput = file === STANDARD_INPUT
  const checkpoints = isStandardInput || isDry ? undefined : await checkpointsOf(config.data, file)
  if (restart) await checkpoints?.remove()
  const after = await checkpoints?.read()
  if (after !== undefined) console.error(`${file}: going on after line ${after.line}`)
  progress.begin(file, isStandardInput ? undefined : (await stat(file)).size)
  const source = isStandardInput ? process.stdin : createReadStream(file)
  const outcome = await importLines(readLines(unzipped(counted(source, progress))), {
    format,
    clock: systemClock,
    timeZone: config.timeZone,
    store: isDry ? dryRun(database) : storeRows(database, systemClock, config.timeZone, account),
    after,
    ...(checkpoints === undefined ? {} : { stored: (line, counts) => checkpoints.write({ line, counts }) }),
  })
  await checkpoints?.remove()
  return outcome
}

function report(file: string, outcome: ImportOutcome, isDry: boolean): void {
  if (outcome.kind === 'unknown-format') {
    console.error(`${file}: neither a list of the registry nor an export (--format tells what it is)`)
    process.exitCode = 1
    return
  }
  const { counts, faults } = outcome
  const changed = isDry ? `${counts.changed} of names not recorded yet` : `${counts.changed} new or changed`
  console.log(`${file}: ${counts.read} records, ${changed}, ${counts.refused} lines refused`)
  for (const { line, msg } of faults) {
    console.error(`${file}:${line}: ${msg}`)
  }
  if (counts.refused > faults.length) console.error(`${file}: … and more`)
  if (counts.refused > 0) process.exitCode = 1
}

/** The account that is named, or the only one there is. */
async function accountFor(database: Database, name: string | undefined): Promise<string | undefined> {
  const names = await createAccounts(database, systemClock).names('domainwatch')
  const [only] = names
  if (name === undefined ? names.length === 1 : names.includes(name)) return name ?? only
  usageFault(
    name === undefined
      ? `--account tells whose records they are: ${names.join(', ') || 'make one with catalejo key create'}`
      : `there is no account «${name}» of the service domainwatch`,
  )
  return undefined
}

async function* counted(source: AsyncIterable<Buffer>, progress: Progress): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    progress.add(chunk.byteLength)
    yield chunk
  }
}

/** Told by its first two bytes, whatever it is called (RFC 1952). */
async function* unzipped(source: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const first = await source.next()
  if (first.done === true) return
  async function* whole() {
    yield first.value
    yield* source
  }
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return yield* whole()
  // Its fault is thrown where its output is read.
  yield* pipeline(whole(), createGunzip(), () => {})
}
