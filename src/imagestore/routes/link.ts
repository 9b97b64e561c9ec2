import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { BlobDamaged } from '../../blobs/damaged.ts'
import { Overload, Refusal } from '../../core/errors.ts'
import { matches, readRange, type Range } from '../../http/conditional.ts'
import { problem } from '../../http/json-schema.ts'
import type { Content, Delivery } from '../delivery.ts'
import { derivativeName } from '../derivatives/rendering.ts'
import { readLink, type LinkTarget } from '../link.ts'
import { isLost } from '../lost.ts'
import { formatOfExtension, isIdentity, parseModifiers, type ModifierFault } from '../modifiers/index.ts'
import type { Plan } from '../modifiers/index.ts'
import type { BlobRow } from '../queries.ts'
import { EXAMPLE_HASH } from '../schemas.ts'
import { NO_IMAGE } from './get.ts'
import { knownHeaders, SAFE_HEADERS, wholeHeaders } from './link-headers.ts'
import { ReadyLinks } from './ready-links.ts'

const LOST_IMAGE = 'Los datos de la imagen se perdieron, hay que subirla de nuevo'

/** Pages repeat few modifiers many times: what they mean is worked out once. */
const MAX_READ_MODIFIERS = 5_000

const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  jpeg: ['jpg', 'jpeg'],
  png: ['png'],
  gif: ['gif'],
  webp: ['webp'],
  avif: ['avif'],
  tiff: ['tif', 'tiff'],
  svg: ['svg'],
}

/** What a link's modifier and extension come to. */
type Wanted =
  | { readonly kind: 'original' }
  | { readonly kind: 'derivative'; readonly plan: Plan; readonly name: string }
  | { readonly kind: 'fault'; readonly fault: ModifierFault }
  /** The extension is of no format that can be made. */
  | { readonly kind: 'none' }

const IMAGE = { 'image/*': { schema: { type: 'string', format: 'binary' } } }

export function linkRoute(app: FastifyInstance, delivery: Delivery): void {
  const read = new LRUCache<string, Wanted>({ max: MAX_READ_MODIFIERS })

  function wanted({ extension, modifier }: LinkTarget, format: string): Wanted {
    const key = JSON.stringify([format, extension, modifier])
    const known = read.get(key)
    if (known !== undefined) return known
    const result = readWanted(extension, modifier, format)
    // Faults are not kept: their texts have no bound but the address's own.
    if (result.kind === 'original' || result.kind === 'derivative') read.set(key, result)
    return result
  }

  const ready = new ReadyLinks(delivery)
  app.atOnce.add(`${app.prefix}/i/`, `${app.prefix}/i/*`, (link, request) => ready.find(link, request))

  const prefixLength = `${app.prefix}/i/`.length
  const schema = {
    tags: ['imagestore'],
    operationId: 'get-link',
    summary: 'A stored image, as uploaded or modified on the way',
    description: 'No key. Answers `HEAD`, `Range` and conditional requests.',
    params: {
      type: 'object',
      properties: {
        '*': {
          type: 'string',
          description:
            "The hash, with an extension or without; another format's extension converts. `&m=` and a preset or " +
            'modifiers may follow directly.',
          examples: [`${EXAMPLE_HASH}.webp&m=w_300`],
        },
      },
    },
    querystring: {
      type: 'object',
      properties: {
        m: {
          type: 'string',
          description: 'The modifier, where it is not in the path',
          examples: ['w_300,h_200,c_fill'],
        },
      },
    },
    response: {
      200: { description: 'The image', content: IMAGE },
      206: { description: 'The part of the image that `Range` asks for', content: IMAGE },
      302: { description: 'The image is at the address in `Location`', type: 'null' },
      304: { description: 'The image that the client has is the right one', type: 'null' },
      400: problem('A modifier is unknown, repeated or out of range', 400, 'El modificador w_0 no es válido'),
      404: problem('No such image', 404, NO_IMAGE),
      410: problem('The bytes of the image are lost; whoever uploads them again heals it', 410, LOST_IMAGE),
    },
  }

  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const link = (request.raw.url ?? '').slice(prefixLength)
    const target = readLink(link)
    const blob = target === undefined ? undefined : await delivery.find(target.hash)
    if (target === undefined || blob === undefined) throw new Refusal(404, NO_IMAGE)
    const want = wanted(target, blob.format)
    if (want.kind === 'none') throw new Refusal(404, NO_IMAGE)
    if (want.kind === 'fault') throw new Refusal(400, describe(want.fault))
    const name = want.kind === 'derivative' ? want.name : undefined
    const etag = name === undefined ? `"${blob.hash}"` : `"${blob.hash}-${name.slice(0, 16)}"`
    ready.note(link, { hash: target.hash, blobKey: blob.key, name, etag })
    const lifetime = delivery.lifetime(blob)
    if (matches(request.headers['if-none-match'], etag)) {
      return reply.code(304).headers(knownHeaders(etag, lifetime)).send()
    }
    if (isLost(blob.key)) throw new Refusal(410, LOST_IMAGE, { headers: { 'cache-control': 'no-store' } })
    const content =
      want.kind === 'original' ? await delivery.original(blob) : await derivative(blob, want.plan, want.name)
    if (content === undefined) throw await absence(blob)
    if (content.kind === 'stream' && content.locate !== undefined && request.method === 'GET') {
      const { url, seconds } = await content.locate()
      return reply
        .code(302)
        .headers({ ...SAFE_HEADERS, 'cache-control': `public, max-age=${seconds}` })
        .header('location', url)
        .send()
    }
    const size = content.kind === 'bytes' ? content.bytes.byteLength : blob.size
    return sendContent(request, reply, content, size, { etag, lifetime }, () => absence(blob))
  }

  app.route({ method: 'GET', url: '/i/*', schema, handler, exposeHeadRoute: false })
  // The framework's own would announce a length of 0 for what has no body at hand: streams, 304.
  app.route({ method: 'HEAD', url: '/i/*', schema: { ...schema, hide: true }, handler })

  /** What to say of a blob that is not in the store: it was deleted meanwhile, or else it should be there. */
  async function absence(blob: BlobRow): Promise<Error> {
    if (await delivery.isRecorded(blob)) return new BlobDamaged(`${blob.key} is missing`)
    return new Refusal(404, NO_IMAGE)
  }

  async function derivative(blob: BlobRow, plan: Plan, name: string): Promise<Content | undefined> {
    const derived = await delivery.derivative(blob, plan, name)
    switch (derived?.kind) {
      case undefined:
      case 'bytes':
        return derived
      case 'busy':
        throw new Overload()
      case 'damaged':
        throw new Refusal(500, 'No se ha podido transformar la imagen')
      case 'aborted':
        throw new Overload()
    }
  }
}

function readWanted(extension: string | undefined, modifier: string | undefined, format: string): Wanted {
  const isOwn = extension === undefined || EXTENSIONS[format]?.includes(extension) === true
  const asked = isOwn ? undefined : formatOfExtension(extension)
  if (!isOwn && asked === undefined) return { kind: 'none' }
  const parsed = parseModifiers(modifier ?? '', asked)
  if (!parsed.ok) return { kind: 'fault', fault: parsed.fault }
  const { plan } = parsed
  if (isIdentity(plan)) return { kind: 'original' }
  return { kind: 'derivative', plan, name: derivativeName(plan) }
}

function describe(fault: ModifierFault): string {
  switch (fault.kind) {
    case 'unknown':
      return `El modificador ${fault.token} no existe`
    case 'repeated':
      return `El modificador ${fault.token} está repetido`
    case 'range':
      return `El modificador ${fault.token} no es válido: ${fault.takes}`
  }
}

async function sendContent(
  request: FastifyRequest,
  reply: FastifyReply,
  content: Content,
  size: number,
  { etag, lifetime }: { readonly etag: string; readonly lifetime: number | undefined },
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
  return reply.headers(wholeHeaders(etag, content.mime, end - start + 1, lifetime)).send(body)
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
