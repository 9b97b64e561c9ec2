import { createReadStream } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type GetObjectCommandOutput,
  type HeadObjectCommandOutput,
} from '@aws-sdk/client-s3'
import { Slots } from '../../core/queue.ts'
import type { BlobStore } from '../blob-store.ts'
import { BlobDamaged } from '../damaged.ts'
import type { StagedFile, Staging } from '../staging.ts'
import type { Attempt } from './attempts.ts'
import { firstBytes, guardBody } from './body.ts'
import { createS3Client, signDigest } from './client.ts'
import { digestBytes, digestFile, saveTo } from './digest.ts'
import { isNamed, translate } from './faults.ts'
import { createLending } from './lending.ts'
import { listKeys } from './listing.ts'
import type { S3Location } from './location.ts'
import { createOperations, type ObserveAttempts, type ObserveFaults } from './operations.ts'
import { S3_DEFAULTS, type S3Options } from './options.ts'
import { ownerObject, removeOwnerObject } from './owner.ts'
import { pingBucket } from './ping.ts'
import { presign } from './presign.ts'
import { moveAside } from './quarantine.ts'

/** Smaller uploads go from memory, larger ones from their file. */
const BUFFERED_BYTES = 1024 * 1024

/** The digest that is kept with each blob, and compared whenever the whole of it is read. */
const DIGEST = 'sha256'

/** Blobs as objects of an S3 store. What it returns is closed by `close`. */
export function openS3Blobs(
  location: S3Location,
  staging: Staging,
  onFault: ObserveFaults,
  options: S3Options = S3_DEFAULTS,
  onAttempt: ObserveAttempts = () => {},
): { readonly store: BlobStore; readonly close: () => void } {
  const { patience, line, lineMs } = options
  const operations = createOperations(location, options, onFault, onAttempt)
  const { client, addressOf, told, operate } = operations
  // Only signs addresses: for clients that reach the store in another way than we do.
  const publicClient =
    location.publicEndpoint === undefined
      ? client
      : createS3Client({ ...location, endpoint: location.publicEndpoint }, 1)
  const streams = new Slots(options.streams, line, lineMs)
  const limits = { silenceMs: patience.silenceMs, stallMs: options.stallMs }

  async function get(
    key: string,
    { signal }: Attempt,
    range?: string,
  ): Promise<(GetObjectCommandOutput & { Body: Readable }) | undefined> {
    const command = new GetObjectCommand({
      ...addressOf(key),
      ...(range === undefined ? {} : { Range: range }),
    })
    try {
      const output = await client.send(command, { abortSignal: signal })
      const { Body } = output
      if (!(Body instanceof Readable)) throw new Error('an answer without a body')
      // Until somebody reads it, a body that breaks is nobody's fault.
      Body.on('error', () => {})
      return { ...output, Body }
    } catch (error) {
      if (isNamed(error, 'NoSuchKey')) return undefined
      if (isNamed(error, 'InvalidRange')) throw new BlobDamaged(`${key} has no ${range}`)
      throw error
    }
  }

  /** One whole blob, chunk by chunk into `take`. False when there is none. */
  async function fetchWhole(
    key: string,
    attempt: Attempt,
    size: number | undefined,
    take: (body: Readable) => Promise<string>,
  ): Promise<boolean> {
    const found = await get(key, attempt)
    if (found === undefined) return false
    const length = found.ContentLength
    if (length === undefined || (size !== undefined && length !== size)) {
      found.Body.destroy()
      throw new BlobDamaged(`${key} is ${length} bytes long, not ${size}`)
    }
    const digest = await take(guardBody(found.Body, length, { ...limits, progress: attempt.progress }))
    const expected = found.Metadata?.[DIGEST]
    if (expected !== undefined && digest !== expected) throw new BlobDamaged(`${key} has other content`)
    return true
  }

  const lend = createLending(new Slots(options.copies, line, lineMs), (key) =>
    // How large it is shows with the answer only; silence is what ends a download that stands still.
    operate('lend', 64 * options.leastRate, async (attempt) => {
      const path = staging.freshPath()
      try {
        const found = await fetchWhole(key, attempt, undefined, (body) => saveTo(path, body, attempt.signal))
        return found ? path : undefined
      } catch (error) {
        await rm(path, { force: true })
        throw error
      }
    }),
  )

  async function put(
    key: string,
    staged: StagedFile,
    digest: string,
    content: Buffer | undefined,
    attempt: Attempt,
  ) {
    const body =
      content ??
      guardBody(createReadStream(staged.path), staged.size, { ...limits, progress: attempt.progress })
    const command = new PutObjectCommand({
      ...addressOf(key),
      Body: body,
      ContentLength: staged.size,
      // Stores that know it keep it and check it for themselves as long as the object lives.
      ChecksumSHA256: Buffer.from(digest, 'hex').toString('base64'),
      Metadata: { [DIGEST]: digest },
      IfNoneMatch: '*',
    })
    try {
      await client.send(signDigest(command, digest), { abortSignal: attempt.signal })
    } catch (error) {
      if (!isNamed(error, 'PreconditionFailed')) throw error
      // An attempt before this one may have arrived without its answer coming back.
      if (attempt.number === 1 || !(await isThere(key, staged.size, digest, attempt))) {
        throw new Error(`the key ${key} is taken`)
      }
    } finally {
      if (body instanceof Readable) body.destroy()
    }
  }

  async function isThere(key: string, size: number, digest: string, attempt: Attempt): Promise<boolean> {
    const found = await head(key, attempt)
    return found?.ContentLength === size && found.Metadata?.[DIGEST] === digest
  }

  async function head(key: string, { signal }: Attempt): Promise<HeadObjectCommandOutput | undefined> {
    try {
      return await client.send(new HeadObjectCommand(addressOf(key)), { abortSignal: signal })
    } catch (error) {
      if (isNamed(error, 'NotFound', 'NoSuchKey')) return undefined
      throw error
    }
  }

  /** Opens a body that is read at somebody else's pace, and holds a place among the streams for as long. */
  async function openBody(
    key: string,
    range: string | undefined,
    lengthOf: (found: GetObjectCommandOutput) => number,
  ): Promise<{ readonly size: number; readonly body: Readable } | undefined> {
    const release = await streams.take()
    try {
      return await operations.attempts('stream', patience, async (attempt) => {
        const found = await get(key, attempt, range)
        if (found === undefined) {
          release()
          return undefined
        }
        const size = lengthOf(found)
        if (found.ContentLength !== size) {
          found.Body.destroy()
          throw new BlobDamaged(`${key} has no ${range ?? 'known length'}`)
        }
        const body = guardBody(found.Body, size, limits)
        // A fault that shows before the first byte is still an answer of its own, and may be cured by another attempt.
        await firstBytes(body)
        body.on('error', (error) => onFault('stream', translate('stream', error)))
        found.Body.once('close', release)
        if (found.Body.closed) release()
        return { size, body }
      })
    } catch (error) {
      release()
      throw error
    }
  }

  const store: BlobStore = {
    put: async (key, staged) => {
      const content = staged.size <= BUFFERED_BYTES ? await readFile(staged.path) : undefined
      const digest = await (content === undefined ? digestFile(staged.path) : digestBytes(content))
      await operate('put', staged.size, (attempt) => put(key, staged, digest, content, attempt))
    },

    read: (key, size) =>
      operate('read', size, async (attempt) => {
        let bytes: Buffer<ArrayBuffer> | undefined
        await fetchWhole(key, attempt, size, async (body) => {
          bytes = Buffer.concat(await body.toArray())
          return digestBytes(bytes)
        })
        return bytes
      }),

    stream: (key, start, end) =>
      told('stream', async () => {
        // No `Range` can ask for nothing.
        if (end < start) {
          const found = await operations.attempts('stream', patience, (attempt) => head(key, attempt))
          return found && Readable.from([])
        }
        const range = `bytes=${start}-${end}`
        const opened = await openBody(key, range, ({ ContentRange }) =>
          ContentRange?.startsWith(`bytes ${start}-${end}/`) === true ? end - start + 1 : NaN,
        )
        return opened?.body
      }),

    whole: (key) =>
      told('stream', () => openBody(key, undefined, ({ ContentLength = NaN }) => ContentLength)),

    lend,

    remove: (key) =>
      operate('remove', 0, async ({ signal }) => {
        try {
          await client.send(new DeleteObjectCommand(addressOf(key)), { abortSignal: signal })
        } catch (error) {
          if (!isNamed(error, 'NoSuchKey')) throw error
        }
      }),

    quarantine: (key) => moveAside(operations, key),
    owner: (claim) => ownerObject(operations, claim),
    disown: () => removeOwnerObject(operations),
    keys: () => listKeys(operations, options.page),
    ping: () => pingBucket(operations, options.pingMs),
    locate: (key, mime) => told('locate', () => presign(publicClient, addressOf(key), mime)),
  }

  return {
    store,
    close: () => {
      client.destroy()
      publicClient.destroy()
    },
  }
}
