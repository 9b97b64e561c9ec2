import { createReadStream } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type GetObjectCommandOutput,
  type HeadObjectCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { Slots } from '../../core/queue.ts'
import type { BlobStore } from '../blob-store.ts'
import type { StagedFile, Staging } from '../staging.ts'
import { persist, type Attempt, type Patience } from './attempts.ts'
import { firstBytes, guardBody } from './body.ts'
import { createS3Client, signDigest } from './client.ts'
import { digestBytes, digestFile, saveTo } from './digest.ts'
import { BlobDamaged, isNamed, translate } from './faults.ts'
import { createLending } from './lending.ts'
import type { S3Location } from './location.ts'
import { S3_DEFAULTS, type S3Options } from './options.ts'
import { presign } from './presign.ts'

/** Told of every operation that failed for good, before its caller is. */
export type ObserveFaults = (operation: string, error: Error) => void

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
): { readonly store: BlobStore; readonly close: () => void } {
  const { bucket, prefix } = location
  const { patience, line, lineMs } = options
  const client: S3Client = createS3Client(location, options.requests + options.streams)
  const requests = new Slots(options.requests, line, lineMs)
  const streams = new Slots(options.streams, line, lineMs)
  const limits = { silenceMs: patience.silenceMs, stallMs: options.stallMs }
  const addressOf = (key: string) => ({ Bucket: bucket, Key: prefix + key })

  /** Turns whatever goes wrong into what a caller may see. */
  async function told<T>(operation: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const fault = translate(operation, error)
      onFault(operation, fault)
      throw fault
    }
  }

  const operate = <T>(operation: string, bytes: number, work: (attempt: Attempt) => Promise<T>): Promise<T> =>
    told(operation, () => requests.run(() => persist(patienceFor(bytes), work)))

  const patienceFor = (bytes: number): Patience => ({
    ...patience,
    totalMs: patience.totalMs + (bytes / options.leastRate) * 1_000,
  })

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

  async function openStream(
    key: string,
    start: number,
    end: number,
    attempt: Attempt,
    release: () => void,
  ): Promise<Readable | undefined> {
    const found = await get(key, attempt, `bytes=${start}-${end}`)
    if (found === undefined) return undefined
    const length = end - start + 1
    if (found.ContentLength !== length || found.ContentRange?.startsWith(`bytes ${start}-${end}/`) !== true) {
      found.Body.destroy()
      throw new BlobDamaged(`${key} has no bytes ${start} to ${end}`)
    }
    const body = guardBody(found.Body, length, limits)
    // A fault that shows before the first byte is still an answer of its own, and may be cured by another attempt.
    await firstBytes(body)
    body.on('error', (error) => onFault('stream', translate('stream', error)))
    found.Body.once('close', release)
    if (found.Body.closed) release()
    return body
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
        if (end < start)
          return (await persist(patience, (attempt) => head(key, attempt))) && Readable.from([])
        const release = await streams.take()
        try {
          const body = await persist(patience, (attempt) => openStream(key, start, end, attempt, release))
          if (body === undefined) release()
          return body
        } catch (error) {
          release()
          throw error
        }
      }),

    lend,

    remove: (key) =>
      operate('remove', 0, async ({ signal }) => {
        try {
          await client.send(new DeleteObjectCommand(addressOf(key)), { abortSignal: signal })
        } catch (error) {
          if (!isNamed(error, 'NoSuchKey')) throw error
        }
      }),

    async *keys() {
      let token: string | undefined
      do {
        const page = await operate('keys', 0, ({ signal }) =>
          client.send(
            new ListObjectsV2Command({
              Bucket: bucket,
              Prefix: prefix,
              Delimiter: '/',
              MaxKeys: options.page,
              ContinuationToken: token,
            }),
            { abortSignal: signal },
          ),
        )
        for (const { Key, LastModified } of page.Contents ?? []) {
          if (Key === undefined || Key === prefix || LastModified === undefined) continue
          yield { key: Key.slice(prefix.length), writtenAt: LastModified.getTime() }
        }
        token = page.IsTruncated === true ? page.NextContinuationToken : undefined
      } while (token !== undefined)
    },

    ping: () =>
      told('ping', () =>
        persist({ attempts: 1, silenceMs: options.pingMs, totalMs: options.pingMs }, async ({ signal }) => {
          await client.send(new HeadBucketCommand({ Bucket: bucket }), { abortSignal: signal })
        }),
      ),

    locate: (key, mime) => told('locate', () => presign(client, addressOf(key), mime)),
  }

  return { store, close: () => client.destroy() }
}
