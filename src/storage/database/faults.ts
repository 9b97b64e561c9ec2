/**
 * What is wrong with the storage of a database. `damaged`: data read differs from what was written. `full`: no space is
 * left. `read-only`: writes are not allowed. `failing`: the disk reports errors or does not answer.
 */
export type StorageFaultKind = 'damaged' | 'full' | 'read-only' | 'failing'

const EXPLANATIONS: Readonly<Record<StorageFaultKind, (place: string) => string>> = {
  damaged: (place) => `${place} is damaged`,
  full: (place) => `the disk of ${place} is full`,
  'read-only': (place) => `${place} cannot be written`,
  failing: (place) => `the disk of ${place} fails`,
}

/** A failure of the storage of a database. `message` is the engine's own. */
export class StorageFault extends Error {
  readonly kind: StorageFaultKind
  /** What is wrong and where, in one line for a person. */
  readonly explanation: string
  /** The same with advice. */
  readonly advice: string

  /** @param place names the database: a path, or the engine */
  constructor(kind: StorageFaultKind, place: string, message: string) {
    super(message)
    this.kind = kind
    this.explanation = `${EXPLANATIONS[kind](place)} (${message})`
    const isFound = kind === 'damaged' || kind === 'failing'
    this.advice = isFound ? `${this.explanation}: catalejo verify finds what is damaged` : this.explanation
  }
}

/** A disk did not answer in time. The statement may still succeed. */
export class UnansweredFault extends StorageFault {
  constructor(place: string, timeoutMs: number) {
    super('failing', place, `the database did not answer within ${timeoutMs} ms`)
  }
}

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
export function toStorageKind(error: unknown): StorageFaultKind | undefined {
  if (!(error instanceof Error)) return undefined
  // The low byte of an extended code is the primary one.
  if ('errcode' in error) return KINDS[Number(error.errcode) & 0xff]
  return 'code' in error ? CODES[String(error.code)] : undefined
}

/** Runs an operation. @throws StorageFault instead of SQLite's own error if the storage is at fault */
export function onStorage<T>(path: string, operation: () => T): T {
  try {
    return operation()
  } catch (error) {
    const kind = toStorageKind(error)
    throw kind === undefined || !(error instanceof Error)
      ? error
      : new StorageFault(kind, path, error.message)
  }
}
