import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { Semaphore } from '../../../lib/semaphore.ts'
import type { DerivativeStore } from '../derivative-store.ts'
import { persist, type Patience } from './attempts.ts'
import { guardBody } from './body.ts'
import { createS3Client, signDigest } from './client.ts'
import { digestBytes } from './digest.ts'
import { isNamed, translate } from './faults.ts'
import type { S3Location } from './location.ts'
import { S3_DEFAULTS } from './options.ts'

/** To make a derivative takes some tens to hundreds of milliseconds: whoever has it must be quicker than that. */
const READ: Patience = { attempts: 1, silenceMs: 400, totalMs: 1_500 }
const WRITE: Patience = { attempts: 1, silenceMs: 4_000, totalMs: 5_000 }
const { patience: REMOVE, stallMs } = S3_DEFAULTS
/** Requests at a time. What does not find a place at once is not worth waiting for. */
const REQUESTS = 32
const LINE = 256
const LINE_MS = 200
const PAGE = 1_000

/**
 * Derivatives in the blobs' own bucket, under `derivatives/` of their prefix, where the listing of blobs (which ends at a
 * slash) does not see them. Connections are apart from the blobs', so that trouble with one leaves the other alone.
 */
export function openS3Derivatives(location: S3Location): DerivativeStore {
  const { bucket } = location
  const prefix = `${location.prefix}derivatives/`
  const client = createS3Client(location, REQUESTS)
  const slots = new Semaphore(REQUESTS, LINE, LINE_MS)
  const addressOf = (blobKey: string, name: string) => ({
    Bucket: bucket,
    Key: `${prefix}${blobKey}/${name}`,
  })

  async function operate<T>(
    operation: string,
    patience: Patience,
    work: (signal: AbortSignal, progress: () => void) => Promise<T>,
  ): Promise<T> {
    try {
      return await slots.run(() => persist(patience, ({ signal, progress }) => work(signal, progress)))
    } catch (error) {
      throw translate(`derivative ${operation}`, error)
    }
  }

  async function remove(blobKey: string, name: string): Promise<void> {
    await operate('remove', REMOVE, async (signal) => {
      try {
        await client.send(new DeleteObjectCommand(addressOf(blobKey, name)), { abortSignal: signal })
      } catch (error) {
        if (!isNamed(error, 'NoSuchKey')) throw error
      }
    })
  }

  async function* list(start: string) {
    let token: string | undefined
    do {
      const page = await operate('list', REMOVE, (signal) =>
        client.send(
          new ListObjectsV2Command({
            Bucket: bucket,
            Prefix: prefix + start,
            MaxKeys: PAGE,
            ContinuationToken: token,
          }),
          { abortSignal: signal },
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
      operate('read', READ, async (signal, progress) => {
        try {
          const { Body, ContentLength } = await client.send(new GetObjectCommand(addressOf(blobKey, name)), {
            abortSignal: signal,
          })
          if (!(Body instanceof Readable) || ContentLength === undefined) throw new Error('an odd answer')
          const limits = { silenceMs: READ.silenceMs, stallMs, progress }
          return Buffer.concat(await guardBody(Body, ContentLength, limits).toArray())
        } catch (error) {
          if (isNamed(error, 'NoSuchKey')) return undefined
          throw error
        }
      }),

    put: (blobKey, name, bytes) =>
      operate('write', WRITE, async (signal) => {
        const digest = await digestBytes(new Uint8Array(bytes))
        const command = new PutObjectCommand({ ...addressOf(blobKey, name), Body: bytes })
        await client.send(signDigest(command, digest), { abortSignal: signal })
      }),

    async removeAll(blobKey) {
      for await (const { name } of list(`${blobKey}/`)) await remove(blobKey, name)
    },

    remove,
    list,
    close: () => client.destroy(),
  }
}
