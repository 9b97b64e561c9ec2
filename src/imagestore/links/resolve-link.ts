import { createHash, hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import type { Client } from '../../lib/client.ts'
import type { Clock } from '../../lib/clock.ts'
import { areaOf } from '../decoder/geometry.ts'
import type { Size } from '../decoder/stage.ts'
import {
  canonical,
  isIdentity,
  modifiers,
  type Gravity,
  type ModifierFault,
  type ResolvedTransformation,
  type Transformation,
} from '../modifiers/index.ts'
import type { Recipe } from '../delivery.ts'
import type { ImageDefinitions } from '../definitions.ts'
import type { ImageSettings, Watermark } from '../image-settings.ts'
import type { KnownImage, KnownImages } from '../known-images.ts'
import { authorizeLink, roundToSteps, type LinkAccess } from './delivery-mode.ts'
import { negotiate } from './negotiation.ts'
import { parseLink, type LinkTarget } from './read-link.ts'

/** What a link resolves to. */
export type ResolvedLink =
  | {
      readonly kind: 'image'
      /** Undefined for the original. */
      readonly recipe: Recipe | undefined
      /** Request headers that the answer depends on, in lower case. */
      readonly varies: readonly string[]
      /** Whether the link always means the same: presets, watermarks and `g_auto` can be redefined. */
      readonly isFixed: boolean
      /** Seconds since 1970. */
      readonly expires: number | undefined
      /** Name of the file, without extension, as which browsers save the image; null to show it. */
      readonly download: string | null
      /** The presets and watermarks that it was resolved with. */
      readonly settings: ImageSettings
    }
  | { readonly kind: 'fault'; readonly fault: ModifierFault }
  /** No image can be made with the link's extension. */
  | { readonly kind: 'no-format' }
  /** No application holds both the image and the watermark. */
  | { readonly kind: 'no-watermark'; readonly name: string }
  | { readonly kind: 'refused'; readonly access: Exclude<LinkAccess, { kind: 'granted' }> }

/** Resolves a link: what it asks for, and whether that is allowed. @param client whose turn reads from the database use */
export type ResolveLink = (
  target: LinkTarget,
  image: KnownImage,
  headers: IncomingHttpHeaders,
  client: Client,
  /** `trusted`: the application asks for it itself, which needs no signature. */
  asker?: 'anyone' | 'trusted',
) => Promise<ResolvedLink>

export function linkResolver(
  definitions: Pick<ImageDefinitions, 'current'>,
  images: KnownImages,
  clock: Clock,
): ResolveLink {
  return async (target, image, headers, client, asker = 'anyone') => {
    const { blob, holders } = image
    const settings = await definitions.current(client)
    const parsed = parseLink(target, blob.format, settings.grammar)
    if (parsed === undefined) return { kind: 'no-format' }
    if (!parsed.ok) return { kind: 'fault', fault: parsed.fault }
    const allowed = authorizeLink(target.image, parsed, holders, clock.now())
    const isTrusted = asker === 'trusted' && allowed.kind === 'unsigned'
    const access: LinkAccess = isTrusted ? { kind: 'granted', sizes: 'exact' } : allowed
    if (access.kind !== 'granted') return { kind: 'refused', access }
    const outside = areaFault(parsed.transformation, blob)
    if (outside !== undefined) return { kind: 'fault', fault: outside }
    const { transformation: wanted, expires, preset } = parsed
    const { download } = wanted
    const isAuto = wanted.gravity.kind === 'auto'
    const gravity: Gravity =
      isAuto && image.focus !== undefined
        ? { kind: 'point', ...turned(withinArea(image.focus, wanted, blob), wanted) }
        : wanted.gravity
    // The name of a download changes no byte: one derivative serves all.
    const requested = { ...wanted, gravity, download: null }
    const { transformation: exact, varies } = negotiate(requested, blob, headers)
    const transformation = access.sizes === 'stepped' ? roundToSteps(exact) : exact
    const isAlias = typeof target.image !== 'string'
    const isFixed = preset === undefined && transformation.watermark === null && !isAuto && !isAlias
    if (isIdentity(transformation))
      return { kind: 'image', recipe: undefined, varies, isFixed, expires, download, settings }
    const recipe = await recipeFor(image, transformation, settings.watermarks, client)
    if (recipe === undefined) return { kind: 'no-watermark', name: transformation.watermark ?? '' }
    return { kind: 'image', recipe, varies, isFixed, expires, download, settings }
  }

  async function recipeFor(
    { holders }: KnownImage,
    transformation: ResolvedTransformation,
    watermarks: ImageSettings['watermarks'],
    client: Client,
  ): Promise<Recipe | undefined> {
    const { watermark } = transformation
    if (watermark === null)
      return { transformation, mark: undefined, name: derivativeName(transformation, undefined) }
    const place = watermarks.get(watermark)
    const mark = place && (await images.find(place.image, client))
    const isOwn = ({ account_id }: (typeof holders)[number]) =>
      mark?.holders.some((holder) => holder.account_id === account_id) === true
    if (place === undefined || mark === undefined || !holders.some(isOwn)) return undefined
    return { transformation, mark: { blob: mark.blob, place }, name: derivativeName(transformation, place) }
  }
}

interface Point {
  readonly x: number
  readonly y: number
}

const toShare = (share: number) => Math.round(Math.min(1, Math.max(0, share)) * 1_000) / 1_000

/** Where a point of an image is in the part that is cut out of it; on its edge if it is outside. */
function withinArea(point: Point, transformation: Transformation, image: Size): Point {
  const area = areaOf(transformation, image)
  if (area === undefined) return point
  return {
    x: toShare((point.x * image.width - area.left) / area.width),
    y: toShare((point.y * image.height - area.top) / area.height),
  }
}

/** Where a point of an image is after `r_`, `flip` and `flop`, which come before the crop. */
function turned({ x, y }: Point, { rotate, flip, flop }: Transformation): Point {
  const rest = (share: number) => toShare(1 - share)
  const rotations = {
    0: { x, y },
    90: { x: rest(y), y: x },
    180: { x: rest(x), y: rest(y) },
    270: { x: y, y: rest(x) },
  }
  const point = rotations[rotate]
  return { x: flop ? rest(point.x) : point.x, y: flip ? rest(point.y) : point.y }
}

/** The fault of a link to a part that lies outside of its image. */
function areaFault(transformation: Transformation, image: Size): ModifierFault | undefined {
  const { rect, rel } = transformation
  if (areaOf(transformation, image) !== undefined) return undefined
  const isRect = areaOf({ rect, rel: null }, image) === undefined
  const token = isRect ? modifiers.rect.format(rect) : modifiers.rel.format(rel)
  return { kind: 'range', token, takes: 'una parte que esté dentro de la imagen' }
}

/** Folders whose code decides how a plan becomes pixels and bytes. */
const RENDERING_FOLDERS = ['../decoder/', '../modifiers/', '../../lib/image-metadata/']

/**
 * A digest of that code and of sharp's version. A program that may render differently never finds what another one
 * rendered, without a version number that has to be incremented.
 */
const RENDERING_DIGEST = digestRendering()

function digestRendering(): string {
  const digest = createHash('sha256')
  for (const name of RENDERING_FOLDERS) {
    const folder = new URL(name, import.meta.url)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) =>
      file.replaceAll('\\', '/'),
    )
    for (const file of files.sort()) {
      if (!/\.[jt]s$/.test(file) || /\.(test|d)\.ts$/.test(file)) continue
      digest.update(`${file}\n`).update(readFileSync(new URL(file, folder)))
    }
  }
  // Read from its package.json, because loading sharp would take tens of megabytes that only the decoders need.
  const sharpPackage = readFileSync(new URL('../package.json', import.meta.resolve('sharp')))
  return digest.update(sharpPackage).digest('hex')
}

/** The name of the derivative that this program renders for `plan`: 32 hexadecimal digits. */
function derivativeName(plan: ResolvedTransformation, watermark: Watermark | undefined): string {
  const suffix = watermark === undefined ? '' : ` ${JSON.stringify(watermark)}`
  return hash('sha256', `${RENDERING_DIGEST} ${canonical(plan)}${suffix}`).slice(0, 32)
}
