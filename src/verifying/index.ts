import type { BlobStore } from '../blobs/blob-store.ts'
import { atOnce } from '../core/at-once.ts'
import type { Clock } from '../core/clock.ts'
import { Overload } from '../core/errors.ts'
import type { Database } from '../database/database.ts'
import { bytesKey, isLost } from '../imagestore/lost.ts'
import { findStrays } from '../imagestore/orphans.ts'
import { claimStore, FOREIGN_STORE, ownershipOf, STRANGE_STORE } from '../imagestore/ownership.ts'
import { stateOfBytes } from './bytes.ts'
import { Findings } from './findings.ts'
import { PAGE, patiently, rowsOf } from './pages.ts'
import * as queries from './queries.ts'
import { Repairer, type Repaired } from './repair.ts'
import { blobFault, domainFault, imageFault } from './rows.ts'

/** Blobs read at once. Each takes a file or a connection, and some hundred kilobytes. */
const AT_ONCE = 16

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
  readonly progress: {
    begin(name: string, total?: number): void
    add(count: number, bytes?: number): void
    end(): void
  }
}

export interface Verified {
  readonly findings: Findings
  readonly repaired: Repaired
  readonly checked: {
    domains: number
    images: number
    blobs: number
    bytes: number
    /** In the store: of images that were deleted, and without a record but young. */
    trashed: number
    young: number
  }
}

/**
 * Looks for whatever is not as it should be in the database and in the store, beside a running service. What changes
 * meanwhile is no fault: each is looked at again before it counts. Memory does not grow with what there is.
 */
export async function verify(options: VerifyOptions): Promise<Verified> {
  const { database, blobs, clock, progress } = options
  const findings = new Findings(options.examples)
  const repairer = new Repairer(database, blobs, clock)
  const checked = { domains: 0, images: 0, blobs: 0, bytes: 0, trashed: 0, young: 0 }

  let isSound = true
  await checkDatabase()
  const repair = (await checkOwner()) && isSound && options.repair
  if (!isSound)
    findings.add('store', 'the database is damaged, so what it says of the store is not relied on')
  for (const check of [checkBytes, checkStrays]) await (isSound ? check() : readable('blobs', check))
  progress.end()
  return { findings, repaired: repairer.done, checked }

  async function begin(name: string, table: Parameters<typeof queries.countOf>[0]): Promise<void> {
    // Counting may take longer than a statement is allowed to.
    const count = await database.scanner.first(queries.countOf(table)).catch(() => undefined)
    progress.begin(name, count?.count)
  }

  /** Goes through a table; one that cannot be read to its end is a fault, and what it says is not to be relied on. */
  async function readable(table: string, read: () => Promise<void>): Promise<void> {
    try {
      await read()
    } catch (error) {
      if (!(error instanceof Error) || error instanceof Overload) throw error
      isSound = false
      note(`${table} cannot be read: ${error.message}`)
    }
  }

  function note(fault: string | undefined): void {
    if (fault !== undefined) findings.add('database', fault)
  }

  async function checkDatabase(): Promise<void> {
    progress.begin('database')
    for (const fault of await database.check()) {
      isSound = false
      note(fault)
    }
    await readable('keys', async () => {
      for (const { id } of await database.scanner.all(queries.keysWithoutAccount())) {
        note(`key ${id}: there is no such account`)
      }
    })
    await readable('domains', checkDomains)
    await readable('images', checkImages)
  }

  async function checkDomains(): Promise<void> {
    await begin('domains', 'domains')
    const domains = rowsOf(database, queries.domainsAfter('', PAGE), ({ name }) =>
      queries.domainsAfter(name, PAGE),
    )
    for await (const row of domains) {
      note(domainFault(row))
      checked.domains++
      progress.add(1)
    }
  }

  async function checkImages(): Promise<void> {
    await begin('images', 'images')
    const images = rowsOf(database, queries.imagesAfter(0, '', PAGE), ({ account_id, hash }) =>
      queries.imagesAfter(account_id, hash, PAGE),
    )
    for await (const row of images) {
      note(imageFault(row))
      checked.images++
      progress.add(1)
    }
  }

  async function checkOwner(): Promise<boolean> {
    if (options.claim) await claimStore(database, blobs)
    const ownership = await ownershipOf(database, blobs, options.repair)
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

  async function checkBytes(): Promise<void> {
    await begin('bytes', 'blobs')
    const rows = rowsOf(database, queries.blobsAfter('', PAGE), ({ hash }) => queries.blobsAfter(hash, PAGE))
    await atOnce(rows, AT_ONCE, async (row) => {
      note(blobFault(row))
      const state = await stateOfBytes(blobs, bytesKey(row.key), row, (bytes) => {
        checked.bytes += bytes
        progress.add(0, bytes)
      })
      checked.blobs++
      progress.add(1)
      if (isLost(row.key) !== (state.kind !== 'good')) await judge(row, state)
      else if (state.kind !== 'good') findings.add('lost', bytesKey(row.key))
    })
  }

  /** What is recorded and what is stored differ, unless the record changed meanwhile. */
  async function judge(
    row: { readonly hash: string; readonly key: string },
    state: Awaited<ReturnType<typeof stateOfBytes>>,
  ): Promise<void> {
    const same = await patiently(() => database.scanner.first(queries.blobWithKey(row.hash, row.key)))
    if (same === undefined) return
    switch (state.kind) {
      case 'good':
        findings.add('found', bytesKey(row.key))
        return repair ? repairer.found(row) : undefined
      case 'missing':
        findings.add('missing', row.key)
        return repair ? repairer.missing(row) : undefined
      case 'rotted':
        findings.add('rotted', row.key)
        return repair ? repairer.rotted(row) : undefined
      case 'unreadable':
        findings.add('unreadable', `${row.key}: ${state.reason}`)
    }
  }

  async function checkStrays(): Promise<void> {
    progress.begin('store')
    for await (const strays of findStrays(database, blobs, clock.now() - options.minAgeMs)) {
      checked.trashed += strays.trashed.length
      checked.young += strays.young.length
      for (const key of strays.orphans) {
        // One that was removed between its listing and its look-up is none.
        const found = await blobs.whole(key)
        found?.body.destroy()
        if (found === undefined) continue
        findings.add('orphaned', key)
        if (repair) note(await repairer.orphaned(key))
      }
      progress.add(strays.listed)
    }
  }
}
