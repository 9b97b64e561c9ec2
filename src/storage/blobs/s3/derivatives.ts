import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import type { DerivativeStore } from '../blob-store.ts'
import { S3Connection, withDeadline } from './client.ts'
import { isNamed, translate } from './errors.ts'
import type { S3Location } from './location.ts'
import { fairSlots, S3_DEFAULTS, SERVICE } from './options.ts'
import { sha256Of } from './streams.ts'

/** Making a derivative takes tens to hundreds of milliseconds: reading it must be faster. */
const READ = { silenceMs: 400, totalMs: 1_500 }
const WRITE_MS = 5_000
/** Concurrent requests. A short queue: waiting longer is not worth it. */
const REQUESTS = 32
const QUEUE = { maxWaiting: 256, maxWaitingPerClient: 256, waitMs: 200 }

/**
 * Derivatives in the bucket of the blobs, under `derivatives/` of their prefix, where the listing of blobs (which ends at a
 * slash) does not see them. Separate connections keep trouble with one from affecting the other.
 */
export function openS3Derivatives(location: S3Location): DerivativeStore {
  const { bucket } = location
  const { maxAttempts, silenceMs, totalMs, pageSize } = S3_DEFAULTS
  const prefix = `${location.prefix}derivatives/`
  const fast = new S3Connection(location, { maxSockets: REQUESTS, maxAttempts: 1, silenceMs: READ.silenceMs })
  const patient = new S3Connection(location, { maxSockets: REQUESTS, maxAttempts, silenceMs })
  const slots = fairSlots(REQUESTS, REQUESTS, QUEUE)
  const objectOf = (blobKey: string, name: string) => ({ Bucket: bucket, Key: `${prefix}${blobKey}/${name}` })

  async function operate<T>(
    operation: string,
    ms: number,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    try {
      return await slots.run(SERVICE, () => withDeadline(ms, work))
    } catch (error) {
      throw translate(`derivative ${operation}`, error)
    }
  }

  async function remove(blobKey: string, name: string): Promise<void> {
    await operate('remove', totalMs, async (signal) => {
      try {
        await patient.send(new DeleteObjectCommand(objectOf(blobKey, name)), { signal })
      } catch (error) {
        if (!isNamed(error, 'NoSuchKey')) throw error
      }
    })
  }

  async function* list(start: string) {
    let token: string | undefined
    do {
      const page = await operate('list', totalMs, (signal) =>
        patient.send(
          new ListObjectsV2Command({
            Bucket: bucket,
            Prefix: prefix + start,
            MaxKeys: pageSize,
            ContinuationToken: token,
          }),
          { signal },
        ),
      )
      for (const { Key, LastModified } of page.Contents ?? []) {
        const [blobKey, name, ...rest] = (Key ?? '').slice(prefix.length).split('/')
        if (!blobKey || !name || rest.length > 0 || LastModified === undefined) continue
        yield { blobKey, name, writtenAt: LastModified.getTime() }
      }
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined
    } while (token !== undefined)
  }

  return {
    get: (blobKey, name) =>
      operate('read', READ.totalMs, async (signal) => {
        try {
          const { Body } = await fast.send(new GetObjectCommand(objectOf(blobKey, name)), { signal })
          if (!(Body instanceof Readable)) throw new Error('an answer without a body')
          return Buffer.concat(await Body.toArray())
        } catch (error) {
          if (isNamed(error, 'NoSuchKey')) return undefined
          throw error
        }
      }),

    put: (blobKey, name, bytes) =>
      operate('write', WRITE_MS, async (signal) => {
        const command = new PutObjectCommand({ ...objectOf(blobKey, name), Body: bytes })
        await patient.send(command, { signal, sha256: await sha256Of(new Uint8Array(bytes)) })
      }),

    async removeAll(blobKey) {
      for await (const { name } of list(`${blobKey}/`)) await remove(blobKey, name)
    },

    remove,
    list,
    close: () => {
      fast.close()
      patient.close()
    },
  }
}
