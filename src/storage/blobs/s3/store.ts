import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import {
  CopyObjectCommand,
  HeadBucketCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { SERVICE, type Caller } from '../../../lib/client.ts'
import { BlobDamaged, type BlobStore } from '../blob-store.ts'
import type { StagedFile, Staging } from '../staging.ts'
import { openClient, presign, withDeadline } from './client.ts'
import { attemptsOf, isNamed, isTransient } from './errors.ts'
import type { S3Location } from './location.ts'
import {
  fairSlots,
  S3_DEFAULTS,
  type S3Options,
  S3Requests,
  type Download,
  type ObserveAttempts,
  type ObserveFaults,
  type Operation,
} from './requests.ts'
import { saveToFile, sha256Of, sha256OfFile, withTimeouts } from './streams.ts'

/** Metadata of each blob: its SHA-256 in hexadecimal, compared whenever the whole blob is read. */
const DIGEST = 'sha256'
/** Below the prefix, so that they are in no listing of blobs. */
const OWNER = 'catalejo/owner'
const QUARANTINE = 'quarantine/'
/** The largest object that quarantine copies: uploads are limited to 512 MiB, but a damaged object may be longer. */
const MAX_QUARANTINE_BYTES = 1024 * 1024 * 1024

/** Blobs as objects of an S3 bucket. */
export function openS3Blobs(
  location: S3Location,
  staging: Staging,
  onFault: ObserveFaults,
  options: S3Options = S3_DEFAULTS,
  onAttempt: ObserveAttempts = () => {},
): { readonly store: BlobStore; readonly close: () => void } {
  const { bucket, prefix, endpoint, publicEndpoint = endpoint } = location
  const requests = new S3Requests(location, options, onFault, onAttempt)
  // Only signs URLs, for clients that may reach the store at another address than this service.
  const signer = openClient({ ...location, endpoint: publicEndpoint }, { maxSockets: 1, maxAttempts: 1 })
  const streams = fairSlots(options.streams, options.streamsPerClient, options)

  /** Downloads a whole blob through `consume`, which returns its digest. False if there is none. @param size undefined for any size */
  async function downloadWhole(
    key: string,
    operation: Operation,
    size: number | undefined,
    consume: (body: Readable) => Promise<string>,
  ): Promise<boolean> {
    const check = async ({ Body, Metadata }: Download) => {
      const digest = await consume(Body)
      const expected = Metadata?.[DIGEST]
      if (expected !== undefined && digest !== expected) throw new BlobDamaged(`${key} has other content`)
      return true
    }
    return (await requests.download(key, operation, check, { size })) === true
  }

  async function read(key: string, size: number, operation: Operation): Promise<Buffer | undefined> {
    let bytes: Buffer<ArrayBuffer> | undefined
    await downloadWhole(key, operation, size, async (body) => {
      bytes = Buffer.concat(await body.toArray())
      return sha256Of(bytes)
    })
    return bytes
  }

  /** Opens a body that a client reads at its own pace. It holds one of the streams until it is closed. */
  function openStream(
    key: string,
    part: { readonly range?: string; readonly size?: number } = {},
    caller: Caller = SERVICE,
  ): Promise<{ readonly size: number; readonly body: Readable } | undefined> {
    const observe = async () => {
      const release = await streams.take(caller.client, caller.signal)
      const open = async (found: Download) => {
        const body = withTimeouts(found.Body, options.silenceMs, options.stallMs)
        // A fault before the first byte can still be retried or reported to the client.
        await once(body, 'readable')
        body.on('error', (error) => requests.report('stream', error))
        found.Body.once('close', release)
        if (found.Body.closed) release()
        return { size: found.ContentLength, body }
      }
      try {
        const download = (signal: AbortSignal) =>
          requests.download(key, { name: 'stream', signal }, open, { isStream: true, ...part })
        const opened = await withDeadline(options.totalMs, download, caller.signal)
        if (opened === undefined) release()
        return opened
      } catch (error) {
        release()
        throw error
      }
    }
    return requests.observed('stream', observe, caller.signal)
  }

  /** Returns false if there is no such blob. */
  function copyTo(path: string, key: string, operation: Operation): Promise<boolean> {
    return downloadWhole(key, operation, undefined, async (body) => {
      // The file of the previous attempt.
      await rm(path, { force: true })
      return saveToFile(body, path)
    })
  }

  async function put(key: string, staged: StagedFile, operation: Operation): Promise<void> {
    const { size } = staged
    const sha256 = await sha256OfFile(staged.path)
    const command = new PutObjectCommand({
      ...requests.objectOf(key),
      // Replaced by the file for each attempt.
      Body: Buffer.alloc(0),
      ContentLength: size,
      // Stores that support it keep the checksum and verify it as long as the object exists.
      ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
      Metadata: { [DIGEST]: sha256 },
      IfNoneMatch: '*',
    })
    try {
      const openBody = () => createReadStream(staged.path)
      await requests.send(operation, command, { sha256, openBody })
    } catch (error) {
      if (!(error instanceof Error) || !isNamed(error, 'PreconditionFailed')) throw error
      // An earlier attempt may have arrived although its answer was lost.
      const found = attemptsOf(error) > 1 ? await requests.head(key, operation) : undefined
      if (found?.ContentLength === size && found.Metadata?.[DIGEST] === sha256) return
      throw new Error(`the key ${key} is taken`)
    }
  }

  async function quarantine(key: string, operation: Operation): Promise<void> {
    const { Bucket, Key } = requests.objectOf(key)
    const CopySource = [Bucket, ...Key.split('/')].map(encodeURIComponent).join('/')
    try {
      const copy = new CopyObjectCommand({ ...requests.objectOf(QUARANTINE + key), CopySource })
      await requests.send(operation, copy)
    } catch (error) {
      if (isNamed(error, 'NoSuchKey')) return
      throw error
    }
    await requests.remove(key, operation)
  }

  const readOwner = (operation: Operation) =>
    requests.download(OWNER, operation, async ({ Body }) =>
      String(Buffer.concat(await Body.toArray())).trim(),
    )

  async function owner(claim: string | undefined, operation: Operation): Promise<string | undefined> {
    const current = await readOwner(operation)
    if (current !== undefined || claim === undefined) return current
    const Body = Buffer.from(`${claim}\n`)
    const object = { ...requests.objectOf(OWNER), Body, ContentType: 'text/plain', IfNoneMatch: '*' }
    try {
      const sha256 = await sha256Of(Body)
      await requests.send(operation, new PutObjectCommand(object), { sha256 })
    } catch (error) {
      // Another claim came first.
      if (!isNamed(error, 'PreconditionFailed')) throw error
    }
    return readOwner(operation)
  }

  async function ping(operation: Operation): Promise<void> {
    try {
      await requests.send(operation, new HeadBucketCommand({ Bucket: bucket }))
    } catch (error) {
      if (isTransient(error)) throw error
      // An answer to HEAD has no body, so no reason; that to a listing does.
      const list = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 })
      await requests.send(operation, list)
      throw error
    }
  }

  const store: BlobStore = {
    put: (key, staged, client = SERVICE.client) =>
      requests.operate('put', staged.size, (operation) => put(key, staged, operation), {
        ...SERVICE,
        client,
      }),
    read: (key, size, caller) =>
      requests.operate('read', size, (operation) => read(key, size, operation), caller),

    async stream(key, start, end, caller) {
      // No `Range` can request zero bytes.
      if (end < start)
        return (
          (await requests.operate('stream', 0, (operation) => requests.head(key, operation), caller)) &&
          Readable.from([])
        )
      const part = { range: `bytes=${start}-${end}`, size: end - start + 1 }
      return (await openStream(key, part, caller))?.body
    },
    openWhole: (key) => openStream(key),

    async withLocalFile(key, use, caller) {
      const path = staging.freshPath()
      try {
        const copied = await requests.operate(
          'copy',
          64 * options.minBytesPerSecond,
          (one) => copyTo(path, key, one),
          caller,
        )
        return copied ? await use(path) : undefined
      } finally {
        await rm(path, { force: true })
      }
    },

    remove: (key) => requests.operate('remove', 0, (operation) => requests.remove(key, operation)),
    quarantine: (key) =>
      requests.operate('quarantine', MAX_QUARANTINE_BYTES, (operation) => quarantine(key, operation)),
    owner: (claim) => requests.operate('owner', 0, (operation) => owner(claim, operation)),
    clearOwner: () => requests.operate('owner', 0, (operation) => requests.remove(OWNER, operation)),

    // Objects directly under the prefix; those further below are not blobs.
    async *keys() {
      for await (const { name, writtenAt } of requests.list('keys', '', '/')) yield { key: name, writtenAt }
    },

    ping: () =>
      requests.observed('ping', () =>
        withDeadline(options.pingMs, (signal) => ping({ name: 'ping', signal })),
      ),
    locate: (key, mime) => requests.observed('locate', () => presign(signer, requests.objectOf(key), mime)),
  }

  return {
    store,
    close: () => {
      requests.close()
      signer.destroy()
    },
  }
}
