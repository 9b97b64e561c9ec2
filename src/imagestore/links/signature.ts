import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { canonical, type Transformation } from '../../lib/modifiers/index.ts'
import type { ImageHash } from '../image-hash.ts'

/** 128 bits: enough against guessing, and links stay short. */
const SIGNATURE_BYTES = 16

/** The text that a signature covers. Part of the contract: links live for years, and applications sign them too. */
export function signedText(
  hash: ImageHash,
  transformation: Transformation,
  expires: number | undefined,
): string {
  const tokens = [canonical(transformation), expires === undefined ? '' : `exp_${expires}`]
  return `${hash}&m=${tokens.filter((token) => token !== '').join(',')}`
}

/** Returns the signature of a text, in base64url. */
export function signText(secret: string, text: string): string {
  const digest = createHmac('sha256', secret).update(text).digest()
  return digest.subarray(0, SIGNATURE_BYTES).toString('base64url')
}

/**
 * Compares in constant time. Compares texts, not decoded bytes: the last of 22 base64 characters has four unused bits, so
 * decoding would accept 16 spellings of one signature.
 */
export function isSignedBy(secret: string, text: string, signature: string): boolean {
  const given = Buffer.from(signature)
  const expected = Buffer.from(signText(secret, text))
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected)
}

/** 256 random bits. */
export const newLinkSecret = (): string => randomBytes(32).toString('base64url')
