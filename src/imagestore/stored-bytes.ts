import { hashOf, type ImageHash } from './hash.ts'
import { strip } from './strip/index.ts'

export interface StoredBytes {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly hash: ImageHash
}

/**
 * What is stored is what is hashed: the same picture is one image, whatever was said beside it.
 * @param strips without metadata
 * @returns undefined when there is nothing, or it is to be stripped and cannot be
 */
export function storedBytes(given: Buffer, strips: boolean): StoredBytes | undefined {
  const kept = strips ? strip(given) : given
  if (kept === undefined || kept.byteLength === 0) return undefined
  // A copy: a view on a larger buffer cannot leave its thread without all of that.
  const bytes = new Uint8Array(kept)
  return { bytes, hash: hashOf(bytes) }
}
