import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  canonical,
  isIdentity,
  MAX_SIDE_PIXELS,
  type ParsedText,
  type ResolvedTransformation,
  type Transformation,
} from '../modifiers/index.ts'
import type { ImageHash } from '../image-hash.ts'
import { toLinkId, type Alias } from './read-link.ts'

/** Which links an application allows to its images, from the most to the least permissive. */
export const DELIVERY_MODES = ['open', 'ladder', 'presets', 'signed'] as const
export type DeliveryMode = (typeof DELIVERY_MODES)[number]

/** Delivery settings of an application that holds an image. */
export interface Holder {
  readonly mode: DeliveryMode
  /** Key of its signatures; null if it never signed a link. */
  readonly secret: string | null
}

/** `stepped`: rounded up to size steps. */
export type LinkSizes = 'exact' | 'stepped'

export type LinkAccess =
  | { readonly kind: 'granted'; readonly sizes: LinkSizes }
  | { readonly kind: 'expired' }
  /** `signed` is the text that a signature of the link covers. */
  | { readonly kind: 'forged'; readonly signed: string }
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'no-preset' }

/**
 * Returns whether a link may be served. A valid signature grants access in every mode: only the application can make one.
 * Several applications may hold an image under the same link: the most permissive mode applies.
 * @param now milliseconds since 1970
 */
export function authorizeLink(
  image: ImageHash | Alias,
  { transformation, changes, expires, signature }: ParsedText,
  holders: readonly Holder[],
  now: number,
): LinkAccess {
  const granted = (sizes: LinkSizes): LinkAccess => ({ kind: 'granted', sizes })
  const mode = DELIVERY_MODES.find((one) => holders.some((holder) => holder.mode === one)) ?? 'open'
  if (signature !== undefined) {
    const text = linkText(image, tokensOf(transformation, expires))
    if (!holders.some(({ secret }) => secret !== null && isSignedBy(secret, text, signature)))
      return { kind: 'forged', signed: text }
  }
  if (expires !== undefined && now >= expires * 1_000) return { kind: 'expired' }
  if (signature !== undefined) return granted('exact')
  switch (mode) {
    case 'open':
      return granted('exact')
    case 'ladder':
      return granted('stepped')
    case 'presets': {
      // A preset and perhaps a format: few combinations. The name of a file makes no other.
      const isPreset = Object.keys(changes).every((field) => field === 'format' || field === 'download')
      return isPreset || isIdentity(transformation) ? granted('exact') : { kind: 'no-preset' }
    }
    case 'signed':
      return { kind: 'unsigned' }
  }
}

/** Pixels. From 24 on a step is at most half as large again as the one below, so outputs are never much larger than requested. */
export const SIZE_STEPS = [
  16, 24, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 480, 512, 640, 768, 960, 1024, 1280, 1440, 1600, 1920,
  2048, 2560, 3072, 3840, 4096, 5120, 6144, 8192,
]

/** Rounds width and height up to the next step. The device pixel ratio goes into them. */
export function roundToSteps(transformation: ResolvedTransformation): ResolvedTransformation {
  const { width, height, dpr } = transformation
  const nextStep = (pixels: number) =>
    SIZE_STEPS.find((step) => step >= Math.round(pixels * dpr)) ?? MAX_SIDE_PIXELS
  return { ...transformation, width: width && nextStep(width), height: height && nextStep(height), dpr: 1 }
}

/** 128 bits: enough against guessing, and links stay short. */
const SIGNATURE_BYTES = 16

const tokensOf = (transformation: Transformation, expires: number | undefined): readonly string[] =>
  [canonical(transformation), expires === undefined ? '' : `exp_${expires}`].filter((token) => token !== '')

/**
 * Joins a link, without the address of the service and `/i/`. Signatures cover the link without their own token. Part of the
 * contract: links live for years, and applications sign them too.
 */
const linkText = (image: ImageHash | Alias, tokens: readonly string[]): string =>
  `${toLinkId(image)}&m=${tokens.join(',')}`

/** Returns a signed link, without the address of the service and `/i/`. */
export function signedLink(
  secret: string,
  image: ImageHash | Alias,
  transformation: Transformation,
  expires: number | undefined,
): string {
  const tokens = tokensOf(transformation, expires)
  return linkText(image, [...tokens, `sig_${signText(secret, linkText(image, tokens))}`])
}

/** Returns the signature of a text, in base64url. */
function signText(secret: string, text: string): string {
  const digest = createHmac('sha256', secret).update(text).digest()
  return digest.subarray(0, SIGNATURE_BYTES).toString('base64url')
}

/**
 * Compares in constant time. Compares texts, not decoded bytes: the last of 22 base64 characters has four unused bits, so
 * decoding would accept 16 spellings of one signature.
 */
function isSignedBy(secret: string, text: string, signature: string): boolean {
  const given = Buffer.from(signature)
  const expected = Buffer.from(signText(secret, text))
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected)
}

/** 256 random bits. */
export const newLinkSecret = (): string => randomBytes(32).toString('base64url')
