import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Progress } from '../../lib/progress.ts'
import type { Database } from '../../storage/database/database.ts'
import { checkDatabase } from './check-database.ts'
import { checkBytes, checkOwner, checkStrays } from './check-store.ts'
import type { Findings } from './findings.ts'
import { countOf } from './queries.ts'
import { Repairer, type Repaired } from './repair.ts'
import { Survey } from './survey.ts'

export interface VerifyOptions {
  readonly database: Database
  readonly blobs: BlobStore
  readonly clock: Clock
  /** Repairs what it finds, as far as that can be done without losing anything. */
  readonly repair: boolean
  /** Makes the store this database's first, whosever it is. */
  readonly claim: boolean
  /** Bytes without a record that are younger than this may belong to an upload that is under way. */
  readonly minAgeMs: number
  /** How many of each kind of fault are listed. */
  readonly examples: number
  readonly progress: Progress
}

/** How many blobs the database has records of. */
export async function countBlobs(database: Database): Promise<number> {
  return (await database.scanner.first(countOf('blobs')))?.count ?? 0
}

export interface Verified {
  readonly findings: Findings
  readonly repaired: Repaired
  readonly checked: Survey['checked']
}

/**
 * Looks for whatever is not as it should be in the database and in the store, beside a running service. What changes
 * meanwhile is no fault: each is looked at again before it counts. Memory does not grow with what there is.
 */
export async function verify(options: VerifyOptions): Promise<Verified> {
  const { database, blobs, clock, progress } = options
  const survey = new Survey(database, blobs, progress, options.examples)
  const repairer = new Repairer(database, blobs, clock)

  await checkDatabase(survey)
  const isOwn = await checkOwner(survey, options)
  if (!survey.isSound) {
    survey.findings.add('store', 'the database is damaged, so what it says of the store is not relied on')
  }
  const mender = isOwn && survey.isSound && options.repair ? repairer : undefined
  const checks = [
    () => checkBytes(survey, mender),
    () => checkStrays(survey, mender, clock.now() - options.minAgeMs),
  ]
  // Of a damaged database each is tried as far as it goes; of a sound one, what fails ends the whole.
  for (const check of checks) await (survey.isSound ? check() : survey.through('blobs', check))
  progress.end()
  return { findings: survey.findings, repaired: repairer.done, checked: survey.checked }
}
