import { openFileBlobs } from '../../src/blobs/files.ts'
import { blobStoreContract } from './blob-store.ts'

blobStoreContract('files', openFileBlobs)
