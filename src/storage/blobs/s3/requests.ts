import { once } from 'node:events'
import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
  type $Command,
  type HeadObjectCommandOutput,
  type _Object as ListedObject,
  type S3Client,
  type S3ClientResolvedConfig,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from '@aws-sdk/client-s3'
import { SERVICE, type Caller } from '../../../lib/client.ts'
import { abortable } from '../../../lib/concurrency.ts'
import { POOLS } from '../../../lib/limits.ts'
import { SharedGate } from '../../../lib/gate.ts'
import { BlobDamaged } from '../blob-store.ts'
import { openClient, getAttempts, isNamed, StoreFault, translate } from './client.ts'
import type { S3Location } from './location.ts'

/** Limits of an S3 store. Times in milliseconds. */
export const S3_DEFAULTS = {
  ...POOLS.objects,
  /** Attempts of one request, retries included. */
  maxAttempts: 3,
  /** A request fails after this long without a byte in either direction. */
  silenceMs: 4_000,
  /** Longest time of an operation on a small object, retries included. A large one gets additional time at the rate. */
  totalMs: 12_000,
  minBytesPerSecond: 1024 * 1024,
  /** A stream fails after this long without a byte: the store is silent, or its reader is. */
  stallMs: 60_000,
  pingMs: 1_500,
  /** Keys per page of a listing. */
  pageSize: 1_000,
}

export type S3Options = Readonly<typeof S3_DEFAULTS>

/** Called for each operation that failed despite all retries, before its caller gets the error. */
export type ObserveFaults = (operation: string, error: Error) => void

/** Called after each request with the number of its attempts. */
export type ObserveAttempts = (operation: string, attempts: number) => void

type Command<Input extends ServiceInputTypes, Output extends ServiceOutputTypes> = $Command<
  Input,
  Output,
  S3ClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes
>

export interface Download {
  readonly body: Readable
  readonly size: number
  /** In hexadecimal, as noted when it was stored. */
  readonly sha256: string | undefined
}

/** One operation: its name for the metrics, the signal that ends it, and the connections that it uses. */
export interface Operation {
  readonly name: string
  readonly signal: AbortSignal
  readonly client: S3Client
}

/** The metadata that holds the SHA-256 of a blob, compared whenever the whole blob is read. */
export const DIGEST = 'sha256'

/** The requests of one store. The SDK retries them until their answer begins. */
export function openRequests(
  location: S3Location,
  options: S3Options,
  onFault: ObserveFaults,
  onAttempts: ObserveAttempts,
) {
  const { maxAttempts, requests, requestsPerClient, silenceMs, stallMs, streams, waiting, waitMs } = options
  const client = openClient(location, { maxSockets: requests, maxAttempts, silenceMs })
  const slow = { headMs: silenceMs, silenceMs: stallMs }
  const streaming = openClient(location, { maxSockets: streams, maxAttempts, ...slow })
  const gate = new SharedGate({ running: requests, perClient: requestsPerClient, waiting, waitMs })
  return { client, objectOf, observed, report, operate, open, send, get, head, list, remove, close }

  /** @param name of the object, under the prefix of the store */
  function objectOf(name: string): { Bucket: string; Key: string } {
    return { Bucket: location.bucket, Key: location.prefix + name }
  }

  /** Reports the failure of an operation, unless its caller has left, and turns its error into one that a caller may see. */
  async function observed<T>(name: string, work: () => Promise<T>, left?: AbortSignal): Promise<T> {
    try {
      return await work()
    } catch (error) {
      left?.throwIfAborted()
      throw report(name, error)
    }
  }

  function report(name: string, error: unknown): Error {
    const fault = translate(name, error)
    onFault(name, fault)
    return fault
  }

  /** Runs an operation in the turn of its caller. @param bytes that it moves, which extend the deadline */
  function operate<T>(
    name: string,
    bytes: number,
    work: (operation: Operation) => Promise<T>,
    { client: caller, signal: left }: Caller = SERVICE,
  ): Promise<T> {
    const ms = options.totalMs + (bytes / options.minBytesPerSecond) * 1_000
    const run = () => withDeadline(ms, left, (signal) => work({ name, signal, client }))
    return gate.run(caller, () => observed(name, run, left), left)
  }

  /** Requests an object whose body is read at the pace of a client. Resolves when it has begun: until then a fault can be reported. */
  function open(key: string, expected: Expected, left: AbortSignal): Promise<Download | undefined> {
    return withDeadline(options.totalMs, left, async (signal) => {
      const found = await get(key, { name: 'stream', signal, client: streaming }, expected)
      if (found !== undefined && found.size > 0) await once(found.body, 'readable')
      return found
    })
  }

  async function send<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    { name, signal, client: connections }: Operation,
    command: Command<Input, Output>,
  ): Promise<Output> {
    let attempts = 1
    try {
      const answer = await connections.send(command, { abortSignal: signal })
      attempts = answer.$metadata.attempts ?? 1
      return answer
    } catch (error) {
      attempts = getAttempts(error)
      throw error
    } finally {
      onAttempts(name, attempts)
    }
  }

  /** Requests an object. Undefined if there is none. */
  async function get(
    key: string,
    operation: Operation,
    { range, size }: Expected = {},
  ): Promise<Download | undefined> {
    const part = range !== undefined && { Range: range }
    let answer
    try {
      answer = await send(operation, new GetObjectCommand({ ...objectOf(key), ...part }))
    } catch (error) {
      if (isNamed(error, 'NoSuchKey')) return undefined
      if (isNamed(error, 'InvalidRange')) throw new BlobDamaged(`${key} has no ${range}`)
      throw error
    }
    const { Body: body, ContentLength: length, Metadata } = answer
    if (!(body instanceof Readable)) throw new StoreFault('an answer without a body')
    // Without a listener, a body that breaks before it is read would end the process.
    body.on('error', () => {})
    if (length === undefined || (size !== undefined && length !== size)) {
      body.destroy()
      throw length === undefined
        ? new StoreFault('an answer without a length')
        : new BlobDamaged(`${key} has ${length} bytes, not ${size}`)
    }
    return { body, size: length, sha256: Metadata?.[DIGEST] }
  }

  /** Returns the headers of an object. Undefined if there is none. */
  async function head(key: string, operation: Operation): Promise<HeadObjectCommandOutput | undefined> {
    try {
      return await send(operation, new HeadObjectCommand(objectOf(key)))
    } catch (error) {
      if (isNamed(error, 'NotFound', 'NoSuchKey')) return undefined
      throw error
    }
  }

  /** Lists the objects under the prefix. @param isFlat whether those further below are left out */
  async function* list(isFlat: boolean): AsyncGenerator<ListedObject> {
    const pages = paginateListObjectsV2(
      { client, pageSize: options.pageSize },
      { Bucket: location.bucket, Prefix: location.prefix, ...(isFlat && { Delimiter: '/' }) },
    )
    for (;;) {
      const { done, value: page } = await operate('keys', 0, () => pages.next())
      if (done === true) return
      onAttempts('keys', page.$metadata.attempts ?? 1)
      yield* page.Contents ?? []
    }
  }

  /** Removes an object if there is one. */
  async function remove(key: string, operation: Operation): Promise<void> {
    try {
      await send(operation, new DeleteObjectCommand(objectOf(key)))
    } catch (error) {
      if (!isNamed(error, 'NoSuchKey')) throw error
    }
  }

  function close(): void {
    client.destroy()
    streaming.destroy()
  }
}

/** A range in bytes, and the size that the answer must have. */
interface Expected {
  readonly range?: string
  readonly size?: number
}

/** Runs `work` with a signal that aborts after `ms`, or when `left` does, and never later: a body may still be read. */
export async function withDeadline<T>(
  ms: number,
  left: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new StoreFault(`no answer within ${ms} ms`)), ms)
  const signal = AbortSignal.any([late.signal, left])
  try {
    return await abortable(work(signal), signal)
  } finally {
    clearTimeout(timer)
  }
}
