import { readFile, stat } from 'node:fs/promises'
import { allowAddresses, download, DOWNLOAD_LIMITS, ListFault } from '../domainwatch/index.ts'
import {
  filesIn,
  listedImages,
  objectsIn,
  type FetchImage,
  type ImportItem,
} from '../imagestore/transfer/sources.ts'
import { VERSION } from '../lib/version.ts'
import type { Context } from '../server/context.ts'
import { parseS3Location, S3_LOCATION_TAKES } from '../storage/blobs/s3/location.ts'

/** Nothing is known of an address that is fetched for the first time. */
const NO_VERSION = { etag: null, lastModified: null }

/** Opens a folder, a bucket or a list, which can be read several times. Returns what is wrong with the place if it is none. */
export async function openSource(
  place: string,
  context: Context,
): Promise<(() => AsyncIterable<ImportItem>) | string> {
  if (place.startsWith('s3:')) {
    const location = parseS3Location(place)
    if (location === undefined) return `a bucket is ${S3_LOCATION_TAKES}`
    // Loaded on demand: the SDK is large.
    const { openObjects } = await import('../storage/blobs/s3/objects.ts')
    const objects = openObjects(location)
    context.onClose(async () => objects.close())
    return () => objectsIn(objects)
  }
  const found = await stat(place).catch(() => undefined)
  if (found === undefined) return `there is no ${place}`
  if (found.isDirectory()) return () => filesIn(place)
  const fetchImage = imageFetcher(context)
  return () => listedImages(place, fetchImage)
}

/** Fetches addresses with the limits of feeds on time, redirects and private networks. */
function imageFetcher({ config, staging }: Context): FetchImage {
  const isAllowedAddress = allowAddresses(config.webhookNetworks)
  return async (url, maxBytes, signal) => {
    const limits = { ...DOWNLOAD_LIMITS, maxBytes }
    const options = { staging, isAllowedAddress, userAgent: `Catalejo/${VERSION}`, limits }
    try {
      const found = await download(url, NO_VERSION, options, signal)
      if (found.kind === 'unchanged') return 'not modified'
      await using file = found.file
      return await readFile(file.path)
    } catch (error) {
      if (error instanceof ListFault) return error.message
      throw error
    }
  }
}
