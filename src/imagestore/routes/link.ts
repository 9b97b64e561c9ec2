import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type BlobAddress, BlobDamaged } from '../../storage/blobs/blob-store.ts'
import { OverloadError, HttpError } from '../../lib/errors.ts'
import { clientAbort, clientGroup } from '../../http/client.ts'
import { sendBytes } from '../../http/headers.ts'
import { hasBody } from '../../http/body/content-encoding.ts'
import { matches, readRange, type Range } from '../../http/conditional.ts'
import type { Crowd } from '../crowd.ts'
import { keyOf, type Content, type Delivery, type Recipe } from '../delivery.ts'
import type { LinkReader, Wanted } from '../link-reader.ts'
import type { KnownImage } from '../known-images.ts'
import { SLOW_RETRY_SECONDS } from '../derivatives/cache.ts'
import { readLink, type LinkTarget } from '../link.ts'
import { isLost } from '../lost.ts'
import type { BlobRow } from '../queries.ts'
import { NO_IMAGE } from './get.ts'
import { knownHeaders, linkHeaders, scopeOf, wholeHeaders } from './link-headers.ts'
import { refusalFor, TOO_HEAVY } from './link-refusals.ts'
import { linkSchema, LOST_IMAGE } from './link-schema.ts'
import { LinkCache } from './link-cache.ts'

export interface LinkOptions {
  readonly delivery: Delivery
  readonly reader: LinkReader
  /** Those for whom images are being made. */
  readonly crowd: Crowd
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Whether shared caches may keep answers that depend on the request's headers. */
  readonly sharesVariants: boolean
}

/** How often a link is worked out anew because what it stands for changed meanwhile. */
const MAX_ATTEMPTS = 3

interface Found {
  readonly target: LinkTarget
  readonly image: KnownImage
  readonly wanted: Extract<Wanted, { kind: 'image' }>
  readonly etag: string
  /** Seconds since 1970, of the link or the image. */
  readonly expires: number | undefined
}

interface PreparedContent {
  readonly body: Readable | Uint8Array | undefined
  readonly mime: string
  /** Bytes of the body. */
  readonly length: number
  readonly contentRange: string | undefined
}

type Prepared =
  /** The client has it. */
  | { readonly kind: 'known' }
  | ({ readonly kind: 'elsewhere' } & BlobAddress)
  | ({ readonly kind: 'content' } & PreparedContent)

export function linkRoute(
  app: FastifyInstance,
  { delivery, reader, crowd, now, sharesVariants }: LinkOptions,
): void {
  const cache = new LinkCache(delivery)
  const prefixLength = `${app.prefix}/i/`.length

  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    const { url = '', headers } = request.raw
    const link = url.slice(prefixLength)
    const cached = hasBody(headers) ? undefined : cache.find(link, headers)
    if (cached === undefined) return answerUncached(link, request, reply)
    return sendBytes(reply, cached.status, withVary(reply, cached.headers), cached.body)
  }

  async function answerUncached(
    link: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    // What is found may have been deleted, closed or replaced while its bytes were read or made, which can take seconds.
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const found = await find(link, request)
      const answer = await prepare(found, request, reply)
      const now = await find(link, request).catch((error: unknown) => {
        discard(answer)
        throw error
      })
      if (now.etag === found.etag && now.image.state === found.image.state) {
        remember(link, request, now)
        return send(reply, now, answer)
      }
      discard(answer)
    }
    throw new OverloadError()
  }

  /** What the link stands for at this moment. @throws HttpError */
  async function find(link: string, { headers }: FastifyRequest): Promise<Found> {
    const target = readLink(link)
    const image = target === undefined ? undefined : await delivery.images.find(target.hash)
    if (target === undefined || image === undefined) throw new HttpError(404, NO_IMAGE)
    const wanted = await reader.read(target, image, headers)
    if (wanted.kind !== 'image') throw refusalFor(wanted)
    const { recipe } = wanted
    const { hash } = image.blob
    const etag = recipe === undefined ? `"${hash}"` : `"${hash}-${recipe.name.slice(0, 16)}"`
    return { target, image, wanted, etag, expires: earlier(wanted.expires, image.expires) }
  }

  function remember(link: string, { headers }: FastifyRequest, found: Found): void {
    const { target, image, wanted, etag, expires } = found
    // What ends, or depends on another image, is looked at anew each time.
    if (expires !== undefined || wanted.recipe?.mark !== undefined) return
    const common = linkHeaders(wanted, now(), sharesVariants)
    const { state, blob } = image
    const meaning = { hash: target.hash, state, blob, name: wanted.recipe?.name, etag, common }
    cache.set(link, wanted.varies, headers, meaning)
  }

  /** All of an answer that has to be waited for. */
  async function prepare(found: Found, request: FastifyRequest, reply: FastifyReply): Promise<Prepared> {
    const { image, wanted, etag, expires } = found
    const { blob } = image
    if (matches(request.headers['if-none-match'], etag)) return { kind: 'known' }
    if (isLost(blob.key)) throw new HttpError(410, LOST_IMAGE)
    const content =
      wanted.recipe === undefined
        ? await delivery.original(blob, expires === undefined, clientGroup(request.ip))
        : await derivative(request, reply, blob, wanted.recipe)
    if (content === undefined) throw await absence(blob)
    const mayLocate = request.method === 'GET' && expires === undefined
    if (content.kind === 'stream' && content.locate !== undefined && mayLocate)
      return { kind: 'elsewhere', ...(await content.locate()) }
    const size = content.kind === 'bytes' ? content.bytes.byteLength : blob.size
    return { kind: 'content', ...(await prepareContent(request, content, size, etag, () => absence(blob))) }
  }

  /** Waits for nothing, so that it is as true as what was found last. */
  function send(reply: FastifyReply, { wanted, etag, expires }: Found, answer: Prepared): FastifyReply {
    const common = withVary(reply, linkHeaders({ ...wanted, expires }, now(), sharesVariants))
    switch (answer.kind) {
      case 'known':
        return reply.code(304).headers(knownHeaders(common, etag)).send()
      case 'elsewhere':
        return reply
          .code(302)
          .headers({ ...common, 'cache-control': `${scopeOf(common)}, max-age=${answer.seconds}` })
          .header('location', answer.url)
          .send()
      case 'content': {
        const { body, mime, length, contentRange } = answer
        if (contentRange !== undefined) reply.code(206).header('content-range', contentRange)
        return reply.headers(wholeHeaders(common, etag, mime, length)).send(body)
      }
    }
  }

  app.route({ method: 'GET', url: '/i/*', schema: linkSchema, handler, exposeHeadRoute: false })
  // The framework's own would announce a length of 0 for what has no body at hand: streams, 304.
  app.route({ method: 'HEAD', url: '/i/*', schema: { ...linkSchema, hide: true }, handler })

  /** What to say of a blob that is not in the store: it was deleted meanwhile, or else it should be there. */
  async function absence(blob: BlobRow): Promise<Error> {
    if (await delivery.isRecorded(blob)) return new BlobDamaged(`${blob.key} is missing`)
    return new HttpError(404, NO_IMAGE)
  }

  async function derivative(
    request: FastifyRequest,
    reply: FastifyReply,
    blob: BlobRow,
    recipe: Recipe,
  ): Promise<Content | undefined> {
    const hot = delivery.atHand(keyOf(blob.key, recipe.name))
    if (hot !== undefined) return { kind: 'bytes', ...hot }
    const client = clientGroup(request.ip)
    const made = await crowd.enter(client, () =>
      delivery.derivative(blob, recipe, { client, signal: clientAbort(reply.raw) }),
    )
    if (made === undefined)
      throw new HttpError(429, 'Demasiadas solicitudes', { headers: { 'retry-after': '1' } })
    const { result } = made
    switch (result?.kind) {
      case undefined:
      case 'bytes':
        return result
      case 'busy':
        throw new OverloadError()
      case 'damaged':
        throw new HttpError(500, 'No se ha podido transformar la imagen')
      case 'aborted':
        throw new OverloadError()
      case 'too-heavy':
        throw new HttpError(400, TOO_HEAVY)
      case 'too-slow':
        throw new OverloadError(SLOW_RETRY_SECONDS)
    }
  }
}

/** Adds to the `Vary` that CORS has set: some caches (nginx before 1.23) read only one of several. */
function withVary(reply: FastifyReply, headers: Readonly<Record<string, string>>) {
  const { vary } = headers
  const cors = vary === undefined ? undefined : reply.getHeader('vary')
  return cors === undefined ? headers : { ...headers, vary: `${String(cors)}, ${vary}` }
}

function discard(answer: Prepared): void {
  if (answer.kind === 'content' && answer.body instanceof Readable) answer.body.destroy()
}

/** Seconds since 1970. */
function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}

async function prepareContent(
  request: FastifyRequest,
  content: Content,
  size: number,
  etag: string,
  absence: () => Promise<Error>,
): Promise<PreparedContent> {
  const isHead = request.method === 'HEAD'
  // Ranges are defined for GET alone (RFC 9110, section 14.2).
  const range: Range = isHead ? { kind: 'whole' } : readRange(request.headers, size, etag)
  if (range.kind === 'unsatisfiable') {
    throw new HttpError(416, 'El rango pedido está fuera de la imagen', {
      headers: { 'content-range': `bytes */${size}` },
    })
  }
  const { start, end } = range.kind === 'part' ? range : { start: 0, end: size - 1 }
  return {
    body: isHead ? undefined : await readPart(content, start, end, absence),
    mime: content.mime,
    length: end - start + 1,
    contentRange: range.kind === 'part' ? `bytes ${start}-${end}/${size}` : undefined,
  }
}

async function readPart(
  content: Content,
  start: number,
  end: number,
  absence: () => Promise<Error>,
): Promise<Readable | Uint8Array> {
  if (content.kind === 'bytes') return content.bytes.subarray(start, end + 1)
  const stream = await content.open(start, end)
  if (stream === undefined) throw await absence()
  return stream
}
