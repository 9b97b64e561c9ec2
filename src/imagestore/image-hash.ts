import { hash } from 'node:crypto'

/** The name of an image: the first 160 bits of the SHA-256 of its bytes, in 32 base32 characters. */
export type ImageHash = string & { readonly __brand: 'ImageHash' }

/** RFC 4648, section 6, in lower case. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
const HASH_BYTES = 20

export function hashOf(bytes: Uint8Array): ImageHash {
  return hashOfDigest(hash('sha256', bytes, 'buffer'))
}

/** @param digest SHA-256 of an image's bytes */
export function hashOfDigest(digest: Buffer): ImageHash {
  let text = ''
  // 5 bits a character, from a window of less than two bytes.
  let window = 0
  let bits = 0
  for (let i = 0; i < HASH_BYTES; i++) {
    window = ((window & 0xff) << 8) | (digest[i] ?? 0)
    bits += 8
    for (; bits >= 5; bits -= 5) text += BASE32.charAt((window >> (bits - 5)) & 31)
  }
  return text as ImageHash
}

export function isImageHash(text: string): text is ImageHash {
  return /^[a-z2-7]{32}$/.test(text)
}
