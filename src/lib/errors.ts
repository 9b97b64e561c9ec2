/** Error codes of a disk that is full, fails or cannot be written. */
const DISK_CODES = ['EACCES', 'EDQUOT', 'EIO', 'ENOSPC', 'EPERM', 'EROFS']

/** Whether an error has one of these codes of the system or of Node. */
export const isErrorCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))

/** Returns what was thrown as an error. */
export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

/** Whether an error affects a whole disk and not only one file. */
export const isDiskError = (error: unknown): error is Error => isErrorCode(error, ...DISK_CODES)

/**
 * An error that is reported to the client: an HTTP status, a Spanish message, and further fields of the endpoint's error body.
 * Any other error is unexpected and reaches the client as a general 500.
 */
export class HttpError extends Error {
  readonly status: number
  readonly fields: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    message: string,
    extra: { fields?: Record<string, unknown>; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.status = status
    this.fields = extra.fields ?? {}
    this.headers = extra.headers ?? {}
  }

  /** The body of the answer: `{status, msg}` with the further fields in between. */
  body(): Record<string, unknown> {
    return { status: this.status, ...this.fields, msg: this.message }
  }
}

/** A client exceeds its rate. */
export const tooManyRequests = (retryAfterSeconds = 1): HttpError =>
  new HttpError(429, 'Demasiadas solicitudes', { headers: { 'retry-after': String(retryAfterSeconds) } })

/** What clients read when the service has too much to do. */
export const OVERLOADED = 'El servicio está saturado, inténtelo de nuevo'

/** A queue is full or a wait timed out: the same request may succeed a little later. */
export class OverloadError extends HttpError {
  constructor(retryAfterSeconds = 1) {
    super(503, OVERLOADED, { headers: { 'retry-after': String(retryAfterSeconds) } })
  }
}

export const isOverload = (error: unknown): boolean => error instanceof OverloadError
