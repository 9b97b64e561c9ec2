import { HttpError } from '../lib/errors.ts'
import { reasonOf } from '../storage/blobs/open.ts'
import { StorageFault } from '../storage/database/faults.ts'

/** Returns why a command failed, in one line: a fault of a disk or a database needs no stack. */
export function failureLine(error: unknown): string {
  if (error instanceof StorageFault) return error.advice
  // The message of an HttpError is worded for clients; its cause says more.
  const text =
    error instanceof HttpError ? reasonOf(error) : error instanceof Error ? error.message : String(error)
  return text.split('\n', 1)[0] || 'an unknown error'
}

/** Reports a failed command on standard error and sets exit code 1. */
export function fail(message: string): void {
  console.error(`catalejo: ${message}`)
  process.exitCode = 1
}
