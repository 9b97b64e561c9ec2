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
  // 5 bytes are 8 letters, so 20 bytes come out even.
  for (let i = 0; i < 20; i += 5) {
    let bits = BigInt(`0x${digest.subarray(i, i + 5).toString('hex')}`)
    let letters = ''
    for (let j = 0; j < 8; j++) {
      letters = BASE32.charAt(Number(bits & 31n)) + letters
      bits >>= 5n
    }
    text += letters
  }
  return text as ImageHash
}

export function isImageHash(text: string): text is ImageHash {
  return /^[a-z2-7]{32}$/.test(text)
}
