import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type GetObjectCommandOutput,
} from '@aws-sdk/client-s3'
import { BlobDamaged, type BlobStore } from '../blob-store.ts'
import type { StagedFile, Staging } from '../staging.ts'
import { S3Connection, withDeadline } from './client.ts'
import { attemptsOf, isNamed, isTransient, translate } from './errors.ts'
import { localCopies } from './local-copies.ts'
import type { S3Location } from './location.ts'
import { fairSlots, S3_DEFAULTS, SERVICE, type S3Options } from './options.ts'
import { saveToFile, sha256Of, sha256OfFile, withTimeouts } from './streams.ts'

/** Called for each operation that failed despite all retries, before its caller gets the error. */
export type ObserveFaults = (operation: string, error: Error) => void

/** Called before each request; `attempt` counts from 1. */
export type ObserveAttempts = (operation: string, attempt: number) => void

/** Metadata of each blob: its SHA-256 in hexadecimal, compared whenever the whole blob is read. */
const DIGEST = 'sha256'
/** Below the prefix, so that they are in no listing of blobs. */
const OWNER = 'catalejo/owner'
const QUARANTINE = 'quarantine/'
/** The largest object that quarantine copies: uploads are limited to 512 MiB, but a damaged object may be longer. */
const MAX_QUARANTINE_BYTES = 1024 * 1024 * 1024

type Download = GetObjectCommandOutput & { readonly Body: Readable }
/** One operation: its name for the metrics, and the signal of its deadline. */
interface Operation {
  readonly name: string
  readonly signal: AbortSignal
}

/** Blobs as objects of an S3 bucket. */
export function openS3Blobs(
  location: S3Location,
  staging: Staging,
  onFault: ObserveFaults,
  options: S3Options = S3_DEFAULTS,
  onAttempt: ObserveAttempts = () => {},
): { readonly store: BlobStore; readonly close: () => void } {
  const { bucket, prefix, publicEndpoint } = location
  const { maxAttempts, silenceMs, stallMs, totalMs } = options
  const connection = new S3Connection(location, { maxSockets: options.requests, maxAttempts, silenceMs })
  const streaming = new S3Connection(location, {
    maxSockets: options.streams,
    maxAttempts,
    headMs: silenceMs,
  })
  // Only signs URLs, for clients that reach the store at another address than this service.
  const publicConnection =
    publicEndpoint === undefined
      ? connection
      : new S3Connection({ ...location, endpoint: publicEndpoint }, { maxSockets: 1, maxAttempts: 1 })
  const requests = fairSlots(options.requests, options.requestsPerClient, options)
  const streams = fairSlots(options.streams, options.streamsPerClient, options)
  const copies = fairSlots(options.copies, options.copiesPerClient, {
    ...options,
    waitMs: options.copyWaitMs,
  })

  const objectOf = (name: string) => ({ Bucket: bucket, Key: prefix + name })

  async function observed<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const fault = translate(name, error)
      onFault(name, fault)
      throw fault
    }
  }

  /** Runs an operation when it is its client's turn. @param bytes that it moves, which extend the deadline */
  function operate<T>(
    name: string,
    bytes: number,
    work: (operation: Operation) => Promise<T>,
    client: string = SERVICE,
  ): Promise<T> {
    const ms = totalMs + (bytes / options.minBytesPerSecond) * 1_000
    return observed(name, () =>
      requests.run(client, () => withDeadline(ms, (signal) => work({ name, signal }))),
    )
  }

  const sendOptions = ({ name, signal }: Operation, previousAttempts = 0) => ({
    signal,
    onAttempt: (attempt: number) => onAttempt(name, previousAttempts + attempt),
  })

  /**
   * Requests an object and hands its body to `use`, again if the body breaks off or is damaged. The SDK retries a request
   * only until its answer begins. Undefined if there is no such object.
   */
  async function download<T>(
    from: S3Connection,
    key: string,
    operation: Operation,
    use: (found: Download) => Promise<T>,
    range?: string,
  ): Promise<T | undefined> {
    for (let attempt = 1; ; attempt++) {
      const command = new GetObjectCommand({ ...objectOf(key), ...(range !== undefined && { Range: range }) })
      let found
      try {
        found = await from.send(command, sendOptions(operation, attempt - 1))
      } catch (error) {
        if (isNamed(error, 'NoSuchKey')) return undefined
        if (isNamed(error, 'InvalidRange')) throw new BlobDamaged(`${key} has no ${range}`)
        throw error
      }
      const { Body } = found
      if (!(Body instanceof Readable)) throw new Error('an answer without a body')
      // Without a listener, a body that breaks before `use` reads it would end the process.
      Body.on('error', () => {})
      try {
        return await use({ ...found, Body })
      } catch (error) {
        Body.destroy()
        if (attempt >= maxAttempts || operation.signal.aborted || !isTransient(error)) throw error
      }
    }
  }

  /** Downloads a whole blob through `consume`, which returns its digest. False if there is none. @param size undefined for any */
  async function downloadWhole(
    key: string,
    operation: Operation,
    size: number | undefined,
    consume: (body: Readable) => Promise<string>,
  ): Promise<boolean> {
    const isFound = await download(connection, key, operation, async ({ Body, ContentLength, Metadata }) => {
      if (ContentLength === undefined || (size !== undefined && ContentLength !== size))
        throw new BlobDamaged(`${key} is ${ContentLength} bytes long, not ${size}`)
      const digest = await consume(Body)
      const expected = Metadata?.[DIGEST]
      if (expected !== undefined && digest !== expected) throw new BlobDamaged(`${key} has other content`)
      return true
    })
    return isFound === true
  }

  async function read(key: string, size: number, operation: Operation): Promise<Buffer | undefined> {
    let bytes: Buffer<ArrayBuffer> | undefined
    await downloadWhole(key, operation, size, async (body) => {
      bytes = Buffer.concat(await body.toArray())
      return sha256Of(bytes)
    })
    return bytes
  }

  /**
   * Opens a body that is read at somebody else's pace. It holds one of the streams until it is closed.
   * @param lengthOf the length that the body must have; NaN if the answer does not match the request
   */
  function openStream(
    key: string,
    range: string | undefined,
    lengthOf: (found: Download) => number,
    client: string = SERVICE,
  ): Promise<{ readonly size: number; readonly body: Readable } | undefined> {
    return observed('stream', async () => {
      const release = await streams.take(client)
      const open = async (found: Download) => {
        const size = lengthOf(found)
        if (found.ContentLength !== size) throw new BlobDamaged(`${key} has no ${range ?? 'known length'}`)
        const body = withTimeouts(found.Body, silenceMs, stallMs)
        // A fault before the first byte can still be cured by another attempt, or be reported to the client.
        await once(body, 'readable')
        body.on('error', (error) => onFault('stream', translate('stream', error)))
        found.Body.once('close', release)
        if (found.Body.closed) release()
        return { size, body }
      }
      try {
        const opened = await withDeadline(totalMs, (signal) =>
          download(streaming, key, { name: 'stream', signal }, open, range),
        )
        if (opened === undefined) release()
        return opened
      } catch (error) {
        release()
        throw error
      }
    })
  }

  async function head(key: string, operation: Operation) {
    try {
      return await connection.send(new HeadObjectCommand(objectOf(key)), sendOptions(operation))
    } catch (error) {
      if (isNamed(error, 'NotFound', 'NoSuchKey')) return undefined
      throw error
    }
  }

  async function put(key: string, { path, size }: StagedFile, operation: Operation): Promise<void> {
    const sha256 = await sha256OfFile(path)
    const command = new PutObjectCommand({
      ...objectOf(key),
      // Replaced by the file for each attempt.
      Body: Buffer.alloc(0),
      ContentLength: size,
      // Stores that support it keep the checksum and verify it as long as the object exists.
      ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
      Metadata: { [DIGEST]: sha256 },
      IfNoneMatch: '*',
    })
    try {
      const openBody = () => createReadStream(path)
      await connection.send(command, { ...sendOptions(operation), sha256, openBody })
    } catch (error) {
      if (!(error instanceof Error) || !isNamed(error, 'PreconditionFailed')) throw error
      // An earlier attempt may have arrived although its answer was lost.
      const found = attemptsOf(error) > 1 ? await head(key, operation) : undefined
      if (found?.ContentLength === size && found.Metadata?.[DIGEST] === sha256) return
      throw new Error(`the key ${key} is taken`)
    }
  }

  async function remove(key: string, operation: Operation): Promise<void> {
    try {
      await connection.send(new DeleteObjectCommand(objectOf(key)), sendOptions(operation))
    } catch (error) {
      if (!isNamed(error, 'NoSuchKey')) throw error
    }
  }

  async function quarantine(key: string, operation: Operation): Promise<void> {
    const { Bucket, Key } = objectOf(key)
    const CopySource = [Bucket, ...Key.split('/')].map(encodeURIComponent).join('/')
    try {
      const copy = new CopyObjectCommand({ ...objectOf(QUARANTINE + key), CopySource })
      await connection.send(copy, sendOptions(operation))
    } catch (error) {
      if (isNamed(error, 'NoSuchKey')) return
      throw error
    }
    await remove(key, operation)
  }

  const readOwner = (operation: Operation) =>
    download(connection, OWNER, operation, async ({ Body }) =>
      String(Buffer.concat(await Body.toArray())).trim(),
    )

  async function owner(claim: string | undefined, operation: Operation): Promise<string | undefined> {
    const current = await readOwner(operation)
    if (current !== undefined || claim === undefined) return current
    const Body = Buffer.from(`${claim}\n`)
    const object = { ...objectOf(OWNER), Body, ContentType: 'text/plain', IfNoneMatch: '*' }
    try {
      const sha256 = await sha256Of(Body)
      await connection.send(new PutObjectCommand(object), { ...sendOptions(operation), sha256 })
    } catch (error) {
      // Another claim came first.
      if (!isNamed(error, 'PreconditionFailed')) throw error
    }
    return readOwner(operation)
  }

  const listPage = (token: string | undefined) =>
    operate('keys', 0, (operation) =>
      connection.send(
        new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: prefix,
          Delimiter: '/',
          MaxKeys: options.pageSize,
          ContinuationToken: token,
        }),
        sendOptions(operation),
      ),
    )

  async function ping(operation: Operation): Promise<void> {
    try {
      await connection.send(new HeadBucketCommand({ Bucket: bucket }), sendOptions(operation))
    } catch (error) {
      if (isTransient(error)) throw error
      // An answer to HEAD has no body, so no reason; that to a listing does.
      const list = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 })
      await connection.send(list, sendOptions(operation))
      throw error
    }
  }

  const store: BlobStore = {
    put: (key, staged, client) =>
      operate('put', staged.size, (operation) => put(key, staged, operation), client),
    read: (key, size, client) => operate('read', size, (operation) => read(key, size, operation), client),

    async stream(key, start, end, client) {
      // No `Range` can ask for nothing.
      if (end < start)
        return (await operate('stream', 0, (operation) => head(key, operation), client)) && Readable.from([])
      const lengthOf = ({ ContentRange }: Download) =>
        ContentRange?.startsWith(`bytes ${start}-${end}/`) === true ? end - start + 1 : NaN
      return (await openStream(key, `bytes=${start}-${end}`, lengthOf, client))?.body
    },
    openWhole: (key) => openStream(key, undefined, ({ ContentLength = NaN }) => ContentLength),

    withLocalFile: localCopies(copies, (key, client) =>
      // The size is unknown before the answer, so the deadline is generous; a silent store is noticed earlier.
      operate(
        'lend',
        64 * options.minBytesPerSecond,
        async (operation) => {
          const path = staging.freshPath()
          const save = async (body: Readable) => {
            // Of the attempt before.
            await rm(path, { force: true })
            return saveToFile(body, path)
          }
          try {
            return (await downloadWhole(key, operation, undefined, save)) ? path : undefined
          } catch (error) {
            await rm(path, { force: true })
            throw error
          }
        },
        client,
      ),
    ),

    remove: (key) => operate('remove', 0, (operation) => remove(key, operation)),
    quarantine: (key) =>
      operate('quarantine', MAX_QUARANTINE_BYTES, (operation) => quarantine(key, operation)),
    owner: (claim) => operate('owner', 0, (operation) => owner(claim, operation)),
    clearOwner: () => operate('owner', 0, (operation) => remove(OWNER, operation)),

    // Objects directly under the prefix; those further below are not blobs.
    async *keys() {
      let token: string | undefined
      do {
        const { Contents = [], IsTruncated, NextContinuationToken } = await listPage(token)
        for (const { Key, LastModified } of Contents) {
          if (Key === undefined || Key === prefix || LastModified === undefined) continue
          yield { key: Key.slice(prefix.length), writtenAt: LastModified.getTime() }
        }
        token = IsTruncated === true ? NextContinuationToken : undefined
      } while (token !== undefined)
    },

    ping: () =>
      observed('ping', () => withDeadline(options.pingMs, (signal) => ping({ name: 'ping', signal }))),
    locate: (key, mime) => observed('locate', () => publicConnection.presign(objectOf(key), mime)),
  }

  return {
    store,
    close: () => {
      for (const each of new Set([connection, streaming, publicConnection])) each.close()
    },
  }
}
