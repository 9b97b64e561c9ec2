import { hash, randomBytes } from 'node:crypto'

/** An API key as its holder knows it. It is shown once and never stored. */
export type ApiKey = string & { readonly __brand: 'ApiKey' }

/** Letters and digits that nobody confuses when a key is read aloud; 32 of them carry 5 bits each. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'

/** A new key of 160 random bits, which no one finds by trying. */
export function newApiKey(): ApiKey {
  return randomText(32) as ApiKey
}

/** A short public name for a key, to revoke it by. */
export function newKeyId(): string {
  return randomText(10)
}

/**
 * What is stored of a key. A plain hash is enough: a key is random, not a password, so there is no
 * dictionary to try. Looking the digest up in an index leaks no timing of the key: whoever guesses
 * cannot steer the digest's leading characters.
 */
export function digestOf(key: string): string {
  return hash('sha256', key)
}

/**
 * What is stored of a limited key. It differs from `digestOf`, so that a node of a version without limits, which would take
 * the key for a full one, does not know it.
 */
export function limitedDigestOf(key: string): string {
  return hash('sha256', `limited ${key}`)
}

function randomText(length: number): string {
  let text = ''
  for (const byte of randomBytes(length)) text += ALPHABET[byte & 31]
  return text
}
