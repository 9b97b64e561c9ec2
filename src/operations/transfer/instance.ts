import { join, resolve } from 'node:path'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { makeFolder } from '../../storage/blobs/durable.ts'
import { openBlobs, reasonOf } from '../../storage/blobs/open.ts'
import { Staging } from '../../storage/blobs/staging.ts'
import type { Config } from '../../server/config/config.ts'
import { openDatabase } from '../../server/context.ts'
import type { Database } from '../../storage/database/database.ts'
import type { OpenOptions } from '../../storage/database/open-options.ts'

/** Where an instance keeps what it has. */
export type Place = Pick<Config, 'data' | 'databaseUrl' | 'blobsUrl'>

/** An instance's database and images, without the service on top of them. */
export interface Instance {
  readonly database: Database
  readonly blobs: BlobStore
  readonly staging: Staging
  close(): Promise<void>
}

/**
 * @param options `schema`: create or migrate the database up to this version only. `existing`: only one that is there, and of
 *   this version
 */
export async function openInstance(
  place: Place,
  options: Pick<OpenOptions, 'schema' | 'existing'> = {},
): Promise<Instance> {
  const data = resolve(place.data)
  if (options.existing !== true) await makeFolder(data)
  const database = await openDatabase(place, undefined, undefined, options)
  try {
    const staging = await Staging.open(join(data, 'staging'), { flush: place.blobsUrl === undefined })
    const blobs = await openBlobs(place.blobsUrl, join(data, 'blobs'), staging, reportFault)
    return {
      database,
      blobs: blobs.store,
      staging,
      async close() {
        blobs.close()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** What is tried again later is told at once: whoever waits wants to know what for. */
export function reportFault(operation: string, error: Error): void {
  console.error(`the image store failed (${operation}): ${reasonOf(error)}`)
}
