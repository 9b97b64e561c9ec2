import { basename, dirname } from 'node:path'
import { openFileBlobs } from '../../src/storage/blobs/file-store.ts'
import { S3_DEFAULTS } from '../../src/storage/blobs/s3/requests.ts'
import { openS3Blobs } from '../../src/storage/blobs/s3/store.ts'
import { noS3, testLocation } from '../support/s3.ts'
import { blobStoreContract } from './blob-store.ts'

blobStoreContract('files', openFileBlobs)

blobStoreContract(
  'S3',
  async (folder, staging) => {
    const location = testLocation(basename(dirname(folder)))
    // Small pages, so that a listing takes several.
    return openS3Blobs(location, staging, () => {}, { ...S3_DEFAULTS, pageSize: 7 }).store
  },
  noS3,
)
