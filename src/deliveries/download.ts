import type { IncomingMessage } from 'node:http'
import { isDiskError, ListFault } from '../lib/errors.ts'
import type { StagedFile, Staging } from '../storage/blobs/staging.ts'
import { ForbiddenAddressError, readTarget, sendRequest, type Receivers } from './http-client.ts'

const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const MAX_VALIDATOR_CHARACTERS = 1_000

export const WEB_PAGE = 'Es una página web'
export const tooLarge = (maxBytes: number) =>
  `Tiene más de ${Number((maxBytes / (1024 * 1024)).toFixed(2))} MiB`

export interface DownloadLimits {
  /** Maximum size of the response as sent, and of a list after decompression. */
  readonly maxBytes: number
  /** Timeout for the head of the response, and between two chunks of its body. */
  readonly silenceMs: number
  /** Timeout for everything, redirects included. */
  readonly totalMs: number
}

export const DOWNLOAD_LIMITS: DownloadLimits = {
  maxBytes: 256 * 1024 * 1024,
  silenceMs: 30_000,
  totalMs: 5 * 60_000,
}

export interface DownloadOptions extends Receivers {
  readonly staging: Pick<Staging, 'write'>
  readonly userAgent: string
  readonly limits?: DownloadLimits
}

/** Validators of a version of a file (RFC 9110, section 8.8). */
export interface Validators {
  readonly etag: string | null
  readonly lastModified: string | null
}

export type Download =
  | { readonly kind: 'unchanged' }
  | {
      readonly kind: 'downloaded'
      readonly file: StagedFile
      readonly validators: Validators
      /** Whether the response said where it ends. Otherwise it may be incomplete. */
      readonly isDelimited: boolean
    }

/**
 * Downloads a file into a temporary file, unless it is the version that the validators name. Checks the address of
 * every redirect like the first one.
 * @throws ListFault if the file could not be downloaded completely
 */
export async function download(
  url: string,
  known: Validators,
  options: DownloadOptions,
  signal: AbortSignal,
): Promise<Download> {
  const limits = options.limits ?? DOWNLOAD_LIMITS
  const total = AbortSignal.timeout(limits.totalMs)
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(), limits.silenceMs)
  const any = AbortSignal.any([signal, total, silence.signal])
  let isConnected = false
  try {
    return await follow(url, known, options, any, async (response) => {
      isConnected = true
      return receive(response, options.staging, limits.maxBytes, () => timer.refresh())
    })
  } catch (error) {
    if (signal.aborted || error instanceof ListFault) throw error
    throw new ListFault(reasonOf(error), { cause: error })
  } finally {
    clearTimeout(timer)
  }

  function reasonOf(error: unknown): string {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    if (total.aborted) return 'La descarga no terminó a tiempo'
    if (silence.signal.aborted) return 'El servidor dejó de responder'
    if (error instanceof ForbiddenAddressError) return NOT_ALLOWED
    if (isDiskError(error)) return `No se pudo guardar la descarga${code}`
    return isConnected ? 'La descarga se cortó antes del final' : `No se pudo conectar con el servidor${code}`
  }
}

const NOT_ALLOWED = 'La dirección no está permitida'

async function follow(
  first: string,
  known: Validators,
  options: DownloadOptions,
  signal: AbortSignal,
  take: (response: IncomingMessage) => Promise<Download>,
): Promise<Download> {
  let url = new URL(first)
  for (let redirects = 0; ; redirects++) {
    if (!readTarget(url.href, options.isAllowedAddress).ok) throw new ListFault(NOT_ALLOWED)
    const headers = {
      'user-agent': options.userAgent,
      'accept-encoding': 'gzip',
      ...(known.etag !== null && { 'if-none-match': known.etag }),
      ...(known.lastModified !== null && { 'if-modified-since': known.lastModified }),
    }
    const response = await sendRequest(url, { headers }, options, signal)
    try {
      const { statusCode: code = 0 } = response
      if (code === 200) return await take(response)
      if (code === 304 && (known.etag !== null || known.lastModified !== null)) return { kind: 'unchanged' }
      if (!REDIRECTS.has(code) || response.headers.location === undefined)
        throw new ListFault(`El servidor respondió con el código ${code}`)
      url = redirected(url, response.headers.location)
    } finally {
      response.destroy()
    }
    if (redirects === MAX_REDIRECTS) throw new ListFault('El servidor redirige demasiadas veces')
  }
}

function redirected(from: URL, location: string): URL {
  const to = URL.parse(location, from.href)
  if (to === null) throw new ListFault('El servidor redirige a una dirección que no es válida')
  if (from.protocol === 'https:' && to.protocol !== 'https:')
    throw new ListFault('El servidor redirige de https a una dirección sin cifrar')
  return to
}

async function receive(
  response: IncomingMessage,
  staging: DownloadOptions['staging'],
  maxBytes: number,
  received: () => void,
): Promise<Download> {
  const { headers } = response
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (!/^(x-)?gzip$|^identity$/.test(encoding))
    throw new ListFault(`El servidor usa una compresión desconocida (${encoding.slice(0, 20)})`)
  if (/html/i.test(headers['content-type'] ?? '')) throw new ListFault(WEB_PAGE)
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw new ListFault(tooLarge(maxBytes))
  let bytes = 0
  async function* pieces() {
    received()
    for await (const piece of response) {
      if (!(piece instanceof Uint8Array)) continue
      received()
      bytes += piece.byteLength
      if (bytes > maxBytes) throw new ListFault(tooLarge(maxBytes))
      yield piece
    }
    if (!response.complete) throw new Error('the response is incomplete')
  }
  const file = await staging.write(pieces())
  // If the body ends with the connection, the next download must not get "not modified".
  const isDelimited = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  const validator = (text: string | undefined) =>
    isDelimited && text !== undefined && text.length <= MAX_VALIDATOR_CHARACTERS ? text : null
  const validators = { etag: validator(headers.etag), lastModified: validator(headers['last-modified']) }
  return { kind: 'downloaded', file, validators, isDelimited }
}
