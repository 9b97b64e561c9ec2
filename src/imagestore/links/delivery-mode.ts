import { isIdentity, type ParsedText } from '../../lib/modifiers/index.ts'
import type { ImageHash } from '../image-hash.ts'
import { isSignedBy, signedText } from './signature.ts'

/** Which links an application allows to its images, from the most to the least permissive. */
export const DELIVERY_MODES = ['open', 'ladder', 'presets', 'signed'] as const
export type DeliveryMode = (typeof DELIVERY_MODES)[number]

/** Delivery settings of an application that holds an image. */
export interface Holder {
  readonly mode: DeliveryMode
  /** Key of its signatures; null if it never signed a link. */
  readonly secret: string | null
}

/** `stepped`: rounded up to size steps. `fixed`: as the link says, without client hints. */
export type LinkSizes = 'exact' | 'stepped' | 'fixed'

export type LinkAccess =
  | { readonly kind: 'granted'; readonly sizes: LinkSizes }
  | { readonly kind: 'expired' }
  | { readonly kind: 'forged' }
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'no-preset' }

/**
 * Returns whether a link may be served. A valid signature grants access in every mode: only the application can make one.
 * Several applications may hold an image under the same link: the most permissive mode applies.
 * @param now milliseconds since 1970
 */
export function authorizeLink(
  hash: ImageHash,
  { transformation, changes, expires, signature }: ParsedText,
  holders: readonly Holder[],
  now: number,
): LinkAccess {
  const granted = (sizes: LinkSizes): LinkAccess => ({ kind: 'granted', sizes })
  const mode = DELIVERY_MODES.find((one) => holders.some((holder) => holder.mode === one)) ?? 'open'
  if (signature !== undefined) {
    const text = signedText(hash, transformation, expires)
    if (!holders.some(({ secret }) => secret !== null && isSignedBy(secret, text, signature)))
      return { kind: 'forged' }
  }
  if (expires !== undefined && now >= expires * 1_000) return { kind: 'expired' }
  if (signature !== undefined) return granted(mode === 'open' ? 'exact' : 'fixed')
  switch (mode) {
    case 'open':
      return granted('exact')
    case 'ladder':
      return granted('stepped')
    case 'presets': {
      // A preset and perhaps a format: few combinations.
      const isPreset = Object.keys(changes).every((field) => field === 'format')
      return isPreset || isIdentity(transformation) ? granted('fixed') : { kind: 'no-preset' }
    }
    case 'signed':
      return { kind: 'unsigned' }
  }
}
