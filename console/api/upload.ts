import { apiUrl, ConnectionError, failureOf, type QueryValues } from './client.ts'
import { markConnected, markDisconnected } from './connection.ts'
import { keyFor, serviceOf } from './session.ts'

/** How long a request may make no progress: longer than the service takes for its answer. */
const TIMEOUT_MS = 125_000

interface UploadOptions {
  readonly query?: QueryValues
  readonly signal: AbortSignal
  /** Called with the share of the body that is sent. */
  readonly onProgress: (share: number) => void
}

/** Browsers report a folder, or a file that was changed or deleted, as they report a lost connection. */
export const isReadable = (file: File): Promise<boolean> =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      ({ byteLength }) => byteLength > 0,
      () => false,
    )

/**
 * Sends a form with a file. Not with `fetch`, which does not report upload progress.
 * @throws ApiError, ConnectionError, and an error once the signal aborts
 */
export function uploadForm(
  path: string,
  body: FormData,
  { query, signal, onProgress }: UploadOptions,
): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const request = new XMLHttpRequest()
    // The address of a ticket needs no key.
    const key = path.startsWith('/api/') ? keyFor(serviceOf(path)) : undefined
    request.open('POST', apiUrl(path, { ...query, api: key }))
    const lose = () => {
      markDisconnected()
      reject(new ConnectionError())
      request.abort()
    }
    let timer = setTimeout(lose, TIMEOUT_MS)
    const progress = (share: number) => {
      clearTimeout(timer)
      timer = setTimeout(lose, TIMEOUT_MS)
      onProgress(share)
    }
    request.onloadend = () => clearTimeout(timer)
    request.onabort = () => reject(new Error('aborted', { cause: signal.reason }))
    signal.addEventListener('abort', () => request.abort())
    request.upload.onprogress = ({ loaded, total }) => progress(total === 0 ? 0 : loaded / total)
    request.upload.onload = () => progress(1)
    request.onerror = lose
    request.onload = () => {
      markConnected(request.status)
      const answer = readJson(request.responseText)
      if (request.status < 300 && answer !== undefined) resolve(answer)
      else reject(failureOf(path, key, request.status, answer, request.getResponseHeader('retry-after')))
    }
    request.send(body)
  })
}

function readJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
