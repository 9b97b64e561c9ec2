import { createHash, hash, webcrypto } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { PassThrough, pipeline, Readable } from 'node:stream'
import { pipeline as finished } from 'node:stream/promises'
import { CopyObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { digested } from '../../../lib/bytes.ts'
import { SERVICE, type Caller } from '../../../lib/client.ts'
import { Gate, SharedGate } from '../../../lib/gate.ts'
import { createFileStream } from '../../../lib/private-files.ts'
import { BlobDamaged, type BlobStore } from '../blob-store.ts'
import type { StagedFile, Staging } from '../staging.ts'
import { openClient, presign, isNamed } from './client.ts'
import type { S3Location } from './location.ts'
import {
  DIGEST,
  S3_DEFAULTS,
  openRequests,
  withDeadline,
  type Download,
  type ObserveAttempts,
  type ObserveFaults,
  type Operation,
  type S3Options,
} from './requests.ts'

/** Below the prefix, so that they are in no listing of blobs. */
const OWNER = 'catalejo/owner'
const QUARANTINE = 'quarantine/'
/** The largest object that quarantine copies: uploads are limited to 512 MiB, but a damaged object may be longer. */
const MAX_QUARANTINE_BYTES = 1024 * 1024 * 1024
/** If the size of a copy to be is unknown before the answer, its deadline is generous; a silent store is noticed earlier. */
const MAX_COPY_BYTES = 64 * 1024 * 1024

/** Blobs as objects of an S3 bucket. */
export function openS3Blobs(
  location: S3Location,
  staging: Staging,
  onFault: ObserveFaults,
  options: S3Options = S3_DEFAULTS,
  onAttempts: ObserveAttempts = () => {},
): { readonly store: BlobStore; readonly close: () => void } {
  const { bucket, prefix, endpoint, publicEndpoint = endpoint } = location
  const { putBytes, streams: running, streamsPerAddress, waiting, waitMs } = options
  const requests = openRequests(location, options, onFault, onAttempts)
  // Only signs URLs, for clients that may reach the store at another address than this service.
  const signer = openClient({ ...location, endpoint: publicEndpoint }, { maxSockets: 1, maxAttempts: 1 })
  const perClient = Math.max(1, running - streamsPerAddress)
  const streams = new SharedGate({ running, perClient, waiting, waitMs }, streamsPerAddress)
  const puts = new Gate({ running: options.requests, waiting, waitMs, weight: putBytes })

  async function read(key: string, size: number, operation: Operation): Promise<Buffer | undefined> {
    const found = await requests.get(key, operation, { size })
    if (found === undefined) return undefined
    const bytes = Buffer.concat(await found.body.toArray())
    assertContent(key, found, await sha256(bytes))
    return bytes
  }

  /** Downloads a blob into a new file. Returns its path; undefined if there is no such blob. */
  async function copy(
    key: string,
    operation: Operation,
    size: number | undefined,
  ): Promise<string | undefined> {
    const found = await requests.get(key, operation, size === undefined ? {} : { size })
    if (found === undefined) return undefined
    const digest = createHash('sha256')
    const path = staging.freshPath()
    try {
      await finished(found.body, (chunks) => digested(chunks, digest), createFileStream(path))
      assertContent(key, found, digest.digest('hex'))
      return path
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
  }

  /** Opens a body that a client reads at its own pace. It holds one of the streams until it is closed. */
  async function openStream(
    key: string,
    expected: { readonly range?: string; readonly size?: number } = {},
    { client: name, signal: left }: Caller = SERVICE,
  ): Promise<{ readonly size: number; readonly body: Readable } | undefined> {
    const leave = await streams.enter(name, left)
    try {
      const found = await requests.observed('stream', () => requests.open(key, expected, left), left)
      if (found === undefined) {
        leave()
        return undefined
      }
      // An answer of HTTP alone does not end with the loop that reads it.
      const body = new PassThrough()
      found.body.once('error', (error) => {
        if (!body.destroyed && !left.aborted) requests.report('stream', error)
      })
      pipeline(found.body, body, leave)
      return { size: found.size, body }
    } catch (error) {
      leave()
      throw error
    }
  }

  /** Sends a blob from memory: the SDK signs its content, and repeats it. */
  async function put(key: string, { path }: StagedFile, operation: Operation): Promise<void> {
    const bytes = await readFile(path)
    const digest = await sha256(bytes)
    const command = new PutObjectCommand({
      ...requests.objectOf(key),
      Body: bytes,
      // Stores that support it keep the checksum and verify it as long as the object exists.
      ChecksumSHA256: Buffer.from(digest, 'hex').toString('base64'),
      Metadata: { [DIGEST]: digest },
      IfNoneMatch: '*',
    })
    try {
      await requests.send(operation, command)
    } catch (error) {
      if (!isNamed(error, 'PreconditionFailed')) throw error
      // An earlier attempt may have arrived although its answer was lost.
      const found = await requests.head(key, operation)
      if (found?.ContentLength !== bytes.byteLength || found.Metadata?.[DIGEST] !== digest)
        throw new Error(`the key ${key} is taken`, { cause: error })
    }
  }

  async function quarantine(key: string, operation: Operation): Promise<void> {
    const { Bucket, Key } = requests.objectOf(key)
    const CopySource = [Bucket, ...Key.split('/')].map(encodeURIComponent).join('/')
    try {
      await requests.send(
        operation,
        new CopyObjectCommand({ ...requests.objectOf(QUARANTINE + key), CopySource }),
      )
    } catch (error) {
      if (isNamed(error, 'NoSuchKey')) return
      throw error
    }
    await requests.remove(key, operation)
  }

  async function owner(claim: string | undefined, operation: Operation): Promise<string | undefined> {
    const readOwner = async () => {
      const found = await requests.get(OWNER, operation)
      return (
        found &&
        Buffer.concat(await found.body.toArray())
          .toString()
          .trim()
      )
    }
    const current = await readOwner()
    if (current !== undefined || claim === undefined) return current
    const body = { Body: `${claim}\n`, ContentType: 'text/plain', IfNoneMatch: '*' }
    try {
      await requests.send(operation, new PutObjectCommand({ ...requests.objectOf(OWNER), ...body }))
    } catch (error) {
      // Another claim came first.
      if (!isNamed(error, 'PreconditionFailed')) throw error
    }
    return readOwner()
  }

  const store: BlobStore = {
    put: (key, staged, name = SERVICE.client) => {
      const run = () =>
        requests.operate('put', staged.size, (operation) => put(key, staged, operation), {
          ...SERVICE,
          client: name,
        })
      return puts.run(name, run, undefined, staged.size)
    },
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

    async withLocalFile(key, use, caller, size) {
      const run = (operation: Operation) => copy(key, operation, size)
      const path = await requests.operate('copy', size ?? MAX_COPY_BYTES, run, caller)
      try {
        return path === undefined ? undefined : await use(path)
      } finally {
        if (path !== undefined) await rm(path, { force: true })
      }
    },

    remove: (key) => requests.operate('remove', 0, (operation) => requests.remove(key, operation)),
    quarantine: (key) =>
      requests.operate('quarantine', MAX_QUARANTINE_BYTES, (operation) => quarantine(key, operation)),
    owner: (claim) => requests.operate('owner', 0, (operation) => owner(claim, operation)),
    clearOwner: () => requests.operate('owner', 0, (operation) => requests.remove(OWNER, operation)),

    // Objects directly under the prefix; those further below are not blobs.
    async *keys() {
      for await (const { Key = '', LastModified } of requests.list(true))
        if (Key !== prefix && LastModified !== undefined)
          yield { key: Key.slice(prefix.length), writtenAt: LastModified.getTime() }
    },

    // A listing, because an answer to HEAD has no body, so no reason.
    ping: () =>
      requests.observed('ping', async () => {
        const list = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 })
        await withDeadline(options.pingMs, SERVICE.signal, (signal) =>
          requests.send({ name: 'ping', signal, client: requests.client }, list),
        )
      }),
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

function assertContent(key: string, expected: Download, sha256: string): void {
  if (expected.sha256 !== undefined && expected.sha256 !== sha256)
    throw new BlobDamaged(`${key} has other content`)
}

/** Hashing less than this takes less time than handing it to another thread. */
const SYNC_HASH_BYTES = 64 * 1024

/** SHA-256 in hexadecimal, without blocking the event loop. */
async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (bytes.byteLength <= SYNC_HASH_BYTES) return hash('sha256', bytes)
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex')
}

/** Opens what others have stored below a prefix, whatever its names are and however deep they lie. */
export function openObjects(location: S3Location) {
  const requests = openRequests(
    location,
    S3_DEFAULTS,
    () => {},
    () => {},
  )
  return {
    /** Lists all objects but the marks of folders. Names are those below the prefix. */
    async *list(): AsyncGenerator<{ readonly name: string; readonly size: number }> {
      for await (const { Key = '', Size = 0 } of requests.list(false))
        if (!Key.endsWith('/')) yield { name: Key.slice(location.prefix.length), size: Size }
    },
    /** Reads an object of a known size. Undefined if there is none any more. */
    read: (name: string, size: number, signal: AbortSignal): Promise<Buffer | undefined> =>
      requests.operate(
        'read',
        size,
        async (operation) => {
          const found = await requests.get(name, operation, { size })
          return found && Buffer.concat(await found.body.toArray())
        },
        { ...SERVICE, signal },
      ),
    close: () => requests.close(),
  }
}
