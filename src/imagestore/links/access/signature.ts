import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { ImageHash } from '../../hash.ts'
import { canonical, type Plan } from '../modifiers/index.ts'

/** 128 bits: nobody finds one by trying, and links stay short. */
const SIGNATURE_BYTES = 16

/** What a link is signed over. Part of the contract: links are kept for years, and others sign them too. */
export function signedText(hash: ImageHash, plan: Plan, expires: number | undefined): string {
  const terms = [canonical(plan), expires === undefined ? '' : `exp_${expires}`].filter((text) => text !== '')
  return `${hash}&m=${terms.join(',')}`
}

export function sign(secret: string, text: string): string {
  const digest = createHmac('sha256', secret).update(text).digest()
  return digest.subarray(0, SIGNATURE_BYTES).toString('base64url')
}

/**
 * Compares in constant time. The texts are compared, not the bytes they stand for: the last of 22 base64 characters has four
 * unused bits, so decoding would accept 16 spellings of one signature.
 */
export function isSignedBy(secret: string, text: string, signature: string): boolean {
  const given = Buffer.from(signature)
  const expected = Buffer.from(sign(secret, text))
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected)
}

/** 256 random bits. */
export const newSecret = (): string => randomBytes(32).toString('base64url')
