import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { BlobDamaged } from '../../blobs/damaged.ts'
import { Overload, Refusal } from '../../core/errors.ts'
import { clientGroup } from '../../http/client-address.ts'
import { clientLeft } from '../../http/client-left.ts'
import { matches, readRange, type Range } from '../../http/conditional.ts'
import type { Crowd } from '../crowd.ts'
import { keyOf, type Content, type Delivery, type Recipe } from '../delivery.ts'
import type { LinkReader } from '../link-reader.ts'
import { SLOW_RETRY_SECONDS } from '../derivatives/cache.ts'
import { readLink } from '../link.ts'
import { isLost } from '../lost.ts'
import type { BlobRow } from '../queries.ts'
import { NO_IMAGE } from './get.ts'
import { knownHeaders, linkHeaders, wholeHeaders } from './link-headers.ts'
import { refusalFor, TOO_HEAVY, UNKEPT } from './link-refusals.ts'
import { linkSchema, LOST_IMAGE } from './link-schema.ts'
import { ReadyLinks } from './ready-links.ts'

export interface LinkOptions {
  readonly delivery: Delivery
  readonly reader: LinkReader
  /** Those for whom images are being made. */
  readonly crowd: Crowd
  /** Milliseconds since 1970. */
  readonly now: () => number
}

export function linkRoute(app: FastifyInstance, { delivery, reader, crowd, now }: LinkOptions): void {
  const ready = new ReadyLinks(delivery)
  app.atOnce.add(`${app.prefix}/i/`, `${app.prefix}/i/*`, (link, request, memory) =>
    ready.find(link, request, memory),
  )

  const prefixLength = `${app.prefix}/i/`.length

  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const link = (request.raw.url ?? '').slice(prefixLength)
    const target = readLink(link)
    const image = target === undefined ? undefined : await delivery.images.find(target.hash)
    if (target === undefined || image === undefined) throw new Refusal(404, NO_IMAGE)
    const { blob } = image
    const wanted = await reader.read(target, image, request.headers)
    if (wanted.kind !== 'image') throw refusalFor(wanted)
    const { recipe, varies } = wanted
    const expires = earlier(wanted.expires, image.expires)
    const etag = recipe === undefined ? `"${blob.hash}"` : `"${blob.hash}-${recipe.name.slice(0, 16)}"`
    const own = linkHeaders({ ...wanted, expires }, now())
    // What ends, or depends on another image, is looked at anew each time.
    if (expires === undefined && recipe?.mark === undefined) {
      const meaning = {
        hash: target.hash,
        state: image.state,
        blob,
        name: recipe?.name,
        etag,
        common: own,
      }
      ready.note(link, varies, request.headers, meaning)
    }
    // Another origin's answer may differ in what CORS says: that is in the header already.
    const vary = [reply.getHeader('vary') ?? [], ...varies].flat().join(', ')
    const common = varies.length === 0 ? own : { ...own, vary }
    if (matches(request.headers['if-none-match'], etag)) {
      return reply.code(304).headers(knownHeaders(common, etag)).send()
    }
    if (isLost(blob.key)) throw new Refusal(410, LOST_IMAGE, { headers: { 'cache-control': 'no-store' } })
    const content =
      recipe === undefined
        ? await delivery.original(blob, expires === undefined, clientGroup(request.ip))
        : await derivative(request, reply, blob, recipe)
    if (content === undefined) throw await absence(blob)
    const mayLocate = request.method === 'GET' && expires === undefined
    if (content.kind === 'stream' && content.locate !== undefined && mayLocate) {
      const { url, seconds } = await content.locate()
      return reply
        .code(302)
        .headers({ ...common, 'cache-control': `public, max-age=${seconds}` })
        .header('location', url)
        .send()
    }
    const size = content.kind === 'bytes' ? content.bytes.byteLength : blob.size
    return sendContent(request, reply, content, size, etag, common, () => absence(blob))
  }

  app.route({ method: 'GET', url: '/i/*', schema: linkSchema, handler, exposeHeadRoute: false })
  // The framework's own would announce a length of 0 for what has no body at hand: streams, 304.
  app.route({ method: 'HEAD', url: '/i/*', schema: { ...linkSchema, hide: true }, handler })

  /** What to say of a blob that is not in the store: it was deleted meanwhile, or else it should be there. */
  async function absence(blob: BlobRow): Promise<Error> {
    if (await delivery.isRecorded(blob)) return new BlobDamaged(`${blob.key} is missing`)
    return new Refusal(404, NO_IMAGE)
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
      delivery.derivative(blob, recipe, { client, signal: clientLeft(reply.raw) }),
    )
    if (made === undefined)
      throw new Refusal(429, 'Demasiadas solicitudes', {
        headers: { 'retry-after': '1', 'cache-control': 'no-store' },
      })
    const { result } = made
    switch (result?.kind) {
      case undefined:
      case 'bytes':
        return result
      case 'busy':
        throw new Overload()
      case 'damaged':
        throw new Refusal(500, 'No se ha podido transformar la imagen')
      case 'aborted':
        throw new Overload()
      case 'too-heavy':
        throw new Refusal(400, TOO_HEAVY, UNKEPT)
      case 'too-slow':
        throw new Overload(SLOW_RETRY_SECONDS)
    }
  }
}

/** Seconds since 1970. */
function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}

async function sendContent(
  request: FastifyRequest,
  reply: FastifyReply,
  content: Content,
  size: number,
  etag: string,
  common: Record<string, string>,
  absence: () => Promise<Error>,
): Promise<FastifyReply> {
  const isHead = request.method === 'HEAD'
  // Ranges are defined for GET alone (RFC 9110, section 14.2).
  const range: Range = isHead ? { kind: 'whole' } : readRange(request.headers, size, etag)
  if (range.kind === 'unsatisfiable') {
    throw new Refusal(416, 'El rango pedido está fuera de la imagen', {
      headers: { 'content-range': `bytes */${size}`, 'cache-control': 'no-store' },
    })
  }
  const { start, end } = range.kind === 'part' ? range : { start: 0, end: size - 1 }
  const body = isHead ? undefined : await readPart(content, start, end, absence)
  // From here on nothing can fail: an error must not go out with headers that let it be kept for a year.
  if (range.kind === 'part') reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`)
  return reply.headers(wholeHeaders(common, etag, content.mime, end - start + 1)).send(body)
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
