import { type HttpError, OverloadError } from '../../lib/errors.ts'
import type { ModifierFault } from '../modifiers/index.ts'
import { httpErrors } from '../../http/errors.ts'
import { optional, problem, problemWith, string } from '../../http/openapi/json-schema.ts'
import { mimeOf } from '../../lib/image-metadata/index.ts'
import { imageErrors } from '../errors.ts'
import { EXAMPLE, type ImageHash } from '../image-fields.ts'
import { toLinkId, type Alias } from '../links/link.ts'
import type { ResolvedLink } from '../links/resolve-link.ts'

type Headers = Readonly<Record<string, string>>

const badModifier = (fault: ModifierFault) => imageErrors.modifier_invalid(fault.token, faultText(fault))

/** The error for a link that resolves to no image. */
export function linkError(link: Exclude<ResolvedLink, { kind: 'image' }>): HttpError {
  switch (link.kind) {
    case 'no-format':
      return imageErrors.image_not_found()
    case 'fault':
      return badModifier(link.fault)
    case 'no-watermark':
      return imageErrors.modifier_invalid(
        `wm_${link.name}`,
        'no es válido: su imagen no es de la misma aplicación',
      )
    case 'expired':
      return imageErrors.link_expired()
    case 'forged':
      // Not secret: it tells applications that sign links themselves in which order and form.
      return imageErrors.signature_invalid().with({ fields: { signed: link.signed } })
    case 'unsigned':
      return imageErrors.signature_missing()
    case 'no-preset':
      return imageErrors.preset_required()
  }
}

function faultText(fault: ModifierFault): string {
  switch (fault.kind) {
    case 'unknown':
      return 'no existe'
    case 'repeated':
      return 'está repetido'
    case 'range':
      return `no es válido: ${fault.takes}`
    case 'last':
      return 'no es válido: va al final'
  }
}

const YEAR_SECONDS = 31_536_000
/** For links whose meaning can change: caches revalidate them by their `ETag`. */
const DAY_SECONDS = 86_400
const ALIAS_SECONDS = 60

/** A stored SVG may contain script: these headers keep browsers from running it, and from sniffing another type. */
const SAFE_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
}

/**
 * Returns the headers of all responses to a link but errors. The bytes of a hash never change, so caches may keep
 * them indefinitely, unless the link expires or its meaning can change. `Cache-Tag` lets a cache purge all links
 * to an image. A negotiated response is for private caches only by default: many
 * CDNs ignore `Vary`, and would serve AVIF to all clients because the first one accepted it.
 * @param image as the link names it
 * @param now milliseconds since 1970
 * @param sharesVariants whether all shared caches are known to respect `Vary`
 */
export function linkHeaders(
  image: ImageHash | Alias,
  hash: string,
  { varies, isFixed, expires }: Extract<ResolvedLink, { kind: 'image' }>,
  now: number,
  sharesVariants: boolean,
): Headers {
  const left = expires === undefined ? Infinity : Math.max(0, expires - Math.ceil(now / 1_000))
  const isAlias = typeof image !== 'string'
  const lifetime = isFixed ? YEAR_SECONDS : isAlias ? ALIAS_SECONDS : DAY_SECONDS
  const seconds = Math.min(lifetime, left)
  const maxAge = `max-age=${seconds}${isFixed && expires === undefined ? ', immutable' : ''}`
  const scope = varies.length === 0 || sharesVariants ? 'public' : 'private'
  return {
    'cache-control': `${scope}, ${maxAge}`,
    ...SAFE_HEADERS,
    'accept-ranges': 'bytes',
    'cache-tag': isAlias ? `${hash},${toLinkId(image)}` : hash,
    ...(varies.length === 0 ? {} : { vary: varies.join(', ') }),
  }
}

/** Which caches may keep a response with these headers. */
export const cacheScope = (common: Headers): string =>
  common['cache-control']?.startsWith('private') === true ? 'private' : 'public'

/** Other types in a database that was edited by hand are not sent: a link must not serve a web page. */
const IMAGE_MIMES: ReadonlySet<string> = new Set(Object.values(mimeOf))

/** Extensions of files that are not the second part of their type. */
const EXTENSIONS: Readonly<Record<string, string>> = { jpeg: 'jpg', 'svg+xml': 'svg' }

/**
 * Headers of a 200 or 206.
 * @param length bytes of the body
 * @param download name of the file that browsers save, without extension; null to show the image
 */
export function contentHeaders(
  common: Headers,
  etag: string,
  mime: string,
  length: number,
  download: string | null,
): Headers {
  const isImage = IMAGE_MIMES.has(mime)
  const [, subtype = ''] = isImage ? mime.split('/') : []
  const file = `${download}.${EXTENSIONS[subtype] ?? subtype}`
  return {
    ...common,
    etag,
    'content-length': String(length),
    'content-type': isImage ? mime : 'application/octet-stream',
    ...(download === null ? {} : { 'content-disposition': `attachment; filename="${file}"` }),
  }
}

const IMAGE = { 'image/*': { schema: { type: 'string', format: 'binary' } } }

export const linkSchema = {
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
      badModifier({ kind: 'repeated', token: 'w_300' }),
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
