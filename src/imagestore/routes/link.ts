import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { Overload, Refusal } from '../../core/errors.ts'
import { matches, readRange } from '../../http/conditional.ts'
import type { Content, Delivery } from '../delivery.ts'
import { readLink, type LinkTarget } from '../link.ts'
import {
  canonical,
  formatOfExtension,
  isIdentity,
  parseModifiers,
  type ModifierFault,
} from '../modifiers/index.ts'
import type { Plan } from '../modifiers/index.ts'
import type { BlobRow } from '../queries.ts'
import { problem } from '../schemas.ts'
import { NO_IMAGE } from './get.ts'

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
  | { readonly kind: 'derivative'; readonly plan: Plan; readonly suffix: string }
  | { readonly kind: 'fault'; readonly fault: ModifierFault }
  /** The extension is of no format that can be made. */
  | { readonly kind: 'none' }

export function linkRoute(app: FastifyInstance, delivery: Delivery): void {
  const read = new LRUCache<string, Wanted>({ max: MAX_READ_MODIFIERS })

  function wanted({ extension, modifier }: LinkTarget, format: string): Wanted {
    const key = `${format}.${extension ?? ''}&${modifier ?? ''}`
    let result = read.get(key)
    if (result === undefined) {
      result = readWanted(extension, modifier, format)
      read.set(key, result)
    }
    return result
  }

  const prefixLength = `${app.prefix}/i/`.length
  const schema = {
    tags: ['imagestore'],
    summary: 'A stored image, as uploaded or modified on the way',
    description:
      'No key. `{id}` is the hash, with an extension or without; `&m=` (or `?m=`) takes a preset or modifiers. ' +
      'Answers `HEAD`, `Range` and conditional requests.',
    produces: ['image/*'],
    response: {
      200: { description: 'The image', type: 'string', format: 'binary' },
      304: { description: 'The image that the client has is the right one', type: 'null' },
      400: problem('A modifier is unknown, repeated or out of range', 400, 'El modificador w_0 no es válido'),
      404: problem('No such image', 404, NO_IMAGE),
    },
  }

  app.get('/i/*', { schema }, async (request, reply) => {
    const target = readLink((request.raw.url ?? '').slice(prefixLength))
    const blob = target === undefined ? undefined : await delivery.find(target.hash)
    if (target === undefined || blob === undefined) throw new Refusal(404, NO_IMAGE)
    const want = wanted(target, blob.format)
    if (want.kind === 'none') throw new Refusal(404, NO_IMAGE)
    if (want.kind === 'fault') throw new Refusal(400, describe(want.fault))
    const etag = want.kind === 'original' ? `"${blob.hash}"` : `"${blob.hash}-${want.suffix}"`
    reply.headers(SAFE_HEADERS)
    reply.header('etag', etag)
    if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
    const content =
      want.kind === 'original' ? await delivery.original(blob) : await derivative(blob, want.plan)
    if (content === undefined) throw new Refusal(404, NO_IMAGE)
    const size = content.kind === 'bytes' ? content.bytes.byteLength : blob.size
    return sendContent(request, reply, content, size, etag)
  })

  async function derivative(blob: BlobRow, plan: Plan): Promise<Content | undefined> {
    const derived = await delivery.derivative(blob, plan)
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

/**
 * The bytes under a hash never change, so caches may keep them for good. A stored SVG may carry script: these
 * headers keep a browser from running it, or from taking an image for anything else.
 */
const SAFE_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  'accept-ranges': 'bytes',
}

function readWanted(extension: string | undefined, modifier: string | undefined, format: string): Wanted {
  const isOwn = extension === undefined || EXTENSIONS[format]?.includes(extension) === true
  const asked = isOwn ? undefined : formatOfExtension(extension)
  if (!isOwn && asked === undefined) return { kind: 'none' }
  const parsed = parseModifiers(modifier ?? '', asked)
  if (!parsed.ok) return { kind: 'fault', fault: parsed.fault }
  const { plan } = parsed
  if (isIdentity(plan)) return { kind: 'original' }
  return { kind: 'derivative', plan, suffix: hash('sha256', canonical(plan)).slice(0, 16) }
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
  etag: string,
): Promise<FastifyReply> {
  reply.type(content.mime)
  const range = readRange(request.headers, size, etag)
  switch (range.kind) {
    case 'unsatisfiable':
      // The answer is an error now, which no cache may keep.
      reply.header('cache-control', 'no-store')
      throw new Refusal(416, 'El rango pedido está fuera de la imagen', {
        headers: { 'content-range': `bytes */${size}` },
      })
    case 'whole':
      return sendPart(request, reply, content, 0, size - 1)
    case 'part':
      reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`)
      return sendPart(request, reply, content, range.start, range.end)
  }
}

async function sendPart(
  request: FastifyRequest,
  reply: FastifyReply,
  content: Content,
  start: number,
  end: number,
): Promise<FastifyReply> {
  if (content.kind === 'bytes') return reply.send(content.bytes.subarray(start, end + 1))
  reply.header('content-length', end - start + 1)
  if (request.method === 'HEAD') return reply.send()
  const stream = await content.open(start, end)
  if (stream === undefined) throw new Refusal(404, NO_IMAGE)
  return reply.send(stream)
}
