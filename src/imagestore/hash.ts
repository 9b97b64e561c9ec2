import { hash } from 'node:crypto'

/** What names an image: 32 characters that stand for the first 160 bits of its bytes' SHA-256. */
export type ImageHash = string & { readonly __brand: 'ImageHash' }

/** RFC 4648, section 6, in lower case. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

export function hashOf(bytes: Uint8Array): ImageHash {
  return hashOfDigest(hash('sha256', bytes, 'buffer'))
}

/** @param digest SHA-256 of an image's bytes */
export function hashOfDigest(digest: Buffer): ImageHash {
  let text = ''
  // 5 bits a letter, from a window that holds less than two bytes at a time.
  let bits = 0
  let held = 0
  for (let i = 0; i < 20; i++) {
    bits = ((bits & 0xff) << 8) | (digest[i] ?? 0)
    held += 8
    for (; held >= 5; held -= 5) text += BASE32.charAt((bits >> (held - 5)) & 31)
  }
  return text as ImageHash
}

export function isImageHash(text: string): text is ImageHash {
  return /^[a-z2-7]{32}$/.test(text)
}

/** Whether these are the bytes that `hash` names. */
export const isHashOf = (bytes: Uint8Array, hash: string): boolean => hashOf(bytes) === hash
