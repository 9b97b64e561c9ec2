/**
 * A refusal that the client is told about: an HTTP status and a Spanish message, plus the fields that
 * an endpoint's failed answer carries beside them. Anything else that is thrown is an unexpected fault
 * and reaches the client only as a general 500.
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

  /** The answer's body: the contract's `{status, msg}` with the endpoint's own fields between them. */
  body(): Record<string, unknown> {
    return { status: this.status, ...this.fields, msg: this.message }
  }
}

/** A queue is full or a wait ran out: the same request may succeed a little later. */
export class OverloadError extends HttpError {
  constructor(retryAfterSeconds = 1) {
    super(503, 'El servicio está saturado, inténtelo de nuevo', {
      headers: { 'retry-after': String(retryAfterSeconds) },
    })
  }
}
