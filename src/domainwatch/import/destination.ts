import { restoreDismissed } from '../dismissed/index.ts'
import { RegistryList, type ListedBy } from '../registry/apply-list.ts'
import { listKind, type ImportFormat } from './format.ts'
import type { Destination } from './importer.ts'
import { restoreRows, storeRows, type ApplyRows, type ImportTarget } from './store-rows.ts'
import type { StoreRows } from './writer.ts'

export interface DestinationOptions {
  /** Whether exports restore whole records. */
  readonly restores: boolean
  /** Returns the source of a list of the registry. */
  readonly listedBy: (format: ImportFormat) => ListedBy
  /** If given, stores instead, and rolls back. */
  readonly trial?: (apply: ApplyRows) => StoreRows
}

/** Returns where the rows of a file go: into whole records, or through the rules for lists of the registry. */
export async function openDestination(
  target: ImportTarget,
  format: ImportFormat,
  { restores, listedBy, trial }: DestinationOptions,
): Promise<Destination> {
  const store = trial ?? ((apply: ApplyRows) => storeRows(target, apply))
  if (format === 'dismissed')
    return { store: store((tx, batch) => restoreDismissed(target.database, tx, batch)) }
  const kind = listKind(format, restores)
  if (kind === undefined) return { store: store(restoreRows) }
  const list = new RegistryList(target, kind, listedBy(format))
  const skipped = await list.skipReason()
  if (skipped !== undefined) return { store: async () => ({ changed: 0, heldMs: 0 }), skipped }
  return {
    store: store((tx, batch) => list.apply(tx, batch)),
    ...(trial === undefined && { end: (isWhole, names) => list.end(isWhole, names) }),
  }
}
