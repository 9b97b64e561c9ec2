import { isThrottlingError, isTransientError as isTransientForSdk } from '@smithy/core/retry'
import { OverloadError } from '../../../lib/errors.ts'
import { BlobDamaged } from '../blob-store.ts'

/** The store or the reader of a stream made no progress for too long. */
export class StoreTimeout extends Error {}

/** The store is unreachable, overloaded or failing. The same request may succeed a little later. */
export class StoreUnavailable extends OverloadError {
  constructor(reason: Error) {
    super()
    this.cause = reason
  }
}

/** Errors worth a retry that the SDK does not retry: corruption in transit, and conflicts with an earlier attempt. */
const RETRYABLE = new Set([
  'BadDigest',
  'ConditionalRequestConflict',
  'ECONNABORTED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'HPE_INVALID_CONSTANT',
  'HPE_INVALID_EOF_STATE',
  'OperationAborted',
  'XAmzContentSHA256Mismatch',
])

type SdkError = Parameters<typeof isTransientForSdk>[0]

/** The remaining fields of the SDK's errors are optional. */
const isSdkError = (error: Error): error is SdkError =>
  error.cause === undefined || error.cause instanceof Error

export const isRetryable = (error: Error): boolean =>
  RETRYABLE.has(error.name) ||
  RETRYABLE.has(codeOf(error)) ||
  (isSdkError(error) && (isThrottlingError(error) || isTransientForSdk(error)))

/** Returns whether the same operation may succeed later, even if no retry is left. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof StoreTimeout || error instanceof BlobDamaged || isRetryable(error)) return true
  const status = statusOf(error)
  // 501 means that the gateway will never do it.
  return status >= 500 && status !== 501
}

export const isNamed = (error: unknown, ...names: readonly string[]): boolean =>
  error instanceof Error && names.includes(error.name)

/**
 * Returns the error that a caller may see. Errors of the SDK carry the signed request, which must not reach a log, so
 * only their text is kept.
 */
export function translate(operation: string, error: unknown): Error {
  if (error instanceof OverloadError || error instanceof BlobDamaged) return error
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

/** The HTTP status that the SDK keeps in `$metadata`; 0 if there was no answer. */
const statusOf = (error: Error): number => metadataOf(error, 'httpStatusCode')

/** How many times the SDK sent the request that failed with this error. */
export const attemptsOf = (error: Error): number => metadataOf(error, 'attempts')

function metadataOf(error: Error, field: 'httpStatusCode' | 'attempts'): number {
  const metadata: unknown = '$metadata' in error ? error.$metadata : undefined
  if (typeof metadata !== 'object' || metadata === null) return 0
  const value = new Map(Object.entries(metadata)).get(field)
  return typeof value === 'number' ? value : 0
}
