import { asError } from '../../lib/errors.ts'
import { withTimeout } from '../../lib/concurrency.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Config } from '../config/config.ts'
import { clockChecks } from './clock.ts'
import { type Check, type Finding, type Result } from './finding.ts'
import { machineChecks } from './machine.ts'
import { networkChecks } from './network.ts'
import { operationChecks } from './operation.ts'
import { storeChecks, unopened } from './stores.ts'

export { clockStepMs } from './clock.ts'
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
  const machine = machineChecks(config)
  if (database instanceof Error)
    return runAll([...machine, { name: 'database', run: async () => [unopened(database)] }])
  return runAll([
    ...machine,
    ...clockChecks(config, database, clock),
    ...storeChecks(config, database),
    ...networkChecks({ clock, config, database }),
    ...operationChecks(config, database, clock),
  ])
}

/** One after the other: some use what others found, and none may distort another. */
async function runAll(checks: readonly Check[]): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const { name, run } of checks) {
    // One line each: SQLite reports damage in many.
    const found = (result: Result) =>
      void findings.push({
        check: name,
        ...result,
        text: result.text.replace(/\s+/g, ' ').slice(0, MAX_CHARACTERS),
      })
    try {
      const isDone = await withTimeout(
        run().then((results) => results.forEach(found)),
        CHECK_TIMEOUT_MS,
      )
      if (!isDone) found({ level: 'fail', text: 'it did not end in time', mend: 'see the log' })
    } catch (error) {
      found({ level: 'fail', text: asError(error).message, mend: 'see the log' })
    }
  }
  return findings
}
