import { Readable } from 'node:stream'
import type { HttpServer, HttpReply, HttpRequest } from '../../http/server.ts'
import { releaseBuffer } from '../../lib/bytes.ts'
import { OverloadError } from '../../lib/errors.ts'
import { addressClient, clientAbort } from '../../http/client.ts'
import type { Caller } from '../../lib/client.ts'
import { matches, readRange, type Range, sendBytes } from '../../http/headers.ts'
import { hasBody } from '../../http/body/parse.ts'
import { BlobDamaged, type BlobAddress } from '../../storage/blobs/blob-store.ts'
import { isLost } from '../blobs.ts'
import { cacheKey, type Content, type Recipe, type KnownImage } from '../delivery.ts'
import { RETRY_SECONDS } from '../derivatives.ts'
import { EXAMPLE, type BlobRow } from '../image-fields.ts'
import { readLink, type LinkTarget } from '../links/link.ts'
import type { ResolvedLink } from '../links/resolve-link.ts'
import { imageErrors, linkError } from '../errors.ts'
import { httpErrors } from '../../http/errors.ts'
import { optional, problem, problemWith, string } from '../../http/openapi/json-schema.ts'
import type { ImageRoutes } from '../open.ts'
import { cacheScope, contentHeaders, createLinkCache, linkHeaders } from './link-cache.ts'

/** How often a link is resolved again because its image changed in the meantime. */
const MAX_ATTEMPTS = 3

interface Found {
  readonly target: LinkTarget
  readonly image: KnownImage
  readonly link: Extract<ResolvedLink, { kind: 'image' }>
  readonly etag: string
  /** When the link or the image expires, in seconds since 1970. */
  readonly expires: number | undefined
}

type Prepared =
  | { readonly kind: 'not-modified' }
  | ({ readonly kind: 'redirect' } & BlobAddress)
  | {
      readonly kind: 'content'
      /** Undefined for HEAD. */
      readonly body: Readable | Uint8Array | undefined
      readonly mime: string
      /** Bytes of the body. */
      readonly length: number
      readonly contentRange: string | undefined
    }

export function linkRoute(
  app: HttpServer,
  { clock, config, definitions, delivery, resolve }: ImageRoutes,
): void {
  const { sharesVariants } = config.imageSettings
  const cache = createLinkCache(delivery, definitions)
  const prefixLength = `${app.prefix}/i/`.length

  const handler = (request: HttpRequest, reply: HttpReply) => {
    const { url = '', headers } = request.raw
    const path = url.slice(prefixLength)
    const cached = hasBody(headers) ? undefined : cache.find(path, headers)
    if (cached === undefined) return answerUncached(path, request, reply)
    return sendBytes(reply, cached.status, cached.headers, cached.body)
  }

  app.route({ method: 'GET', url: '/i/*', schema: linkSchema, handler, exposeHeadRoute: false })
  // Fastify's HEAD route would send a length of 0 for streams and 304.
  app.route({ method: 'HEAD', url: '/i/*', schema: { ...linkSchema, hide: true }, handler })

  async function answerUncached(path: string, request: HttpRequest, reply: HttpReply): Promise<HttpReply> {
    // Reading or making the bytes can take seconds, in which the image may be deleted, restricted or replaced.
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const found = await find(path, request)
      const prepared = await prepare(found, request, reply)
      const current = await find(path, request).catch((error: unknown) => {
        discard(prepared)
        throw error
      })
      if (current.etag === found.etag && current.image.state === found.image.state) {
        addToCache(path, request, current)
        return send(reply, current, prepared)
      }
      discard(prepared)
    }
    throw new OverloadError()
  }

  /** Resolves a link to its image as of now. @throws HttpError */
  async function find(path: string, { headers, ip }: HttpRequest): Promise<Found> {
    const target = readLink(path)
    const client = addressClient(ip)
    const image = target === undefined ? undefined : await delivery.find(target.image, client)
    if (target === undefined || image === undefined) throw imageErrors.image_not_found()
    const link = await resolve(target, image, headers, client)
    if (link.kind !== 'image') throw linkError(link)
    const { recipe } = link
    const { hash } = image.blob
    const etag = recipe === undefined ? `"${hash}"` : `"${hash}-${recipe.name.slice(0, 16)}"`
    const expires = Math.min(link.expires ?? Infinity, image.expires ?? Infinity)
    return { target, image, link, etag, expires: expires === Infinity ? undefined : expires }
  }

  function addToCache(path: string, request: HttpRequest, found: Found): void {
    const { target, image, link, etag, expires } = found
    // A link that expires, has an alias, or depends on a second image, is resolved each time.
    if (expires !== undefined || typeof target.image !== 'string' || link.recipe?.mark !== undefined) return
    const common = linkHeaders(target.image, image.blob.hash, link, clock.now(), sharesVariants)
    const { state, blob } = image
    const { download, recipe, settings } = link
    const key = cacheKey(blob.key, recipe?.name)
    const cacheable = { hash: target.image, state, settings, key, etag, download, common }
    cache.set(path, link.varies, request.headers, cacheable)
  }

  /** Does everything for a response that may take time. */
  async function prepare(found: Found, request: HttpRequest, reply: HttpReply): Promise<Prepared> {
    const { target, image, link, etag, expires } = found
    const { blob } = image
    if (matches(request.headers['if-none-match'], etag)) return { kind: 'not-modified' }
    if (isLost(blob.key)) throw imageErrors.image_lost()
    const content =
      link.recipe === undefined
        ? await delivery.original(blob, expires === undefined, callerOf(request, reply))
        : await derivative(callerOf(request, reply), blob, link.recipe)
    if (content === undefined) throw await absence(blob)
    // The address of the store would outlive an alias.
    const isLasting = expires === undefined && typeof target.image === 'string'
    const mayRedirect = request.method === 'GET' && isLasting && link.download === null
    if (content.kind === 'stream' && content.locate !== undefined && mayRedirect)
      return { kind: 'redirect', ...(await content.locate()) }
    const size = content.kind === 'image' ? content.bytes.byteLength : blob.size
    const range = rangeOf(request, size, etag)
    const { start, end } = range.kind === 'part' ? range : { start: 0, end: size - 1 }
    return {
      kind: 'content',
      body: request.method === 'HEAD' ? undefined : await read(blob, content, start, end, reply),
      mime: content.mime,
      length: end - start + 1,
      contentRange: range.kind === 'part' ? `bytes ${start}-${end}/${size}` : undefined,
    }
  }

  async function read(
    blob: BlobRow,
    content: Content,
    start: number,
    end: number,
    { raw }: HttpReply,
  ): Promise<Readable | Uint8Array> {
    if (content.kind === 'image') {
      if (content.isOwn === true) raw.once('close', () => releaseBuffer(content.bytes))
      return content.bytes.subarray(start, end + 1)
    }
    const stream = await content.open(start, end)
    if (stream === undefined) throw await absence(blob)
    return stream
  }

  /** The error for a blob that is not in the store: it was deleted in the meantime, or else it is lost. */
  async function absence(blob: BlobRow): Promise<Error> {
    if (await delivery.isRecorded(blob)) return new BlobDamaged(`${blob.key} is missing`)
    return imageErrors.image_not_found()
  }

  async function derivative(caller: Caller, blob: BlobRow, recipe: Recipe): Promise<Content | undefined> {
    const made = await delivery.derivative(blob, recipe, caller)
    switch (made?.kind) {
      case undefined:
      case 'image':
        return made
      case 'busy':
      case 'aborted':
        throw new OverloadError()
      case 'damaged':
      case 'crashed':
        throw imageErrors.transformation_failed()
      case 'too-heavy':
        throw imageErrors.image_too_heavy()
      case 'too-slow':
        throw new OverloadError(RETRY_SECONDS)
    }
  }

  /** Synchronous, so that the response is as current as the last `find`. */
  function send(
    reply: HttpReply,
    { target, image, link, etag, expires }: Found,
    prepared: Prepared,
  ): HttpReply {
    const { hash } = image.blob
    const common = linkHeaders(target.image, hash, { ...link, expires }, clock.now(), sharesVariants)
    switch (prepared.kind) {
      case 'not-modified':
        return reply
          .code(304)
          .headers({ ...common, etag })
          .send()
      case 'redirect':
        return reply
          .code(302)
          .headers({ ...common, 'cache-control': `${cacheScope(common)}, max-age=${prepared.seconds}` })
          .header('location', prepared.url)
          .send()
      case 'content': {
        const { body, mime, length, contentRange } = prepared
        if (contentRange !== undefined) reply.code(206).header('content-range', contentRange)
        return reply.headers(contentHeaders(common, etag, mime, length, link.download)).send(body)
      }
    }
  }
}

const callerOf = ({ ip }: HttpRequest, { raw }: HttpReply): Caller => ({
  client: addressClient(ip),
  signal: clientAbort(raw),
})

function discard(prepared: Prepared): void {
  if (prepared.kind === 'content' && prepared.body instanceof Readable) prepared.body.destroy()
}

/** Ranges are defined for GET only (RFC 9110, section 14.2). @throws HttpError 416 */
function rangeOf(
  request: HttpRequest,
  size: number,
  etag: string,
): Exclude<Range, { kind: 'unsatisfiable' }> {
  const range: Range = request.method === 'HEAD' ? { kind: 'whole' } : readRange(request.headers, size, etag)
  if (range.kind !== 'unsatisfiable') return range
  throw imageErrors.range_not_satisfiable().with({ headers: { 'content-range': `bytes */${size}` } })
}

const IMAGE = { 'image/*': { schema: { type: 'string', format: 'binary' } } }

const linkSchema = {
  tags: ['imagestore'],
  operationId: 'downloadImage',
  summary: 'Get an image, as uploaded or transformed',
  description: 'Needs no key. Supports `HEAD`, `Range` and conditional requests.',
  params: {
    type: 'object',
    properties: {
      '*': {
        type: 'string',
        description:
          'Hash, with or without an extension; the extension of another format converts the image. `&m=` and a preset or ' +
          'modifiers may follow directly.',
        examples: [`${EXAMPLE.hash.example}.webp&m=w_300`],
      },
    },
  },
  querystring: {
    type: 'object',
    properties: {
      m: {
        type: 'string',
        description: 'Modifiers, if they are not in the path',
        examples: ['w_300,h_200,c_fill'],
      },
    },
  },
  response: {
    200: { description: 'The image', content: IMAGE },
    206: { description: 'Part of the image that `Range` asks for', content: IMAGE },
    302: { description: 'The image is at the address in `Location`', type: 'null' },
    304: { description: 'Not modified', type: 'null' },
    400: problem(
      'A modifier is unknown, repeated, out of range or too much for this image',
      linkError({ kind: 'fault', fault: { kind: 'repeated', token: 'w_300' } }),
      imageErrors.image_too_heavy(),
      httpErrors.bad_request(),
    ),
    403: problemWith(
      {
        signed: optional(
          string(
            'Text that a signature of the link covers, in canonical form; only with `signature_invalid`',
          ),
        ),
      },
      'The delivery mode of the application does not allow this link',
      imageErrors.signature_missing(),
      imageErrors.signature_invalid(),
      imageErrors.preset_required(),
    ),
    404: problem('There is no such image', imageErrors.image_not_found()),
    410: problem(
      'The link has expired, or the bytes of the image are lost; uploading them again restores the image',
      imageErrors.image_lost(),
      imageErrors.link_expired(),
    ),
    416: problem('`Range` is outside the image', imageErrors.range_not_satisfiable()),
    503: problem('Too many transformations are queued', new OverloadError()),
  },
}
