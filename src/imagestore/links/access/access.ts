import type { ImageHash } from '../../hash.ts'
import { isIdentity, type ParsedModifier } from '../modifiers/index.ts'
import { modeOf, type Holder } from './modes.ts'
import { isSignedBy, signedText } from './signature.ts'

type Read = Extract<ParsedModifier, { ok: true }>

/** `ladder`: from the ladder only. `fixed`: those of the link, whatever else the request says of sizes. */
export type Sizes = 'exact' | 'ladder' | 'fixed'

export type Access =
  | { readonly kind: 'granted'; readonly sizes: Sizes }
  | { readonly kind: 'expired' }
  | { readonly kind: 'forged' }
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'no-preset' }

/**
 * Whether an image may be asked for like this. A right signature opens every mode: the application itself has settled it.
 * @param now milliseconds since 1970
 */
export function accessTo(
  hash: ImageHash,
  { plan, terms }: Pick<Read, 'plan' | 'terms'>,
  holders: readonly Holder[],
  now: number,
): Access {
  const { expires, signature } = terms
  const granted = (sizes: Sizes): Access => ({ kind: 'granted', sizes })
  const mode = modeOf(holders)
  if (signature !== undefined) {
    const text = signedText(hash, plan, expires)
    if (!holders.some(({ secret }) => secret !== null && isSignedBy(secret, text, signature)))
      return { kind: 'forged' }
  }
  if (expires !== undefined && now >= expires * 1_000) return { kind: 'expired' }
  if (signature !== undefined) return granted(mode === 'open' ? 'exact' : 'fixed')
  switch (mode) {
    case 'open':
      return granted('exact')
    case 'ladder':
      return granted('ladder')
    case 'presets':
      return isIdentity(plan) || isPreset(terms) ? granted('fixed') : { kind: 'no-preset' }
    case 'signed':
      return { kind: 'unsigned' }
  }
}

/** A preset, or none, and perhaps a format: those are few. */
const isPreset = ({ settled }: Read['terms']): boolean => [...settled].every((field) => field === 'format')
