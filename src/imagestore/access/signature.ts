import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { ImageHash } from '../hash.ts'
import { canonical, type Plan } from '../modifiers/index.ts'

/** 128 bits: nobody finds one by trying, and links stay short. */
const SIGNATURE_BYTES = 16

/** What a link is signed over. Part of the contract: links are kept for years, and others sign them too. */
export function signedText(hash: ImageHash, plan: Plan, expires: number | undefined): string {
  const terms = [canonical(plan), expires === undefined ? '' : `exp_${expires}`].filter((text) => text !== '')
  return `${hash}&m=${terms.join(',')}`
}

export function sign(secret: string, text: string): string {
  return digest(secret, text).toString('base64url')
}

/** Takes the same time whatever the signature is. */
export function isSignedBy(secret: string, text: string, signature: string): boolean {
  const given = Buffer.from(signature, 'base64url')
  return given.byteLength === SIGNATURE_BYTES && timingSafeEqual(given, digest(secret, text))
}

const digest = (secret: string, text: string): Buffer =>
  createHmac('sha256', secret).update(text).digest().subarray(0, SIGNATURE_BYTES)

/** 256 random bits. */
export const newSecret = (): string => randomBytes(32).toString('base64url')
