import { ownsBuffer } from '../lib/release-buffer.ts'
import { hashOf, type ImageHash } from './hash.ts'
import { stripMetadata } from '../lib/image-metadata/index.ts'

export interface StoredBytes {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly hash: ImageHash
}

/**
 * What is stored is what is hashed: the same picture is one image, whatever was said beside it.
 * @param given whose memory may become that of what is returned
 * @param strips without metadata
 * @returns undefined when there is nothing, or it is to be stripped and cannot be
 */
export function storedBytes(given: Buffer, strips: boolean): StoredBytes | undefined {
  const kept = strips ? stripMetadata(given) : given
  if (kept === undefined || kept.byteLength === 0) return undefined
  const bytes = inOwnMemory(kept)
  return { bytes, hash: hashOf(bytes) }
}

/** A copy of a view on a larger buffer, which cannot leave its thread without all of that. */
function inOwnMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return ownsBuffer(bytes) ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes)
}
