import { forEachConcurrent } from '../../lib/concurrency.ts'
import { bytesKey, isLost } from '../../imagestore/lost.ts'
import { findStrays } from '../../imagestore/orphans.ts'
import { claimStore, FOREIGN_STORE, ownershipOf, STRANGE_STORE } from '../../imagestore/ownership.ts'
import { stateOfBytes, type BytesState } from './bytes.ts'
import { PAGE, patiently, rowsOf } from './pages.ts'
import * as queries from './queries.ts'
import type { Repairer } from './repair.ts'
import { blobFault } from './rows.ts'
import type { Survey } from './survey.ts'

/** Blobs read at once. Each takes a file or a connection, and some hundred kilobytes. */
const AT_ONCE = 16

/**
 * Whether the store is this database's.
 * @param asked `claim` makes it so, whosever it is; `repair` where it is nobody's
 */
export async function checkOwner(
  { database, blobs, findings }: Survey,
  asked: { readonly claim: boolean; readonly repair: boolean },
): Promise<boolean> {
  if (asked.claim) await claimStore(database, blobs)
  const ownership = await ownershipOf(database, blobs, asked.repair)
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

/**
 * Reads the bytes of every recorded image.
 * @param repairer undefined to look only
 */
export async function checkBytes(survey: Survey, repairer: Repairer | undefined): Promise<void> {
  const { database, blobs, checked, progress } = survey
  await survey.begin('bytes', 'blobs')
  const rows = rowsOf(database, queries.blobsAfter('', PAGE), ({ hash }) => queries.blobsAfter(hash, PAGE))
  await forEachConcurrent(rows, AT_ONCE, async (row) => {
    survey.note(blobFault(row))
    const state = await stateOfBytes(blobs, bytesKey(row.key), row, (bytes) => {
      checked.bytes += bytes
      progress.add(0, bytes)
    })
    checked.blobs++
    progress.add(1)
    if (isLost(row.key) !== (state.kind !== 'good')) await judge(survey, repairer, row, state)
    else if (state.kind !== 'good') survey.findings.add('lost', bytesKey(row.key))
  })
}

/** What is recorded and what is stored differ, unless the record changed meanwhile. */
async function judge(
  { database, findings }: Survey,
  repairer: Repairer | undefined,
  row: { readonly hash: string; readonly key: string },
  state: BytesState,
): Promise<void> {
  const same = await patiently(() => database.scanner.first(queries.blobWithKey(row.hash, row.key)))
  if (same === undefined) return
  switch (state.kind) {
    case 'good':
      findings.add('found', bytesKey(row.key))
      return repairer?.found(row)
    case 'missing':
      findings.add('missing', row.key)
      return repairer?.missing(row)
    case 'rotted':
      findings.add('rotted', row.key)
      return repairer?.rotted(row)
    case 'unreadable':
      findings.add('unreadable', `${row.key}: ${state.reason}`)
  }
}

/**
 * Lists the store, and looks for a record of all that is there.
 * @param writtenBefore milliseconds since 1970: what is younger may belong to an upload that is under way
 * @param repairer undefined to look only
 */
export async function checkStrays(
  survey: Survey,
  repairer: Repairer | undefined,
  writtenBefore: number,
): Promise<void> {
  const { database, blobs, checked, findings, progress } = survey
  progress.begin('store')
  for await (const strays of findStrays(database, blobs, writtenBefore)) {
    checked.trashed += strays.trashed.length
    checked.young += strays.young.length
    for (const key of strays.orphans) {
      // One that was removed between its listing and its look-up is none.
      const found = await blobs.openWhole(key)
      found?.body.destroy()
      if (found === undefined) continue
      findings.add('orphaned', key)
      survey.note(await repairer?.orphaned(key))
    }
    progress.add(strays.listed)
  }
}
