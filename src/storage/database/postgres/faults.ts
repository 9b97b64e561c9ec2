import { OverloadError } from '../../../lib/errors.ts'
import type { StorageFaultKind } from '../faults.ts'

/**
 * What a failure means for the work that it interrupts. `conflict`: another transaction interfered, retrying may
 * succeed. `violation`: a row breaks a constraint, perhaps because of another transaction. `lost`: the server or the connection is gone. `slow`: a timeout ended it. `fault`: anything else.
 */
export type FaultKind = 'conflict' | 'violation' | 'lost' | 'slow' | 'fault'

/**
 * A failure of the database that is safe to log: the driver's own errors contain connection settings and values of
 * rows.
 */
export class DatabaseFault extends Error {
  readonly kind: FaultKind
  /** SQLSTATE, or the error code of the system. */
  readonly code: string | undefined
  /** Whether it may be temporary, unlike a wrong password, so that startup waits for it. */
  readonly passing: boolean

  /** @param kind where it is known from the circumstances */
  constructor(error: unknown, kind?: FaultKind) {
    const message = toMessage(error)
    const code = getCode(error)
    super(`PostgreSQL: ${message}${code === undefined ? '' : ` (${code})`}`)
    this.code = code
    this.kind = kind ?? toKind(code, message)
    this.passing = toKind(code, message) !== 'fault'
  }

  /** Whether the connection must be discarded: it is gone, or still busy with an abandoned statement. */
  get endsConnection(): boolean {
    return this.kind === 'lost' || (this.kind === 'slow' && this.code === undefined)
  }

  /** Returns the error for the caller: an OverloadError if retrying later helps. */
  translated(): Error {
    return this.kind === 'fault' || this.kind === 'violation' ? this : new OverloadError()
  }
}

/** The fault of whatever is asked of a closed database. */
export const closedFault = (): DatabaseFault =>
  new DatabaseFault(new Error('the database was closed'), 'fault')

const CONFLICTS = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
])

const VIOLATIONS = new Set([
  '23505', // unique violation
  '23503', // foreign key violation
])

/** Codes that concern the server's storage. */
const STORAGE: Readonly<Record<string, StorageFaultKind>> = {
  '25006': 'read-only', // a standby
  '53100': 'full', // disk full
  '58030': 'failing', // I/O error
  XX001: 'damaged', // data corrupted
  XX002: 'damaged', // index corrupted
}

/** Returns the kind of a storage fault; undefined for any other failure. */
export const toStorageKind = ({ code }: DatabaseFault): StorageFaultKind | undefined => STORAGE[code ?? '']

const LOST = new Set([
  '57P01', // the server shuts down
  '57P02', // it crashed
  '57P03', // it starts up
  '57P05', // idle session ended
  '53300', // too many connections
  '25P03', // idle in transaction for too long
  '25006', // a standby: the primary has moved
])

const SLOW = new Set([
  '57014', // statement time-out
  '55P03', // lock time-out
  '25P04', // transaction time-out
])

function toKind(code: string | undefined, message: string): FaultKind {
  if (code === undefined) {
    // The driver's own errors have no code.
    if (/^(Query read timeout|timeout exceeded)/.test(message)) return 'slow'
    if (/does not support SSL/.test(message)) return 'fault'
    return /connection|not queryable|^timeout expired/i.test(message) ? 'lost' : 'fault'
  }
  if (CONFLICTS.has(code)) return 'conflict'
  if (VIOLATIONS.has(code)) return 'violation'
  if (SLOW.has(code)) return 'slow'
  // Class 08: connection exceptions. The system's codes (ECONNREFUSED, EPIPE, …) begin with E, Node's own with ERR_.
  if (LOST.has(code) || code.startsWith('08') || /^E(?!RR_)[A-Z_]{4,}$/.test(code)) return 'lost'
  return 'fault'
}

function toMessage(error: unknown): string {
  // A host name with several addresses, none of which answers.
  if (error instanceof AggregateError && error.errors.length > 0) return toMessage(error.errors[0])
  return error instanceof Error ? error.message || error.name : String(error)
}

function getCode(error: unknown): string | undefined {
  if (error instanceof AggregateError && error.errors.length > 0) return getCode(error.errors[0])
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
