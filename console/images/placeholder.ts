import { thumbHashToAverageRGBA, thumbHashToDataURL } from 'thumbhash'

export interface Placeholder {
  /** A `data:` address of a blurred picture of some 32 pixels a side. */
  readonly url: string
  /** Behind what can be seen through it must not stay. */
  readonly isSeeThrough: boolean
}

const MAX_KEPT = 2_000
const kept = new Map<string, Placeholder | undefined>()

/** What stands where a picture will be; undefined where the service has no ThumbHash of it. */
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
    // A picture without a placeholder is better than none.
    return undefined
  }
}
