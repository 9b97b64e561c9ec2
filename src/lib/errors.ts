/** Error codes of a disk that is full, fails or cannot be written. */
const DISK_CODES = ['EACCES', 'EDQUOT', 'EIO', 'ENOSPC', 'EPERM', 'EROFS']

/** Whether an error has one of these codes of the system or of Node. */
export const isErrorCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))

/** Returns what was thrown as an error. */
export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

/** Whether an error affects a whole disk and not only one file. */
export const isDiskError = (error: unknown): error is Error => isErrorCode(error, ...DISK_CODES)

interface ErrorExtra {
  readonly fields?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * An error that is reported to the client: an HTTP status, a stable code for programs, a Spanish message for people, and further
 * fields of the endpoint's error body. Any other error is unexpected and reaches the client as a general 500.
 */
export class HttpError extends Error {
  readonly status: number
  readonly code: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, message: string, extra: ErrorExtra = {}) {
    super(message)
    this.status = status
    this.code = code
    this.fields = extra.fields ?? {}
    this.headers = extra.headers ?? {}
  }

  /** Returns the same error with further fields of the body, or headers. */
  with({ fields, headers }: ErrorExtra): HttpError {
    return new HttpError(this.status, this.code, this.message, {
      fields: { ...this.fields, ...fields },
      headers: { ...this.headers, ...headers },
    })
  }

  /** The body of the answer: `{status, msg, code}`, with the further fields after the status. */
  body(): Record<string, unknown> {
    return { status: this.status, ...this.fields, msg: this.message, code: this.code }
  }
}

/** Errors by their code: the status, and the message or a function that writes it. */
type ErrorTable = Readonly<
  Record<string, readonly [status: number, message: string | ((...details: never[]) => string)]>
>
export type DeclaredErrors<T extends ErrorTable> = {
  readonly [Code in keyof T]: (
    ...details: T[Code][1] extends (...details: infer D) => string ? D : []
  ) => HttpError
}

/** Declares the errors of a part. `declareErrors({ no_key: [401, 'Falta la clave'] }).no_key()` is a new error of that code. */
export function declareErrors<const T extends ErrorTable>(table: T): DeclaredErrors<T> {
  const errors = Object.entries(table).map(([code, [status, message]]) => [
    code,
    (...details: never[]) =>
      new HttpError(status, code, typeof message === 'string' ? message : message(...details)),
  ])
  // Built row by row from the table, as the mapped type says.
  return Object.fromEntries(errors) as DeclaredErrors<T>
}

/** Errors that any part may throw. */
export const commonErrors = declareErrors({
  too_many_requests: [429, 'Demasiadas solicitudes'],
  overloaded: [503, 'El servicio está saturado, inténtelo de nuevo'],
})

/** A client exceeds its rate. */
export const tooManyRequests = (retryAfterSeconds = 1): HttpError =>
  commonErrors.too_many_requests().with({ headers: { 'retry-after': String(retryAfterSeconds) } })

/** A queue is full or a wait timed out: the same request may succeed a little later. */
export class OverloadError extends HttpError {
  constructor(retryAfterSeconds = 1) {
    const { status, code, message } = commonErrors.overloaded()
    super(status, code, message, { headers: { 'retry-after': String(retryAfterSeconds) } })
  }
}

export const isOverload = (error: unknown): boolean => error instanceof OverloadError

/** Why a file could not be fetched, or a list imported, in Spanish. */
export class ListFault extends Error {}
