import { restoreDismissed } from '../dismissed/index.ts'
import { readNumberKeys, storeNumbers } from '../numbers/store-numbers.ts'
import { RegistryList, type ListedBy } from '../registry/apply-list.ts'
import { listKind, type ImportFormat } from './format.ts'
import type { Destination } from './importer.ts'
import { restoreRows, storeRows, type ApplyRows, type ImportTarget } from './store-rows.ts'

export interface DestinationOptions {
  /** Whether exports restore whole records. */
  readonly restores: boolean
  /** Returns the source of a list of the registry. */
  readonly listedBy: (format: ImportFormat) => ListedBy
  /** Whether nothing is stored, only counted. */
  readonly isDry?: boolean
}

/** Returns where the rows of a file go: into whole records, numbers or dismissed names, or through the rules for lists of the registry. */
export async function openDestination(
  target: ImportTarget,
  format: ImportFormat,
  { restores, listedBy, isDry = false }: DestinationOptions,
): Promise<Destination> {
  if (format === 'dismissed') {
    const restore: ApplyRows = async (tx, batch) => {
      return { added: 0, changed: await restoreDismissed(target.database, tx, batch) }
    }
    return { store: storeRows(target, restore, isDry) }
  }
  if (format === 'numbers') {
    const { database } = target
    const store: ApplyRows = (tx, batch) => storeNumbers(database, tx, batch)
    return { store: storeRows(target, store, isDry), numberKeys: await readNumberKeys(database) }
  }
  const kind = listKind(format, restores)
  if (kind === undefined) return { store: storeRows(target, restoreRows(target), isDry) }
  const list = new RegistryList(target, kind, listedBy(format))
  const skipped = await list.skipReason()
  if (skipped !== undefined) return { store: async () => ({ added: 0, changed: 0 }), skipped }
  return {
    store: storeRows(target, (tx, batch) => list.apply(tx, batch), isDry),
    ...(!isDry && { end: (isWhole, names) => list.end(isWhole, names) }),
  }
}
