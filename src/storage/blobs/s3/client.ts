import { addAbortListener } from 'node:events'
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
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

/** Opens connections to an S3 store. Credentials come from the usual AWS variables, files or the machine's role. */
export function openClient(
  location: S3Location,
  { maxSockets, maxAttempts, silenceMs, headMs }: ClientOptions,
): S3Client {
  // Gateways close idle connections: closing them first avoids losing a request on one.
  const agent = { keepAlive: true, maxSockets, timeout: KEEP_ALIVE_MS }
  const region = location.region ?? (location.endpoint === undefined ? undefined : 'us-east-1')
  return new S3Client({
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

/**
 * Returns a URL where anybody may fetch the object for a short while. It fixes the headers that the store sends, so that
 * the object is never taken for anything but an image.
 */
export async function presign(
  client: S3Client,
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
  const url = await getSignedUrl(client, command, {
    signingDate: new Date(signedAt),
    expiresIn: PRESIGN_WINDOW_SECONDS + PRESIGN_GRACE_SECONDS,
  })
  return { url, seconds: Math.max(1, Math.floor((signedAt + window - now) / 1_000)) }
}

/**
 * Runs `work` with a signal that aborts after `ms`, or when `left` does. Rejects shortly after that even if `work` does not react,
 * as while the SDK waits for credentials.
 */
export async function withDeadline<T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  left?: AbortSignal,
): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const expired = Promise.withResolvers<never>()
  const end = () => {
    clearTimeout(timer)
    controller.abort()
    timer = setTimeout(() => expired.reject(new Error('the deadline has passed')), CLEANUP_MS)
  }
  let timer = setTimeout(end, ms)
  using _listener = left && addAbortListener(left, end)
  try {
    return await Promise.race([work(signal), expired.promise])
  } catch (error) {
    // An abort shows in many different errors.
    throw signal.aborted ? new StoreTimeout(`no answer within ${ms} ms`) : error
  } finally {
    // The signal must not abort later: it would break a body that is still being read.
    clearTimeout(timer)
  }
}
