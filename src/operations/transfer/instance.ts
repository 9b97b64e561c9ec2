import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { reasonOf } from '../../storage/blobs/open.ts'
import type { S3Location } from '../../storage/blobs/s3/location.ts'
import type { Staging } from '../../storage/blobs/staging.ts'
import type { Database, Reader, OpenOptions } from '../../storage/database/database.ts'
import { copyState } from '../../storage/database/transfer-marks.ts'
import { firstAccount } from '../queries.ts'

/** Where an instance keeps its data. */
export interface InstanceLocation {
  readonly data: string
  /** Empty for SQLite in `data`. */
  readonly databaseUrl: string
  /** Undefined for files in `data`. */
  readonly blobsUrl: S3Location | undefined
}

/** An instance's database and images, without the service. */
export interface Instance extends AsyncDisposable {
  readonly database: Database
  readonly blobs: BlobStore
  readonly staging: Staging
}

/**
 * Opens an instance.
 * @param options `schema`: create or migrate the database up to this version only. `existing`: reject a database that does not
 *   exist or has another version. `load`: it will be filled
 */
export type OpenInstance = (
  location: InstanceLocation,
  options?: Pick<OpenOptions, 'schema' | 'existing' | 'load'>,
) => Promise<Instance>

/** Why a command copies nothing, in words for the operator. */
export interface Refusal {
  readonly kind: 'refused'
  readonly reason: string
}

export const refuse = (reason: string): Refusal => ({ kind: 'refused', reason })

/** Logs a fault of the image store that will be retried, so that an operator sees why a command is waiting. */
export function reportFault(operation: string, error: Error): void {
  console.error(`the image store failed (${operation}): ${reasonOf(error)}`)
}

/** Returns what identifies an instance for its lifetime: its first account. Empty if it has none. */
export async function ownerOf(reader: Reader): Promise<string> {
  const account = await reader.first(firstAccount())
  return account === undefined ? '' : `${account.name} ${account.created_at}`
}

/** Whether a database may be replaced by a copy of an instance: it is empty, or an earlier copy that was never served. */
export async function isReplaceable(database: Database, owner: string): Promise<boolean> {
  const present = await ownerOf(database)
  return present === '' || (present === owner && (await copyState(database)) !== undefined)
}
