import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { asError } from '../lib/errors.ts'
import { countOf } from '../lib/text.ts'
import { isKind, KINDS, type Verification, type VerifyOptions } from '../operations/check-database.ts'
import { verify } from '../operations/verify.ts'
import { recorded } from '../operations/transfer/instance.ts'
import type { Config } from '../server/config/config.ts'
import { openDatabase } from '../storage/database/open.ts'
import { diagnose, LEVELS, type Finding, type Level } from '../server/doctor/index.ts'
import { openBlobs } from '../storage/blobs/open.ts'
import { Staging } from '../storage/blobs/staging.ts'
import type { Database } from '../storage/database/database.ts'
import { StorageFault } from '../storage/database/faults.ts'
import { countRows } from '../storage/database/tables.ts'
import type { Options } from './command.ts'
import { COULD_NOT_VERIFY, failureLine, usageFault, createProgress } from './output.ts'

/** No upload takes longer, so that older bytes without a record are leftovers. */
const MIN_AGE_MS = 60 * 60_000

/** `catalejo verify [--repair] [--claim]`. Works while the service runs. */
export async function verifyCommand({ config, own, switches }: Options): Promise<void> {
  const examples = Number(own['examples'])
  if (!Number.isSafeInteger(examples) || examples < 0) return usageFault('--examples must be a number from 0')
  const repair = switches.has('repair')
  try {
    const verified = await verifyAll(config, { repair, claim: switches.has('claim'), examples })
    process.stdout.write(summary(verified, repair))
    process.exitCode = verified.findings.total === 0 ? 0 : 1
  } catch (error) {
    const reason = error instanceof StorageFault ? error.explanation : failureLine(error)
    console.error(`catalejo: could not verify: ${reason}`)
    process.exitCode = COULD_NOT_VERIFY
  }
}

async function verifyAll(
  config: Config,
  selected: Pick<VerifyOptions, 'repair' | 'claim' | 'examples'>,
): Promise<Verification> {
  await using database = await openDatabase(config, { existing: true })
  const check = async () => {
    const data = resolve(config.data)
    if (config.blobsUrl === undefined) await assertStore(database, join(data, 'blobs'))
    const staging = await Staging.open(join(data, 'staging'), { flush: false })
    using blobs = await openBlobs(config.blobsUrl, join(data, 'blobs'), staging, () => {})
    const opened = { database, blobs: blobs.store, clock: systemClock }
    return await verify({ ...selected, ...opened, minAgeMs: MIN_AGE_MS, progress: createProgress() })
  }
  return await recorded(database, 'verify', check, faultsText)
}

const faultsText = ({ findings }: Verification) =>
  findings.total === 0 ? undefined : countOf(findings.total, 'fault')

/** If all bytes are missing, a disk is probably not mounted: no image may be marked as lost for that. */
async function assertStore(database: Database, folder: string): Promise<void> {
  if (existsSync(folder)) return
  const count = await countRows(database.scanner, 'blobs')
  if (count > 0)
    throw new Error(`there is no image store in ${folder}, but the database has ${countOf(count, 'image')}`)
}

function summary(verified: Verification, repair: boolean): string {
  const { findings, repaired, checked } = verified
  const { domains, images, blobs, bytes, trashed, young } = checked
  const lines = [
    `checked ${countOf(domains, 'domain')}, ${countOf(images, 'image')}, ${countOf(blobs, 'blob')} of ${countOf(bytes, 'byte')}`,
    `besides ${countOf(trashed, 'blob')} of deleted images to be removed, ${young} without a record for less than an hour`,
  ]
  for (const [kind, what] of Object.entries(KINDS)) {
    if (!isKind(kind)) continue
    const { count, first } = findings.of(kind)
    if (count === 0) continue
    lines.push(`${kind}: ${count} ${what}`, ...first.map((one) => `  ${one}`))
    if (first.length > 0 && count > first.length) lines.push(`  and ${count - first.length} more`)
  }
  if (repair) {
    const { markedLost, quarantined, recovered, removed } = repaired
    lines.push(
      `repaired: ${markedLost} marked as lost (${quarantined} put in quarantine), ${recovered} recovered, ${removed} removed`,
    )
  }
  lines.push(faultsText(verified) ?? 'no faults')
  return `${lines.join('\n')}\n`
}

/** Longer than a server takes that has just been started, shorter than a person waits. */
const DATABASE_TIMEOUT_MS = 5_000

/** `catalejo doctor [--json]`. Exits with 0, with 1 if there are warnings, and with 2 if there are failures. */
export async function doctor({ config, switches }: Options): Promise<void> {
  const database = await openDatabase(config, { existing: true, startTimeoutMs: DATABASE_TIMEOUT_MS }).catch(
    (error: unknown) => new Error(failureLine(error), { cause: asError(error) }),
  )
  try {
    const findings = await diagnose(config, database, systemClock)
    console.log(switches.has('json') ? JSON.stringify(findings) : findings.map(toLine).join('\n'))
    process.exitCode = Math.max(...findings.map(({ level }) => LEVELS.indexOf(level)))
  } finally {
    if (!(database instanceof Error)) await database.close()
  }
}

const LABELS = { ok: 'ok  ', warn: 'warn', fail: 'fail' } satisfies Record<Level, string>

const toLine = ({ check, level, mend, text }: Finding): string =>
  `${LABELS[level]}  ${check}: ${text}${mend === null ? '' : ` → ${mend}`}`
