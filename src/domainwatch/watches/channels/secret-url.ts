import { readTarget, type IsAllowedAddress } from '../webhook/connect.ts'
import type { ParsedAddress } from './channel.ts'

const MAX_LENGTH = 2_048
const TAKES_LENGTH = `debe tener direcciones de ${MAX_LENGTH} caracteres como máximo`

/** Parses the URL of a receiver, which clients choose. */
export function parseUrl(text: string, isAllowedAddress: IsAllowedAddress): ParsedAddress {
  if (text.length > MAX_LENGTH) return { ok: false, takes: TAKES_LENGTH }
  const target = readTarget(text, isAllowedAddress)
  return target.ok ? { ok: true, address: target.url } : target
}

/** Shows only the origin of a URL whose path is a secret. */
export const showOrigin = (address: string): string => `${new URL(address).origin}/…`
