import { OverloadError } from '../../../lib/errors.ts'
import { BlobDamaged } from '../damaged.ts'

/** The store was silent for too long. */
export class Silence extends Error {}

/** A body ended before, or went on after, the length that was announced. */
export class WrongLength extends Error {}

/** The store cannot be reached, is overloaded or fails; the same request may succeed a little later. */
export class StoreUnavailable extends OverloadError {
  constructor(reason: Error) {
    super()
    this.cause = reason
  }
}

/** Answers below 500 that trying again may cure. */
const PASSING_NAMES = new Set([
  'BadDigest',
  'ConditionalRequestConflict',
  'OperationAborted',
  'RequestTimeout',
  'SlowDown',
  'ThrottlingException',
  'TimeoutError',
  'TooManyRequestsException',
  'XAmzContentSHA256Mismatch',
])

const PASSING_CODES = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ETIMEDOUT',
  'HPE_INVALID_CONSTANT',
  'HPE_INVALID_EOF_STATE',
])

/** Whether the same request may succeed when it is sent again. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof Silence || error instanceof WrongLength || error instanceof BlobDamaged) return true
  if (PASSING_NAMES.has(error.name) || PASSING_CODES.has(codeOf(error))) return true
  const status = statusOf(error)
  // 501 is what a gateway says to something that it will never do.
  return status === 429 || (status >= 500 && status !== 501)
}

export const isNamed = (error: unknown, ...names: readonly string[]): boolean =>
  error instanceof Error && names.includes(error.name)

/**
 * What the caller is told. The client library's own errors carry the signed request with them, which no log
 * should come to see, so only their texts are kept.
 */
export function translate(operation: string, error: unknown): Error {
  if (error instanceof OverloadError || error instanceof BlobDamaged) return error
  const told = new Error(`S3 ${operation}: ${describe(error)}`)
  return isPassing(error) ? new StoreUnavailable(told) : told
}

/** What is wrong with the settings, in words: stores say it in codes, and clients of theirs often not at all. */
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

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown fault'
  const hint = HINTS[error.name]
  const status = statusOf(error)
  const code = codeOf(error)
  const known = [error.name, ...(status > 0 ? [`status ${status}`] : []), ...(code === '' ? [] : [code])]
  return `${known.join(', ')}: ${hint ?? error.message}`
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** The status that the library keeps in `$metadata`; 0 when there was no answer. */
function statusOf(error: Error): number {
  const metadata = '$metadata' in error ? error.$metadata : undefined
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return 0
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : 0
}
