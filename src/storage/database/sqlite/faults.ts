import { StorageFault, type StorageFaultKind } from '../faults.ts'

/** Primary result codes (https://sqlite.org/rescode.html) that concern the storage and not the statement. */
const KINDS: Readonly<Record<number, StorageFaultKind>> = {
  8: 'read-only', // SQLITE_READONLY
  10: 'failing', // SQLITE_IOERR
  11: 'damaged', // SQLITE_CORRUPT
  13: 'full', // SQLITE_FULL
  14: 'failing', // SQLITE_CANTOPEN
  26: 'damaged', // SQLITE_NOTADB
}

/** System errors when a file cannot be created. */
const CODES: Readonly<Record<string, StorageFaultKind>> = {
  EACCES: 'read-only',
  EDQUOT: 'full',
  EIO: 'failing',
  ENOSPC: 'full',
  EPERM: 'read-only',
  EROFS: 'read-only',
}

/** Returns the kind of a storage fault; undefined for any other error. */
export function storageKindOf(error: unknown): StorageFaultKind | undefined {
  if (!(error instanceof Error)) return undefined
  // The low byte of an extended code is the primary one.
  if ('errcode' in error) return KINDS[Number(error.errcode) & 0xff]
  return 'code' in error ? CODES[String(error.code)] : undefined
}

/**
 * Runs an operation on this thread.
 * @throws StorageFault instead of SQLite's own error if the storage is at fault
 */
export function onStorage<T>(path: string, operation: () => T): T {
  try {
    return operation()
  } catch (error) {
    const kind = storageKindOf(error)
    throw kind === undefined || !(error instanceof Error)
      ? error
      : new StorageFault(kind, path, error.message)
  }
}
