import { isDiskError, OverloadError } from '../../../lib/errors.ts'
import { BlobDamaged } from '../blob-store.ts'

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
