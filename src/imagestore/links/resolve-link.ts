import type { IncomingHttpHeaders } from 'node:http'
import { lruCache } from '../../lib/lru-cache.ts'
import {
  findMisplaced,
  isIdentity,
  unknownModifier,
  type ModifierFault,
  type ParsedModifiers,
  type ResolvedTransformation,
} from '../../lib/modifiers/index.ts'
import type { Recipe } from '../delivery.ts'
import { derivativeName } from '../derivatives/derivative-name.ts'
import type { ImageSettings } from '../image-settings.ts'
import type { KnownImage, KnownImages } from '../known-images.ts'
import { authorizeLink, type LinkAccess } from './delivery-mode.ts'
import { roundToSteps } from './size-steps.ts'
import { negotiate } from './negotiation.ts'
import { parseLink, type LinkTarget } from './read-link.ts'

/** Pages repeat few modifiers many times, so parsed ones are cached. */
const MAX_CACHED_MODIFIERS = 5_000
/** More than modifiers: negotiation resolves one of them to several transformations. */
const MAX_CACHED_NAMES = 10_000

/** What a link resolves to. */
export type ResolvedLink =
  | {
      readonly kind: 'image'
      /** Undefined for the original. */
      readonly recipe: Recipe | undefined
      /** Request headers that the answer depends on, in lower case. */
      readonly varies: readonly string[]
      readonly contentDpr: number | undefined
      /** Seconds since 1970. */
      readonly expires: number | undefined
    }
  | { readonly kind: 'fault'; readonly fault: ModifierFault }
  /** No image can be made with the link's extension. */
  | { readonly kind: 'no-format' }
  /** No application holds both the image and the watermark. */
  | { readonly kind: 'no-watermark'; readonly name: string }
  | { readonly kind: 'refused'; readonly access: Exclude<LinkAccess, { kind: 'granted' }> }

/** Resolves public links: what they ask for, and whether that is allowed. */
export class LinkResolver {
  readonly #settings: ImageSettings
  readonly #images: KnownImages
  readonly #now: () => number
  readonly #parsed = lruCache<ParsedModifiers>(MAX_CACHED_MODIFIERS)
  readonly #names = lruCache<string>(MAX_CACHED_NAMES)

  /** @param now milliseconds since 1970 */
  constructor(settings: ImageSettings, images: KnownImages, now: () => number) {
    this.#settings = settings
    this.#images = images
    this.#now = now
  }

  /** @param client whose turn reads from the database use */
  async resolve(
    target: LinkTarget,
    { blob, holders }: KnownImage,
    headers: IncomingHttpHeaders,
    client: string,
  ): Promise<ResolvedLink> {
    const misplaced = findMisplaced(target.others, this.#settings.grammar)
    if (misplaced !== undefined) return { kind: 'fault', fault: unknownModifier(misplaced) }
    const parsed = this.#parse(target, blob.format)
    if (parsed === undefined) return { kind: 'no-format' }
    if (!parsed.ok) return { kind: 'fault', fault: parsed.fault }
    const access = authorizeLink(target.hash, parsed, holders, this.#now())
    if (access.kind !== 'granted') return { kind: 'refused', access }
    const negotiated = negotiate(parsed.transformation, blob, headers, access.sizes !== 'fixed')
    const { varies, contentDpr } = negotiated
    const exact = negotiated.transformation
    const transformation = access.sizes === 'stepped' ? roundToSteps(exact) : exact
    const { expires } = parsed
    if (isIdentity(transformation)) return { kind: 'image', recipe: undefined, varies, contentDpr, expires }
    const recipe = await this.#recipeFor(target, transformation, client)
    if (recipe === undefined) return { kind: 'no-watermark', name: transformation.watermark ?? '' }
    return { kind: 'image', recipe, varies, contentDpr, expires }
  }

  #parse(target: LinkTarget, format: string): ParsedModifiers | undefined {
    const key = JSON.stringify([format, target.extension, target.modifier])
    const cached = this.#parsed.get(key)
    if (cached !== undefined) return cached
    const parsed = parseLink(target, format, this.#settings.grammar)
    // Faults are not cached: their texts may be as long as an address.
    if (parsed?.ok === true) this.#parsed.set(key, parsed)
    return parsed
  }

  async #recipeFor(
    { hash }: LinkTarget,
    transformation: ResolvedTransformation,
    client: string,
  ): Promise<Recipe | undefined> {
    const { watermark } = transformation
    if (watermark === null) return { transformation, mark: undefined, name: this.#nameOf(transformation) }
    const place = this.#settings.watermarks.get(watermark)
    if (place === undefined || !(await this.#images.areTogether(hash, place.image, client))) return undefined
    const mark = await this.#images.find(place.image, client)
    const name = derivativeName(transformation, place)
    return mark && { transformation, mark: { blob: mark.blob, place }, name }
  }

  #nameOf(transformation: ResolvedTransformation): string {
    const key = JSON.stringify(transformation)
    const cached = this.#names.get(key)
    if (cached !== undefined) return cached
    const name = derivativeName(transformation, undefined)
    this.#names.set(key, name)
    return name
  }
}
