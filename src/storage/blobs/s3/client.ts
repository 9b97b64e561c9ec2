import type { Readable } from 'node:stream'
import {
  GetObjectCommand,
  S3Client,
  type $Command,
  type S3ClientResolvedConfig,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { HttpRequest } from '@smithy/core/protocols'
import { StandardRetryStrategy } from '@smithy/core/retry'
import type { BlobAddress } from '../blob-store.ts'
import { isRetryable, StoreTimeout } from './errors.ts'
import type { S3Location } from './location.ts'

const CONNECT_MS = 3_000
const KEEP_ALIVE_MS = 10_000
/** Time for aborted work to remove its temporary files. */
const CLEANUP_MS = 250
const NO_LOG = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

/** Presigned URLs are signed for times this far apart, so that they repeat and caches recognise them. */
const PRESIGN_WINDOW_SECONDS = 300
/** How long a URL stays valid after it was last returned. */
const PRESIGN_GRACE_SECONDS = 60

export interface ClientOptions {
  readonly maxSockets: number
  readonly maxAttempts: number
  /** An attempt fails after this long without a byte in either direction, also in its answer's body. Milliseconds. */
  readonly silenceMs?: number
  /** Limits only the time until the head of the answer, whose body may be read slowly. Milliseconds. */
  readonly headMs?: number
}

export interface SendOptions {
  readonly signal: AbortSignal
  /** Called before each attempt, counted from 1. */
  readonly onAttempt?: (number: number) => void
  /**
   * SHA-256 of the body in hexadecimal, to sign a put with. All stores that know version 4 signatures compare it with what
   * arrives, while few know checksum headers; the SDK alone would not sign the content of a stream.
   */
  readonly sha256?: string
  /** Opens the body for each attempt. The SDK does not retry a request whose body is a stream. */
  readonly openBody?: () => Readable
}

export type S3Command<Input extends ServiceInputTypes, Output extends ServiceOutputTypes> = $Command<
  Input,
  Output,
  S3ClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes
>

/** The SDK's standard retries, extended by the errors of `isRetryable`. */
class RetryStrategy extends StandardRetryStrategy {
  override refreshRetryTokenForRetry(
    ...[token, info]: Parameters<StandardRetryStrategy['refreshRetryTokenForRetry']>
  ) {
    const isMissed =
      info.errorType === 'CLIENT_ERROR' && info.error instanceof Error && isRetryable(info.error)
    return super.refreshRetryTokenForRetry(token, isMissed ? { ...info, errorType: 'TRANSIENT' } : info)
  }
}

/** Connections to an S3 store. Credentials come from the usual AWS variables, files or the machine's role. */
export class S3Connection {
  readonly #client: S3Client

  constructor(location: S3Location, { maxSockets, maxAttempts, silenceMs, headMs }: ClientOptions) {
    // Gateways close idle connections: closing them first avoids losing a request on one.
    const agent = { keepAlive: true, maxSockets, timeout: KEEP_ALIVE_MS }
    const region = location.region ?? (location.endpoint === undefined ? undefined : 'us-east-1')
    this.#client = new S3Client({
      ...(region === undefined ? {} : { region }),
      ...(location.endpoint === undefined ? {} : { endpoint: location.endpoint }),
      forcePathStyle: location.pathStyle,
      requestHandler: {
        connectionTimeout: CONNECT_MS,
        socketTimeout: silenceMs ?? 0,
        requestTimeout: headMs ?? 0,
        throwOnRequestTimeout: true,
        httpAgent: agent,
        httpsAgent: agent,
        logger: NO_LOG,
      },
      retryStrategy: new RetryStrategy(maxAttempts),
      // The SDK sends its own checksums in trailers, which older gateways reject with 411.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      // Costs a round trip and, in this SDK, a separate connection for each large upload.
      expectContinueHeader: false,
      logger: NO_LOG,
    })
  }

  /** Sends a command, with retries. */
  async send<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    command: S3Command<Input, Output>,
    { signal, onAttempt, sha256, openBody }: SendOptions,
  ): Promise<Output> {
    let attempt = 0
    if (sha256 !== undefined) {
      command.middlewareStack.add(
        (next) => (args) => {
          if (HttpRequest.isInstance(args.request)) args.request.headers['x-amz-content-sha256'] = sha256
          return next(args)
        },
        { step: 'build', name: 'signDigest' },
      )
    }
    command.middlewareStack.add(
      (next) => async (args) => {
        onAttempt?.(++attempt)
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
    return this.#client.send(command, { abortSignal: signal })
  }

  /**
   * Returns a URL where anybody may fetch the object for a short while. It fixes the headers that the store sends, so that
   * the object is never taken for anything but an image.
   */
  async presign(
    object: { readonly Bucket: string; readonly Key: string },
    mime: string,
    now: number = Date.now(),
  ): Promise<BlobAddress> {
    const window = PRESIGN_WINDOW_SECONDS * 1_000
    const signedAt = Math.floor(now / window) * window
    const command = new GetObjectCommand({
      ...object,
      ResponseContentType: mime,
      ResponseContentDisposition: 'inline',
      ResponseCacheControl: 'public, max-age=31536000, immutable',
    })
    const url = await getSignedUrl(this.#client, command, {
      signingDate: new Date(signedAt),
      expiresIn: PRESIGN_WINDOW_SECONDS + PRESIGN_GRACE_SECONDS,
    })
    return { url, seconds: Math.max(1, Math.floor((signedAt + window - now) / 1_000)) }
  }

  close(): void {
    this.#client.destroy()
  }
}

/**
 * Runs `work` with a signal that aborts after `ms`. Rejects shortly after that even if `work` does not react, as while the SDK
 * waits for credentials.
 */
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const abortTimer = setTimeout(() => controller.abort(), ms)
  const { signal } = controller
  let rejectTimer: NodeJS.Timeout | undefined
  const expired = new Promise<never>((_, reject) => {
    rejectTimer = setTimeout(reject, ms + CLEANUP_MS)
  })
  try {
    return await Promise.race([work(signal), expired])
  } catch (error) {
    // An abort shows in many different errors.
    throw signal.aborted ? new StoreTimeout(`no answer within ${ms} ms`) : error
  } finally {
    clearTimeout(abortTimer)
    clearTimeout(rejectTimer)
  }
}
