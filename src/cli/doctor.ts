import { systemClock } from '../lib/clock.ts'
import { asError } from '../lib/errors.ts'
import { diagnose, LEVELS, type Finding, type Level } from '../server/doctor/index.ts'
import { openDatabase } from '../storage/database/open.ts'
import type { Options } from './command.ts'
import { failureLine } from './output.ts'

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
