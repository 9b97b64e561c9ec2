import { checkDatabase } from './check-database.ts'
import { checkBytes, checkOrphans, checkOwner } from './check-store.ts'
import { Verification, type VerifyOptions } from './verification.ts'

export type { VerifyOptions, Verification }

/** Verifies the database and the store of an instance, which may be running. Uses constant memory. */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const verification = new Verification(options)
  await checkDatabase(verification)
  const isOwn = await checkOwner(verification)
  if (!verification.isSound) {
    verification.findings.add('store', 'the database is damaged, so the store was not compared with it')
  }
  const repairs = isOwn && verification.isSound && options.repair
  // With a damaged database, each check runs as far as possible; with a sound one, an error ends the verification.
  for (const check of [checkBytes, checkOrphans]) {
    const run = () => check(verification, repairs)
    await (verification.isSound ? run() : verification.checkTable('blobs', run))
  }
  options.progress.end()
  return verification
}
