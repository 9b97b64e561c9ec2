import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type $Command,
  type GetObjectCommandOutput,
  type HeadObjectCommandOutput,
  type S3Client,
  type S3ClientResolvedConfig,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from '@aws-sdk/client-s3'
import { HttpRequest } from '@smithy/core/protocols'
import { BlobDamaged } from '../blob-store.ts'
import { openClient, withDeadline } from './client.ts'
import { isNamed, isTransient, translate } from './errors.ts'
import type { S3Location } from './location.ts'
import { FairSlots, groupBefore } from '../../../lib/fair-slots.ts'
import { SERVICE, type Caller } from '../../../lib/client.ts'

/** Limits of an S3 store. Times in milliseconds. */
export interface S3Options {
  /** Concurrent requests whose answers are consumed immediately. */
  readonly requests: number
  readonly requestsPerClient: number
  /** Open bodies that are passed on to clients, at the clients' pace. */
  readonly streams: number
  readonly streamsPerClient: number
  /** Length of each of the two queues. */
  readonly maxWaiting: number
  readonly maxWaitingPerClient: number
  /** Longest wait in a queue. */
  readonly waitMs: number
  /** Attempts of one request, retries included. */
  readonly maxAttempts: number
  /** An attempt fails after this long without a byte in either direction. */
  readonly silenceMs: number
  /** Longest time of an operation on a small object, retries included. */
  readonly totalMs: number
  /** A large object gets additional time at this rate. */
  readonly minBytesPerSecond: number
  /** How long the reader of a stream may read nothing. */
  readonly stallMs: number
  readonly pingMs: number
  /** Keys per page of a listing. */
  readonly pageSize: number
}

export const S3_DEFAULTS: S3Options = {
  requests: 64,
  requestsPerClient: 32,
  streams: 256,
  streamsPerClient: 32,
  maxWaiting: 256,
  maxWaitingPerClient: 128,
  waitMs: 5_000,
  maxAttempts: 3,
  silenceMs: 4_000,
  totalMs: 12_000,
  minBytesPerSecond: 1024 * 1024,
  stallMs: 60_000,
  pingMs: 1_500,
  pageSize: 1_000,
}

/** A pool that clients share fairly, with the queue that the options allow. */
export const fairSlots = (
  slots: number,
  slotsPerClient: number,
  queue: Pick<S3Options, 'maxWaiting' | 'maxWaitingPerClient' | 'waitMs'>,
): FairSlots =>
  new FairSlots({ ...queue, slots, slotsPerClient, timeoutMs: queue.waitMs, groupOf: groupBefore })

/** Called for each operation that failed despite all retries, before its caller gets the error. */
export type ObserveFaults = (operation: string, error: Error) => void

/** Called before each request; `attempt` counts from 1. */
export type ObserveAttempts = (operation: string, attempt: number) => void

/** One operation: its name for the metrics, and the signal that ends it. */
export interface Operation {
  readonly name: string
  readonly signal: AbortSignal
}

interface SendOptions {
  /**
   * SHA-256 of the body in hexadecimal, to sign a put with. All stores that know version 4 signatures compare it with what
   * arrives, while few know checksum headers; the SDK alone would not sign the content of a stream.
   */
  readonly sha256?: string
  /** Opens the body for each attempt. The SDK does not retry a request whose body is a stream. */
  readonly openBody?: () => Readable
  readonly client?: S3Client
  /** Attempts of the same download, whose body broke off. */
  readonly previousAttempts?: number
}

type Command<Input extends ServiceInputTypes, Output extends ServiceOutputTypes> = $Command<
  Input,
  Output,
  S3ClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes
>

export type Download = GetObjectCommandOutput & { readonly Body: Readable; readonly ContentLength: number }

interface DownloadOptions {
  readonly size?: number | undefined
  readonly isStream?: boolean
  readonly range?: string | undefined
}

/** The requests of one store: names of objects, fair sharing, deadlines, repeated downloads, metrics. */
export class S3Requests {
  readonly location: S3Location
  readonly #options: S3Options
  readonly #onFault: ObserveFaults
  readonly #onAttempt: ObserveAttempts
  readonly #client: S3Client
  readonly #streaming: S3Client
  readonly #slots: FairSlots

  constructor(location: S3Location, options: S3Options, onFault: ObserveFaults, onAttempt: ObserveAttempts) {
    const { maxAttempts, requests, silenceMs, streams } = options
    this.location = location
    this.#options = options
    this.#onFault = onFault
    this.#onAttempt = onAttempt
    this.#client = openClient(location, { maxSockets: requests, maxAttempts, silenceMs })
    this.#streaming = openClient(location, { maxSockets: streams, maxAttempts, headMs: silenceMs })
    this.#slots = fairSlots(requests, options.requestsPerClient, options)
  }

  /** @param name of the object, under the prefix of the store */
  objectOf(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.location.bucket, Key: this.location.prefix + name }
  }

  /**
   * Reports the failure of an operation, and turns its error into one that a caller may see.
   * @param left aborts when nobody waits for it, so that its failure is none of the store
   */
  async observed<T>(name: string, work: () => Promise<T>, left?: AbortSignal): Promise<T> {
    try {
      return await work()
    } catch (error) {
      left?.throwIfAborted()
      throw this.report(name, error)
    }
  }

  report(name: string, error: unknown): Error {
    const fault = translate(name, error)
    this.#onFault(name, fault)
    return fault
  }

  /**
   * Runs an operation when it is its client's turn.
   * @param bytes that it moves, which extend the deadline
   */
  async operate<T>(
    name: string,
    bytes: number,
    work: (operation: Operation) => Promise<T>,
    { client, signal: left }: Caller = SERVICE,
  ): Promise<T> {
    const ms = this.#options.totalMs + (bytes / this.#options.minBytesPerSecond) * 1_000
    const release = await this.#slots.take(client, left)
    try {
      const run = () => withDeadline(ms, (signal) => work({ name, signal }), left)
      return await this.observed(name, run, left)
    } finally {
      release()
    }
  }

  /** Sends a command, with the retries of the SDK. */
  send<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    { name, signal }: Operation,
    command: Command<Input, Output>,
    { sha256, openBody, client = this.#client, previousAttempts = 0 }: SendOptions = {},
  ): Promise<Output> {
    let attempt = previousAttempts
    command.middlewareStack.add(
      (next) => (args) => {
        if (sha256 !== undefined && HttpRequest.isInstance(args.request))
          args.request.headers['x-amz-content-sha256'] = sha256
        return next(args)
      },
      { step: 'build', name: 'signDigest' },
    )
    command.middlewareStack.add(
      (next) => async (args) => {
        this.#onAttempt(name, ++attempt)
        if (openBody === undefined || !HttpRequest.isInstance(args.request)) return next(args)
        const request = HttpRequest.clone(args.request)
        const body = openBody()
        request.body = body
        const broken = new Promise<never>((_, reject) => body.once('error', reject))
        try {
          return await Promise.race([next({ ...args, request }), broken])
        } finally {
          body.destroy()
        }
      },
      { step: 'finalizeRequest', priority: 'low', name: 'onAttempt' },
    )
    return client.send(command, { abortSignal: signal })
  }

  /** Returns the headers of an object. Undefined if there is none. */
  async head(key: string, operation: Operation): Promise<HeadObjectCommandOutput | undefined> {
    try {
      return await this.send(operation, new HeadObjectCommand(this.objectOf(key)))
    } catch (error) {
      if (isNamed(error, 'NotFound', 'NoSuchKey')) return undefined
      throw error
    }
  }

  /** Removes an object if there is one. */
  async remove(key: string, operation: Operation): Promise<void> {
    try {
      await this.send(operation, new DeleteObjectCommand(this.objectOf(key)))
    } catch (error) {
      if (!isNamed(error, 'NoSuchKey')) throw error
    }
  }

  /**
   * Requests an object and hands its body to `use`, again if the body breaks off or is damaged: the SDK retries a request only
   * until its answer begins. Undefined if there is no such object.
   * @param options `size`: the length that the body must have. `isStream`: it is read slowly, at a client's pace. `range`: as in
   * the header `Range`
   */
  async download<T>(
    key: string,
    operation: Operation,
    use: (found: Download) => Promise<T>,
    { size, isStream = false, range }: DownloadOptions = {},
  ): Promise<T | undefined> {
    const client = isStream ? this.#streaming : this.#client
    for (let attempt = 1; ; attempt++) {
      const command = new GetObjectCommand({
        ...this.objectOf(key),
        ...(range !== undefined && { Range: range }),
      })
      let found
      try {
        found = await this.send(operation, command, { client, previousAttempts: attempt - 1 })
      } catch (error) {
        if (isNamed(error, 'NoSuchKey')) return undefined
        if (isNamed(error, 'InvalidRange')) throw new BlobDamaged(`${key} has no ${range}`)
        throw error
      }
      const { Body, ContentLength } = found
      if (!(Body instanceof Readable)) throw new Error('an answer without a body')
      // Without a listener, a body that breaks before `use` reads it would end the process.
      Body.on('error', () => {})
      try {
        if (ContentLength === undefined) throw new BlobDamaged(`${key} has no known length`)
        if (size !== undefined && ContentLength !== size)
          throw new BlobDamaged(`${key} has ${ContentLength} bytes, not ${size}`)
        return await use({ ...found, Body, ContentLength })
      } catch (error) {
        Body.destroy()
        const isLast = attempt >= this.#options.maxAttempts || operation.signal.aborted
        if (isLast || !isTransient(error)) throw error
      }
    }
  }

  /** Lists the objects whose name starts with `start`, page by page. @param delimiter ends names that are not listed further */
  async *list(
    operation: string,
    start: string,
    delimiter?: string,
  ): AsyncGenerator<{ readonly name: string; readonly writtenAt: number }> {
    const { bucket, prefix } = this.location
    let token: string | undefined
    do {
      const input = {
        Bucket: bucket,
        Prefix: prefix + start,
        Delimiter: delimiter,
        MaxKeys: this.#options.pageSize,
        ContinuationToken: token,
      }
      const page = await this.operate(operation, 0, (one) => this.send(one, new ListObjectsV2Command(input)))
      for (const { Key, LastModified } of page.Contents ?? []) {
        if (Key === undefined || Key === prefix || LastModified === undefined) continue
        yield { name: Key.slice(prefix.length), writtenAt: LastModified.getTime() }
      }
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined
    } while (token !== undefined)
  }

  close(): void {
    this.#client.destroy()
    this.#streaming.destroy()
  }
}
