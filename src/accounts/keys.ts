import { hash, randomBytes } from 'node:crypto'

/** An API key as its holder knows it. It is shown once and never stored. */
export type ApiKey = string & { readonly __brand: 'ApiKey' }

/** 32 letters and digits, 5 bits each, without those that are easily confused. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Generates a key of 160 random bits. */
export function newApiKey(): ApiKey {
  return randomText(32) as ApiKey
}

/** Generates a short public id of a key, for lists and revocation. */
export function newKeyId(): string {
  return randomText(10)
}

/**
 * Returns the digest of a key, the only form in which it is stored. A plain hash is enough, because a key is random and not a
 * password. Looking it up in an index leaks no timing: an attacker cannot choose the leading characters of a digest.
 */
export function digestOf(key: string): string {
  return hash('sha256', key)
}

/**
 * Returns the digest of a limited key. It differs from `digestOf`, so that a node of a version without limits rejects the key
 * instead of taking it for an unlimited one.
 */
export function limitedDigestOf(key: string): string {
  return hash('sha256', `limited ${key}`)
}

function randomText(length: number): string {
  let text = ''
  for (const byte of randomBytes(length)) text += ALPHABET[byte & 31]
  return text
}
