import { hash, randomBytes } from 'node:crypto'

/** Generates the secret part of an address that needs no key. */
export const newToken = (): string => randomBytes(20).toString('base64url')

/** Tokens are random, so a plain hash suffices to make a leaked database useless. */
export const digestOf = (token: string): string => hash('sha256', token)
