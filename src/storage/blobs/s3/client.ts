import { randomUUID } from 'node:crypto'
import {
  DeleteObjectCommand,
  GetBucketVersioningCommand,
  PutObjectCommand,
  GetObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { isDiskError, OverloadError } from '../../../lib/errors.ts'
import { type BlobAddress, BlobDamaged } from '../blob-store.ts'
import type { S3Location } from './location.ts'

const CONNECT_MS = 3_000
const KEEP_ALIVE_MS = 10_000
const NO_LOG = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

/** Presigned URLs are signed for times this far apart, so that they repeat and caches recognise them. */
const PRESIGN_WINDOW_SECONDS = 300
/** How long a URL stays valid after it was last returned. */
const PRESIGN_GRACE_SECONDS = 60

/** Times in milliseconds. */
export interface ClientOptions {
  readonly maxSockets: number
  /** Attempts of one request, retries included, until its answer begins. */
  readonly maxAttempts: number
  /** A request fails after this long without a byte in either direction, also in the body of its answer. */
  readonly silenceMs?: number
  /** A request fails if its answer has not begun after this long. */
  readonly headMs?: number
}

/** Opens connections to an S3 store. Credentials come from the usual AWS variables, files or the machine's role. */
export function openClient(
  location: S3Location,
  { maxSockets, maxAttempts, silenceMs = 0, headMs = 0 }: ClientOptions,
): S3Client {
  // Gateways close idle connections: closing them first avoids losing a request on one.
  const agent = { keepAlive: true, maxSockets, timeout: KEEP_ALIVE_MS }
  const region = location.region ?? (location.endpoint === undefined ? undefined : 'us-east-1')
  return new S3Client({
    ...(region === undefined ? {} : { region }),
    ...(location.endpoint === undefined ? {} : { endpoint: location.endpoint }),
    forcePathStyle: location.pathStyle,
    maxAttempts,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      socketTimeout: silenceMs,
      requestTimeout: headMs,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
      logger: NO_LOG,
    },
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

const SILENCE_MS = 4_000

/** Finds out by writing and removing a small object what an object store can do. */
export async function probeS3(
  location: S3Location,
): Promise<{ readonly hasConditionalWrites: boolean; readonly hasVersioning: boolean }> {
  const client = openClient(location, {
    maxSockets: 2,
    maxAttempts: 2,
    silenceMs: SILENCE_MS,
    headMs: SILENCE_MS,
  })
  const object = { Bucket: location.bucket, Key: `${location.prefix}probe-${randomUUID()}` }
  try {
    await client.send(new PutObjectCommand({ ...object, Body: 'probe' }))
    const hasConditionalWrites = await client
      .send(new PutObjectCommand({ ...object, Body: 'again', IfNoneMatch: '*' }))
      .then(
        () => false,
        (error: unknown) => {
          if (isNamed(error, 'PreconditionFailed')) return true
          throw error
        },
      )
    // Keys often lack the right to ask.
    const versioning = await client
      .send(new GetBucketVersioningCommand({ Bucket: location.bucket }))
      .catch(() => undefined)
    return { hasConditionalWrites, hasVersioning: versioning?.Status === 'Enabled' }
  } finally {
    await client.send(new DeleteObjectCommand(object)).catch(() => {})
    client.destroy()
  }
}

/** The store did not answer in time, or in a form that it should not have. */
export class StoreFault extends Error {}

/** The store is unreachable, overloaded or failing. The same request may succeed a little later. */
export class StoreUnavailable extends OverloadError {
  constructor(reason: Error) {
    super()
    this.cause = reason
  }
}

/** Codes of refusals that the same request may not meet again: corruption in transit, and conflicts with another attempt. */
const PASSING = [
  'BadDigest',
  'ConditionalRequestConflict',
  'OperationAborted',
  'RequestTimeout',
  'XAmzContentSHA256Mismatch',
]

export const isNamed = (error: unknown, ...names: readonly string[]): boolean =>
  error instanceof Error && names.includes(error.name)

/** Returns whether the same operation may succeed later. */
function isTransient(error: Error): boolean {
  if (error instanceof StoreFault || isNamed(error, ...PASSING)) return true
  const status = toMetadata(error, 'httpStatusCode')
  // Without an answer, the network failed, or the disk that a copy is written to.
  if (status === 0) return isNamed(error, 'TimeoutError') || ('code' in error && !isDiskError(error))
  // 501 means that the gateway will never do it.
  return (status >= 500 && status !== 501) || status === 429
}

/**
 * Returns the error that a caller may see. Errors of the SDK carry the signed request, which must not reach a log, so
 * only their text is kept.
 */
export function translate(operation: string, error: unknown): Error {
  if (error instanceof OverloadError || error instanceof BlobDamaged) return error
  if (!(error instanceof Error)) return new Error(`S3 ${operation}: unknown fault`)
  const described = new Error(`S3 ${operation}: ${describe(error)}`)
  return isTransient(error) ? new StoreUnavailable(described) : described
}

/** What is wrong with the settings, for error codes that do not say it. */
const HINTS: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket does not exist',
  InvalidAccessKeyId: 'the store does not know the access key',
  SignatureDoesNotMatch: 'the secret key is not the one of the access key',
  AccessDenied: 'the access key has not the rights that are needed on the bucket',
  CredentialsProviderError: 'there is no access key in the AWS variables, files or machine role',
  PermanentRedirect: 'the bucket is in another region, or at another endpoint',
  AuthorizationHeaderMalformed: 'the bucket is in another region',
  RequestTimeTooSkewed: 'the clock of this machine is wrong',
}

function describe(error: Error): string {
  const status = toMetadata(error, 'httpStatusCode')
  const code = 'code' in error && typeof error.code === 'string' ? [error.code] : []
  const known = [error.name, ...(status > 0 ? [`status ${status}`] : []), ...code]
  return `${known.join(', ')}: ${HINTS[error.name] ?? error.message}`
}

/** How many times the SDK sent the request that failed with this error. */
export const getAttempts = (error: unknown): number =>
  error instanceof Error ? Math.max(1, toMetadata(error, 'attempts')) : 1

/** What the SDK notes about an answer; 0 if there was none. */
function toMetadata(error: Error, field: 'httpStatusCode' | 'attempts'): number {
  const metadata: unknown = '$metadata' in error ? error.$metadata : undefined
  if (typeof metadata !== 'object' || metadata === null) return 0
  const value = new Map(Object.entries(metadata)).get(field)
  return typeof value === 'number' ? value : 0
}
