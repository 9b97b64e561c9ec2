import { isIP } from 'node:net'
import type { MayConnect } from './addresses.ts'

export type Target =
  | { readonly ok: true; readonly url: string }
  /** What a webhook's address has to be, in Spanish, to follow the parameter's name. */
  | { readonly ok: false; readonly takes: string }

/** Reads the address of a receiver. Where a name leads is checked at each delivery: it may lead elsewhere then. */
export function readTarget(text: string, mayConnect: MayConnect): Target {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    return { ok: false, takes: 'debe ser una dirección http:// o https:// sin usuario ni contraseña' }
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isForbidden = isIP(host) === 0 ? /(^|\.)localhost\.?$/.test(host) : !mayConnect(host)
  if (isForbidden) return { ok: false, takes: 'debe llevar a una dirección pública' }
  url.hash = ''
  return { ok: true, url: url.href }
}
