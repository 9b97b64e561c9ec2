import type { HttpServer, HttpReply, HttpRequest } from '../http/server.ts'
import { matches } from '../http/headers.ts'
import { httpErrors } from '../http/errors.ts'
import { loadFiles, type ConsoleFile, type ConsoleSettings } from './files.ts'

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
  const files = loadFiles(settings)
  const page = files.get('index.html')
  const home = `${settings.prefix}/console/`

  const handler = async (request: HttpRequest<{ Params: { '*': string } }>, reply: HttpReply) => {
    const name = request.params['*']
    const file = files.get(name)
    if (file !== undefined && file !== page) return send(request, reply, file, IMMUTABLE)
    // The page routes all other paths itself. A missing asset is an error, because a page of an older release must not get
    // a document instead of a script.
    if (name.startsWith('assets/')) throw httpErrors.path_not_found()
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
}

function send(request: HttpRequest, reply: HttpReply, file: ConsoleFile, caching: string) {
  const { bytes, encoding } = file.encoded(request.headers['accept-encoding'] ?? '')
  const etag = `"${file.tag}${encoding === undefined ? '' : `-${encoding}`}"`
  void reply.headers(HEADERS).header('cache-control', caching).header('etag', etag)
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (encoding !== undefined) void reply.header('content-encoding', encoding)
  void reply.type(file.type).header('content-length', bytes.byteLength)
  return reply.send(request.method === 'HEAD' ? undefined : bytes)
}
