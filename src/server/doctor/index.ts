import { asError } from '../../lib/errors.ts'
import { withTimeout } from '../../lib/concurrency.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Config } from '../config/config.ts'
import { operationChecks, storeChecks, unopened } from './contents.ts'
import { collect, fail, type Check, type Finding, type Look, type Result } from './finding.ts'
import { clockChecks, machineChecks } from './machine.ts'
import { networkChecks } from './network.ts'

export { clockStepMs } from './machine.ts'
export { LEVELS, type Finding, type Level } from './finding.ts'

/** Reading the pages of a large database takes the longest. */
const CHECK_TIMEOUT_MS = 120_000
const MAX_CHARACTERS = 300

/**
 * Looks at everything that tends to go wrong in running an instance, next to a running service or without one.
 * @param database the error if it could not be opened
 * @returns at least one finding of each check, in the order of the documentation
 */
export async function diagnose(
  config: Config,
  database: Database | Error,
  clock: Clock,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const add = (check: string, { level, text, mend }: Result) =>
    // One line each: SQLite reports damage in many.
    findings.push({ check, level, text: text.replace(/\s+/g, ' ').slice(0, MAX_CHARACTERS), mend })
  // One after the other: some use what others found, and none may distort another.
  for (const { name, run } of getChecks(config, database, clock)) {
    try {
      const isDone = await withTimeout(
        collect(run()).then((results) => results.forEach((result) => add(name, result))),
        CHECK_TIMEOUT_MS,
      )
      if (!isDone) add(name, fail('it did not end in time', 'see the log'))
    } catch (error) {
      add(name, fail(asError(error).message, 'see the log'))
    }
  }
  return findings
}

function getChecks(config: Config, database: Database | Error, clock: Clock): readonly Check[] {
  if (database instanceof Error) {
    async function* run(error: Error): Look {
      yield unopened(config, error)
      return
    }
    return [...machineChecks(config), { name: 'database', run: () => run(database) }]
  }
  return [
    ...machineChecks(config),
    ...clockChecks(config, database, clock),
    ...storeChecks(config, database),
    ...networkChecks({ clock, config, database }),
    ...operationChecks(config, database, clock),
  ]
}
