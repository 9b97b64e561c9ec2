import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Progress } from '../../lib/progress.ts'
import type { Database } from '../../storage/database/database.ts'
import { checkDatabase } from './check-database.ts'
import { checkBytes, checkOrphans, checkOwner, Repairer } from './check-store.ts'
import { Verification } from './verification.ts'

export interface VerifyOptions {
  readonly database: Database
  readonly blobs: BlobStore
  readonly clock: Clock
  /** Repairs findings as far as possible without losing anything. */
  readonly repair: boolean
  /** Takes over the store for this database first, from any owner. */
  readonly claim: boolean
  /** Files without a record that are younger than this may belong to an upload in progress. */
  readonly minAgeMs: number
  /** How many findings of each kind are listed. */
  readonly examples: number
  readonly progress: Progress
}

export type Verified = Awaited<ReturnType<typeof verify>>

/** Verifies the database and the store of an instance, which may be running. Uses constant memory. */
export async function verify(options: VerifyOptions) {
  const { database, blobs, clock, progress } = options
  const verification = new Verification(database, blobs, progress, options.examples)
  const repairer = new Repairer(database, blobs, clock)

  await checkDatabase(verification)
  const isOwn = await checkOwner(verification, options)
  if (!verification.isSound) {
    verification.findings.add('store', 'the database is damaged, so the store was not compared with it')
  }
  const activeRepairer = isOwn && verification.isSound && options.repair ? repairer : undefined
  const checks = [
    () => checkBytes(verification, activeRepairer),
    () => checkOrphans(verification, activeRepairer, clock.now() - options.minAgeMs),
  ]
  // With a damaged database, each check runs as far as possible; with a sound one, an error ends the verification.
  for (const check of checks) await (verification.isSound ? check() : verification.checkTable('blobs', check))
  progress.end()
  return { findings: verification.findings, repaired: repairer.done, checked: verification.checked }
}
