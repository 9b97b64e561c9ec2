import { PutObjectCommand } from '@aws-sdk/client-s3'
import type { DerivativeStore } from '../blob-store.ts'
import { withDeadline } from './client.ts'
import type { S3Location } from './location.ts'
import { S3_DEFAULTS, type S3Options, S3Requests } from './requests.ts'
import { sha256Of } from './streams.ts'

/** Concurrent requests. A short queue: waiting longer is not worth it. */
const QUEUE = {
  requests: 32,
  requestsPerClient: 32,
  maxWaiting: 256,
  maxWaitingPerClient: 256,
  waitMs: 200,
}
/** Making a derivative takes tens to hundreds of milliseconds: reading it must be faster. */
const READ = { maxAttempts: 1, silenceMs: 400, totalMs: 1_500 }
const WRITE_MS = 5_000

/**
 * Derivatives in the bucket of the blobs, under `derivatives/` of their prefix, where the listing of blobs (which ends at a
 * slash) does not see them. Separate connections keep trouble with one from affecting the other.
 */
export function openS3Derivatives(location: S3Location): DerivativeStore {
  const open = (options: Partial<S3Options>) =>
    new S3Requests(
      { ...location, prefix: `${location.prefix}derivatives/` },
      { ...S3_DEFAULTS, ...QUEUE, ...options },
      () => {},
      () => {},
    )
  const reads = open(READ)
  const others = open({})

  const remove = (blobKey: string, name: string) =>
    others.operate('derivative remove', 0, (operation) => others.remove(`${blobKey}/${name}`, operation))

  async function* list(start: string) {
    for await (const object of others.list('derivative list', start)) {
      const [blobKey, name, ...rest] = object.name.split('/')
      if (!blobKey || !name || rest.length > 0) continue
      yield { blobKey, name, writtenAt: object.writtenAt }
    }
  }

  return {
    get: (blobKey, name) =>
      reads.operate('derivative read', 0, (operation) =>
        reads.download(`${blobKey}/${name}`, operation, async ({ Body }) =>
          Buffer.concat(await Body.toArray()),
        ),
      ),

    put: (blobKey, name, bytes) =>
      others.operate('derivative write', 0, ({ name: operation }) =>
        withDeadline(WRITE_MS, async (signal) => {
          const sha256 = await sha256Of(new Uint8Array(bytes))
          const command = new PutObjectCommand({ ...others.objectOf(`${blobKey}/${name}`), Body: bytes })
          await others.send({ name: operation, signal }, command, { sha256 })
        }),
      ),

    async removeAll(blobKey) {
      for await (const { name } of list(`${blobKey}/`)) await remove(blobKey, name)
    },

    remove,
    list,
    close: () => {
      reads.close()
      others.close()
    },
  }
}
