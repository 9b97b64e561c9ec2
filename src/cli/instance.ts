import { join, resolve } from 'node:path'
import { reportFault, type OpenInstance } from '../operations/transfer/instance.ts'
import { openDatabase } from '../server/context.ts'
import { makeFolder } from '../storage/blobs/durable.ts'
import { openBlobs } from '../storage/blobs/open.ts'
import { Staging } from '../storage/blobs/staging.ts'

/** Opens the database and images of an instance, without the service. */
export const openInstance: OpenInstance = async (location, options = {}) => {
  const data = resolve(location.data)
  if (options.existing !== true) await makeFolder(data)
  const database = await openDatabase(location, undefined, undefined, options)
  try {
    const staging = await Staging.open(join(data, 'staging'), { flush: location.blobsUrl === undefined })
    const blobs = await openBlobs(location.blobsUrl, join(data, 'blobs'), staging, reportFault)
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
