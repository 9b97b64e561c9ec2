import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib'
import { createdKey, type Audit } from '../http/auth/audit.ts'
import type { Service } from '../http/auth/key-limits.ts'
import { networkMatcher } from '../http/client.ts'
import { httpErrors } from '../http/errors.ts'
import { PRIVATE_HEADERS, matches } from '../http/headers.ts'
import type { HttpServer, HttpReply, HttpRequest } from '../http/server.ts'
import { declareErrors } from '../lib/errors.ts'

/** Errors of the sign-in by a proxy. */
const sessionErrors = declareErrors({
  sign_in_refused: [403, 'La sesión solo se abre desde la consola y a través del proxy configurado'],
  account_not_allowed: [403, (account: string) => `La cuenta ${account} no puede entrar a la consola`],
})

/** Every page load opens a session: an entry for each would hide the others. */
const RECORDED_EVERY_MS = 12 * 3_600_000

interface Session {
  readonly id: string
  readonly key: string
  readonly account: string
  readonly service: Service
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

export interface SessionOptions {
  /** The header in which a proxy names the account, in lower case; empty if no proxy signs in. */
  readonly authHeader: string
  readonly trustedProxies: readonly string[]
  /** Returns undefined if the account may not sign in. */
  readonly openSession: (account: string) => Promise<Session | undefined>
  readonly audit: Audit
}

/** Registers the sign-in of the console by a proxy that has authenticated the user. */
function sessionRoute(app: HttpServer, options: SessionOptions): void {
  const { authHeader, openSession, audit } = options
  if (authHeader === '') return
  const isTrusted = networkMatcher(options.trustedProxies)
  app.route({
    method: 'POST',
    url: '/console/session',
    schema: { hide: true },
    config: { hasCors: 'never' },
    handler: async ({ raw }, reply) => {
      // The console alone may open a session: a page of another origin would make the browser send the user's credentials.
      if (!isTrusted(raw.socket.remoteAddress ?? '') || raw.headers['sec-fetch-site'] !== 'same-origin')
        throw sessionErrors.sign_in_refused()
      const [value = '', ...others] = raw.headersDistinct[authHeader] ?? []
      // Node reads headers as Latin-1.
      const name = Buffer.from(value, 'latin1').toString().trim()
      if (name === '' || others.length > 0)
        throw httpErrors.bad_header(authHeader, 'debe venir exactamente una vez, con el nombre de la cuenta')
      const session = await openSession(name)
      if (session === undefined) throw sessionErrors.account_not_allowed(name)
      const { id, key, account, service, expiresAt } = session
      if (!(await audit.hasRecent(account, 'session.open', RECORDED_EVERY_MS)))
        await audit.record({ account, keyId: id }, 'session.open', createdKey(account, service, id))
      const expires = Math.floor(expiresAt / 1_000)
      return reply.headers(PRIVATE_HEADERS).send({ status: 200, key, account, service, expires })
    },
  })
}

export interface ConsoleSettings extends SessionOptions {
  /** The path of the service: empty, or with a leading slash and no trailing one. */
  readonly prefix: string
  readonly timeZone: string
  /** Where watches can send messages, as the API names the channels. */
  readonly channels: readonly string[]
}

/** Next to `src/` in a checkout and to `dist/` in a release. */
const FOLDER = fileURLToPath(new URL('../../assets/console/', import.meta.url))

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  woff2: 'font/woff2',
}

export interface Encoded {
  readonly bytes: Uint8Array
  readonly encoding: 'br' | 'gzip' | undefined
}

/** A file of the console, held in memory. All of them together take half a megabyte. */
export interface ConsoleFile {
  readonly type: string
  /** A digest of its content. */
  readonly tag: string
  /** Returns the smallest encoding that the client accepts. */
  encoded(acceptEncoding: string): Encoded
}

/** Loads all files, by their path under `/console/`. Texts are stored compressed by Brotli (`.br`). Empty if the console was not built. */
function loadFiles(settings: ConsoleSettings): ReadonlyMap<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>()
  if (!existsSync(FOLDER)) return files
  for (const entry of readdirSync(FOLDER, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(FOLDER.length).replaceAll('\\', '/')
    const bytes = readFileSync(path)
    if (name.endsWith('index.html.br'))
      files.set(name.slice(0, -3), page(name.slice(0, -3), brotliDecompressSync(bytes), settings))
    else if (name.endsWith('.br')) files.set(name.slice(0, -3), text(name.slice(0, -3), bytes))
    else files.set(name, plain(name, bytes))
  }
  return files
}

/** Inserts the path prefix and what the console has to know of the settings into the page. */
function page(
  name: string,
  bytes: Buffer,
  { authHeader, channels, prefix, timeZone }: ConsoleSettings,
): ConsoleFile {
  const html = bytes
    .toString()
    .replace('<base href="/console/', `<base href="${prefix}/console/`)
    .replace('content="America/Santiago"', `content="${timeZone}"`)
    .replace(
      'name="catalejo-channels" content=""',
      `name="catalejo-channels" content="${channels.join(' ')}"`,
    )
    .replace(
      'name="catalejo-sign-in" content="key"',
      `name="catalejo-sign-in" content="${authHeader === '' ? 'key' : 'proxy'}"`,
    )
  return text(name, brotliCompressSync(html))
}

function plain(name: string, bytes: Uint8Array): ConsoleFile {
  const encoded = { bytes, encoding: undefined }
  return { type: typeOf(name), tag: toTag(bytes), encoded: () => encoded }
}

function text(name: string, compressed: Uint8Array): ConsoleFile {
  const br: Encoded = { bytes: compressed, encoding: 'br' }
  let gzip: Encoded | undefined
  let identity: Encoded | undefined
  return {
    type: typeOf(name),
    tag: toTag(compressed),
    // Encoded on first use: browsers accept Brotli over https and from localhost only.
    encoded: (acceptEncoding) => {
      if (accepts(acceptEncoding, 'br')) return br
      identity ??= { bytes: brotliDecompressSync(compressed), encoding: undefined }
      if (!accepts(acceptEncoding, 'gzip')) return identity
      gzip ??= { bytes: gzipSync(identity.bytes, { level: 9 }), encoding: 'gzip' }
      return gzip
    },
  }
}

/** RFC 9110, section 12.5.3, ignoring preferences: the smallest encoding is best for both sides. */
function accepts(header: string, encoding: string): boolean {
  return header.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase())
    return name === encoding && !parameters.some((one) => /^q=0(\.0*)?$/.test(one))
  })
}

function typeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
}

function toTag(bytes: Uint8Array): string {
  return hash('sha256', bytes).slice(0, 20)
}

/**
 * The page may load from this origin only, run only scripts that are files, and turn no text into markup. Blob and data images
 * are previews of uploads.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** The page of the API reference is a library that sets styles and markup alone. */
const REFERENCE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  vary: 'Accept-Encoding',
}
/** Answered in a checkout whose console was not built: `npm ci` builds it unless it leaves out scripts or development packages. */
const NOT_BUILT = `<!doctype html>
<html lang="es">
<meta charset="utf-8">
<title>Catalejo</title>
<h1>Falta construir la consola</h1>
<p>En la carpeta del programa, ejecute esta orden y vuelva a iniciar el servicio:</p>
<pre>npm ci --include=dev &amp;&amp; npm run console</pre>
</html>
`
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** Serves the web console at `/console`: files from memory, and the page for every other path under it. */
export function consoleRoutes(app: HttpServer, settings: ConsoleSettings): void {
  sessionRoute(app, settings)
  const files = loadFiles(settings)
  const page = files.get('index.html')
  const reference = files.get('reference/index.html')
  const home = `${settings.prefix}/console/`

  const handler = async (request: HttpRequest<{ Params: { '*': string } }>, reply: HttpReply) => {
    const name = request.params['*']
    const file = files.get(name)
    // Only names of assets change with their content.
    const caching = name.includes('assets/') ? IMMUTABLE : 'no-cache'
    if (file !== undefined && file !== page && file !== reference) return send(request, reply, file, caching)
    // The page routes all other paths itself. A missing asset is an error, because a page of an older release must not get
    // a document instead of a script.
    if (name.includes('assets/')) throw httpErrors.path_not_found()
    if (page === undefined) {
      return reply.code(503).headers(HEADERS).type('text/html; charset=utf-8').send(NOT_BUILT)
    }
    return send(request, reply, page, 'no-cache')
  }
  const schema = { hide: true }
  app.route({
    method: ['GET', 'HEAD'],
    url: '/console',
    schema,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const query = request.raw.url?.split('?', 2)[1]
      return reply.redirect(query === undefined ? home : `${home}?${query}`, 308)
    },
  })
  app.route({ method: ['GET', 'HEAD'], url: '/console/*', schema, exposeHeadRoute: false, handler })
  app.route({
    method: ['GET', 'HEAD'],
    url: '/docs',
    schema,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      if (reference === undefined) throw httpErrors.path_not_found()
      return send(request, reply.header('content-security-policy', REFERENCE_POLICY), reference, 'no-cache')
    },
  })
}

function send(request: HttpRequest, reply: HttpReply, file: ConsoleFile, caching: string) {
  const { bytes, encoding } = file.encoded(request.headers['accept-encoding'] ?? '')
  const etag = `"${file.tag}${encoding === undefined ? '' : `-${encoding}`}"`
  void reply
    .headers({ ...HEADERS, ...reply.getHeaders() })
    .header('cache-control', caching)
    .header('etag', etag)
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (encoding !== undefined) void reply.header('content-encoding', encoding)
  void reply.type(file.type).header('content-length', bytes.byteLength)
  return reply.send(request.method === 'HEAD' ? undefined : bytes)
}
