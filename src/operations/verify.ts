import {
  bytesKey,
  claimStore,
  findUnreferenced,
  FOREIGN_STORE,
  isLost,
  ownershipOf,
  STRANGE_STORE,
  lostKey,
  markDamaged,
  rename,
  verifyBlobTwice,
  type BytesState,
} from '../imagestore/blobs.ts'
import { blobByHash } from '../imagestore/queries.ts'
import { forEachConcurrent } from '../lib/concurrency.ts'
import { heldUntil } from '../storage/database/transfer-marks.ts'
import {
  blobFault,
  checkDatabase,
  PAGE_ROWS,
  retryOverload,
  toRows,
  startVerification,
  type Verification,
  type VerifyOptions,
} from './check-database.ts'
import * as queries from './queries.ts'

/** Blobs read concurrently. Each takes a file or a connection, and some hundred kilobytes. */
const CONCURRENCY = 16

/** Returns whether the store belongs to this database. A repair claims one without an owner. */
async function checkOwner({ findings, options }: Verification): Promise<boolean> {
  const { blobs, claim, database, repair } = options
  if (claim) await claimStore(database, blobs)
  const ownership = await ownershipOf(database, blobs, repair)
  switch (ownership.kind) {
    case 'own':
      return true
    case 'foreign':
      findings.add('store', `${FOREIGN_STORE}, ${ownership.owner}`)
      return false
    case 'strange':
      findings.add('store', STRANGE_STORE)
      return false
  }
}

/** Reads and verifies the bytes of every recorded image. */
async function checkBytes(verification: Verification, repairs: boolean): Promise<void> {
  const { checked, findings, options } = verification
  const { blobs, database, progress } = options
  await verification.begin('bytes', 'blobs')
  const rows = toRows(database, (last?: { hash: string }) => queries.blobsAfter(last?.hash ?? '', PAGE_ROWS))
  await forEachConcurrent(rows, CONCURRENCY, async (row) => {
    verification.report(blobFault(row))
    const state = await verifyBlobTwice(blobs, bytesKey(row.key), row, (bytes) => {
      checked.bytes += bytes
    })
    checked.blobs++
    progress.add(1)
    if (isLost(row.key) !== (state !== 'valid')) await reportDifference(verification, repairs, row, state)
    else if (state !== 'valid') findings.add('lost', bytesKey(row.key))
  })
}

/** Reports, and repairs, a difference between record and store, unless the record has changed since. */
async function reportDifference(
  verification: Verification,
  repairs: boolean,
  row: Recorded,
  state: BytesState,
): Promise<void> {
  const { findings, options } = verification
  const { hash, key } = row
  const unchanged = await retryOverload(() => options.database.scanner.first(queries.blobWithKey(hash, key)))
  if (unchanged === undefined) return
  if (typeof state === 'object') return findings.add('unreadable', `${key}: ${state.unreadable}`)
  if (state === 'valid') findings.add('found', bytesKey(key))
  else findings.add(state === 'damaged' ? 'corrupt' : state, key)
  if (repairs) await repair(verification, row, state)
}

/** Lists the store and reports files without a record. */
async function checkOrphans(verification: Verification, repairs: boolean): Promise<void> {
  const { checked, findings, options } = verification
  const { blobs, clock, database, minAgeMs, progress } = options
  progress.begin('store')
  for await (const strays of findUnreferenced(database, blobs, clock.now() - minAgeMs)) {
    checked.trashed += strays.trashed.length
    checked.young += strays.young.length
    for (const key of strays.orphans) {
      // It may have been removed since it was listed.
      const found = await blobs.openWhole(key)
      found?.body.destroy()
      if (found === undefined) continue
      findings.add('orphaned', key)
      if (repairs) verification.report(await removeOrphan(verification, key))
    }
    progress.add(strays.listed)
  }
}

interface Recorded {
  readonly hash: string
  readonly key: string
}

/** Repairs are made one by one. If they are interrupted, the next run finds and repairs the rest. */
async function repair(
  { options, repaired }: Verification,
  { hash, key }: Recorded,
  state: Extract<BytesState, string>,
): Promise<void> {
  const { blobs, database } = options
  if (state === 'damaged') {
    const marked = await retryOverload(() => markDamaged(database, blobs, { hash, key }))
    repaired.quarantined++
    repaired.markedLost += marked
    return
  }
  const to = state === 'valid' ? bytesKey(key) : lostKey(key)
  const renamed = await retryOverload(() => rename(database, hash, key, to))
  repaired[state === 'valid' ? 'recovered' : 'markedLost'] += renamed
}

/** @returns a fault if the database contradicts itself; then the bytes stay */
async function removeOrphan({ options, repaired }: Verification, key: string): Promise<string | undefined> {
  const { blobs, clock, database } = options
  // No record was found by its key. Removal is final, so look it up by its hash too, in another index.
  const recorded = await retryOverload(() => database.first(blobByHash(key.slice(0, key.indexOf('.')))))
  if (recorded !== undefined && bytesKey(recorded.key) === key) {
    return `blob ${key}: found by its hash but not by its key`
  }
  // A running backup may still have to copy it; the next repair removes it.
  if ((await heldUntil(database, clock.now())) !== undefined) return undefined
  await blobs.remove(key)
  repaired.removed++
  return undefined
}

/** Verifies the database and the store of an instance, which may be running. Uses constant memory. */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const verification = startVerification(options)
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
