import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import { accessTo, type Access } from './links/access/access.ts'
import { snapped } from './links/access/ladder.ts'
import type { Recipe } from './delivery.ts'
import { derivativeName } from './derivatives/derivative-name.ts'
import type { ImageSettings } from './image-settings.ts'
import type { KnownImage, KnownImages } from './known-images.ts'
import type { LinkTarget } from './link.ts'
import {
  findMisplaced,
  formatOfExtension,
  isIdentity,
  parseModifiers,
  unknownModifier,
  type Grammar,
  type ModifierFault,
  type ParsedModifier,
  type SettledPlan,
} from './links/modifiers/index.ts'
import { settle } from './links/negotiation/negotiate.ts'

/** Pages repeat few modifiers many times: what they mean is worked out once. */
const MAX_READ_MODIFIERS = 5_000
/** The names of their derivatives: more, since one modifier may come to several. */
const MAX_NAMES = 10_000

const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  jpeg: ['jpg', 'jpeg'],
  png: ['png'],
  gif: ['gif'],
  webp: ['webp'],
  avif: ['avif'],
  tiff: ['tif', 'tiff'],
  svg: ['svg'],
}

/** What a link comes to. */
export type Wanted =
  | {
      readonly kind: 'image'
      /** Undefined for the bytes as they were uploaded. */
      readonly recipe: Recipe | undefined
      /** Headers of the request that had a say, in lower case. */
      readonly varies: readonly string[]
      readonly contentDpr: number | undefined
      /** Seconds since 1970. */
      readonly expires: number | undefined
    }
  | { readonly kind: 'fault'; readonly fault: ModifierFault }
  /** The extension is of no format that can be made. */
  | { readonly kind: 'no-format' }
  /** The watermark is no image of the same application. */
  | { readonly kind: 'no-watermark'; readonly name: string }
  | { readonly kind: 'refused'; readonly access: Exclude<Access, { kind: 'granted' }> }

/** Works out what a public link asks for, and whether it may. */
export class LinkReader {
  readonly #settings: ImageSettings
  readonly #images: KnownImages
  readonly #now: () => number
  readonly #read = new LRUCache<string, ParsedModifier>({ max: MAX_READ_MODIFIERS })
  readonly #names = new LRUCache<string, string>({ max: MAX_NAMES })

  /** @param now milliseconds since 1970 */
  constructor(settings: ImageSettings, images: KnownImages, now: () => number) {
    this.#settings = settings
    this.#images = images
    this.#now = now
  }

  async read(target: LinkTarget, image: KnownImage, headers: IncomingHttpHeaders): Promise<Wanted> {
    const { blob, holders } = image
    const misplaced = findMisplaced(target.others, this.#settings.grammar)
    if (misplaced !== undefined) return { kind: 'fault', fault: unknownModifier(misplaced) }
    const parsed = this.#parse(target, blob.format)
    if (parsed === undefined) return { kind: 'no-format' }
    if (!parsed.ok) return { kind: 'fault', fault: parsed.fault }
    const access = accessTo(target.hash, parsed, holders, this.#now())
    if (access.kind !== 'granted') return { kind: 'refused', access }
    const settled = settle(parsed.plan, blob, headers, access.sizes !== 'fixed')
    const plan = access.sizes === 'ladder' ? snapped(settled.plan) : settled.plan
    const { varies, contentDpr } = settled
    const { expires } = parsed.terms
    if (isIdentity(plan)) return { kind: 'image', recipe: undefined, varies, contentDpr, expires }
    const recipe = await this.#recipe(target, plan)
    if (recipe === undefined) return { kind: 'no-watermark', name: plan.watermark ?? '' }
    return { kind: 'image', recipe, varies, contentDpr, expires }
  }

  #parse({ extension, modifier }: LinkTarget, format: string): ParsedModifier | undefined {
    const key = JSON.stringify([format, extension, modifier])
    const known = this.#read.get(key)
    if (known !== undefined) return known
    const parsed = parseLink(extension, modifier, format, this.#settings.grammar)
    // Faults are not kept: their texts have no bound but the address's own.
    if (parsed?.ok === true) this.#read.set(key, parsed)
    return parsed
  }

  async #recipe({ hash }: LinkTarget, plan: SettledPlan): Promise<Recipe | undefined> {
    if (plan.watermark === null) return { plan, mark: undefined, name: this.#nameOf(plan) }
    const place = this.#settings.watermarks.get(plan.watermark)
    if (place === undefined || !(await this.#images.areTogether(hash, place.image))) return undefined
    const mark = await this.#images.find(place.image)
    return mark && { plan, mark: { blob: mark.blob, place }, name: derivativeName(plan, place) }
  }

  #nameOf(plan: SettledPlan): string {
    const key = JSON.stringify(plan)
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const name = derivativeName(plan, undefined)
    this.#names.set(key, name)
    return name
  }
}

/** Undefined when the extension is of no format that can be made. */
export function parseLink(
  extension: string | undefined,
  modifier: string | undefined,
  format: string,
  grammar: Grammar,
): ParsedModifier | undefined {
  const isOwn = extension === undefined || EXTENSIONS[format]?.includes(extension) === true
  const asked = isOwn ? undefined : formatOfExtension(extension)
  return !isOwn && asked === undefined ? undefined : parseModifiers(modifier ?? '', asked, grammar)
}
