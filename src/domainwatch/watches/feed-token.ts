import { hash, randomBytes } from 'node:crypto'

/** Generates the secret part of a feed's address. */
export function newFeedToken(): string {
  return randomBytes(20).toString('base64url')
}

/** Tokens are random, so a plain hash suffices to make a leaked database useless. */
export function digestOf(token: string): string {
  return hash('sha256', token)
}
