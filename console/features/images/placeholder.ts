import { thumbHashToAverageRGBA, thumbHashToDataURL } from 'thumbhash'

export interface Placeholder {
  /** Returns a `data:` URL of a blurred image with some 32 pixels per side. */
  readonly url: string
  /** Not for transparent images, behind which it would show. */
  readonly isSeeThrough: boolean
}

const MAX_KEPT = 2_000
const kept = new Map<string, Placeholder | undefined>()

/** The placeholder of an image; undefined without a ThumbHash. */
export function placeholderOf(thumbhash: string | null): Placeholder | undefined {
  if (thumbhash === null) return undefined
  if (!kept.has(thumbhash)) {
    if (kept.size >= MAX_KEPT) kept.clear()
    kept.set(thumbhash, drawn(thumbhash))
  }
  return kept.get(thumbhash)
}

function drawn(thumbhash: string): Placeholder | undefined {
  try {
    const hash = Uint8Array.from(atob(thumbhash), (character) => character.charCodeAt(0))
    return { url: thumbHashToDataURL(hash), isSeeThrough: thumbHashToAverageRGBA(hash).a < 1 }
  } catch {
    // An image without a placeholder is better than an error.
    return undefined
  }
}
