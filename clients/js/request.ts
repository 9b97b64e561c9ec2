import type { ErrorCode } from './schema.ts'

export interface RetryOptions {
  /** How often a request is repeated that the service answers with 429 or 503. Default: 4. */
  readonly retries?: number
  /** The longest time to wait before a repetition. Default: 60. */
  readonly maxWaitSeconds?: number
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** An error response of the service, or of a proxy in front of it. */
export class CatalejoError extends Error {
  readonly status: number
  /** Undefined if the response is not of the service. */
  readonly code: ErrorCode | undefined
  /** All fields of the response, such as `reason` or `errors`. */
  readonly answer: Readonly<Record<string, unknown>>

  constructor(status: number, answer: Readonly<Record<string, unknown>>) {
    super(typeof answer['msg'] === 'string' ? answer['msg'] : `status ${status}`)
    this.status = status
    this.code = answer['code'] as ErrorCode | undefined
    this.answer = answer
  }
}

interface Sending {
  readonly method: string
  readonly body?: string | FormData
  readonly headers?: Readonly<Record<string, string>>
  readonly options: RequestOptions
}

/** Sends a request, and repeats it after 429 and 503. */
export async function send(
  address: URL,
  { method, body, headers, options }: Sending,
  { retries = 4, maxWaitSeconds = 60 }: RetryOptions = {},
): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(address, {
      method,
      headers: { ...headers, ...options.headers },
      ...(body === undefined ? {} : { body }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
    if (response.ok) return response
    const answer = toObject(await response.text().catch(() => ''))
    const seconds = Number(response.headers.get('retry-after') ?? 2 ** attempt)
    const isBusy = response.status === 429 || response.status === 503
    if (!isBusy || attempt >= retries || !(seconds <= maxWaitSeconds))
      throw new CatalejoError(response.status, answer)
    await wait(seconds * 1_000, options.signal)
  }
}

/** A proxy may answer with something other than JSON. */
function toObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** JSON, or `multipart/form-data` if there is a file. */
export function toBody(
  fields: readonly (readonly [string, unknown])[],
): Required<Pick<Sending, 'body' | 'headers'>> {
  if (!fields.some(([, value]) => value instanceof Blob))
    return {
      body: JSON.stringify(Object.fromEntries(fields)),
      headers: { 'content-type': 'application/json' },
    }
  const form = new FormData()
  for (const [field, value] of fields) {
    if (value instanceof Blob) form.set(field, value)
    else if (value !== false) form.set(field, value === true ? '1' : toText(value))
  }
  return { body: form, headers: {} }
}

export const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Rejects with the reason of the signal if it is aborted meanwhile. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      if (signal?.aborted === true)
        reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
      else resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    if (signal?.aborted === true) end()
  })
}
