import { reasonOf } from '../storage/blobs/open.ts'
import { HttpError } from '../lib/errors.ts'
import { StorageFault } from '../storage/database/faults.ts'

/** Why a command failed, in one line: what is wrong with a disk or a database is no matter for a stack. */
export function failureLine(error: unknown): string {
  if (error instanceof StorageFault) return error.advice
  // A refusal is worded for clients; what is behind it says more.
  const text =
    error instanceof HttpError ? reasonOf(error) : error instanceof Error ? error.message : String(error)
  return text.split('\n', 1)[0] || 'an unknown error'
}

/** Reports a failed command on standard error. It exits with 1. */
export function fail(message: string): void {
  console.error(`catalejo: ${message}`)
  process.exitCode = 1
}

/** Tells that a command migrated an older database. */
export function tellMigrated(from: number, to: number): void {
  console.error(`catalejo: the schema of the database was brought up to date, from ${from} to ${to}`)
}
