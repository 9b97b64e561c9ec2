import { MAX_LABEL_CHARACTERS } from '../../base/constants.ts'
import type { TextKey } from '../../i18n/index.ts'

const ALPHABET = /^[a-z0-9áéíóúüñ-]+$/

export type ParsedName = { readonly name: string } | { readonly reason: TextKey }

/** Parses a name in any case, with or without suffix, or as an A-label, by the rules of .cl. */
export function parseName(text: string): ParsedName {
  const bare = text
    .trim()
    .toLowerCase()
    .normalize('NFC')
    .replace(/\.cl\.?$/, '')
  if (bare === '') return { reason: 'fault.noName' }
  if (bare.includes('.')) return { reason: 'add.reason.suffix' }
  const name = bare.startsWith('xn--') ? decodePunycode(bare.slice(4)) : bare
  if (name === undefined || !ALPHABET.test(name)) return { reason: 'add.reason.letters' }
  if (name.startsWith('-') || name.endsWith('-') || name.startsWith('--', 2)) {
    return { reason: 'add.reason.hyphen' }
  }
  const ascii = /^[\x20-\x7e]*$/.test(name) ? name : toAscii(name)
  if (ascii === undefined || ascii.length > MAX_LABEL_CHARACTERS) return { reason: 'add.reason.length' }
  if (bare.startsWith('xn--') && ascii !== bare) return { reason: 'add.reason.letters' }
  return { name }
}

function toAscii(name: string): string | undefined {
  try {
    return new URL(`http://${name}.cl`).hostname.slice(0, -'.cl'.length)
  } catch {
    return undefined
  }
}

/** Decodes Punycode (RFC 3492, section 6.2) to Latin-1; undefined for other letters and invalid input. */
function decodePunycode(input: string): string | undefined {
  const cut = input.lastIndexOf('-')
  const output = input.slice(0, Math.max(0, cut)).split('')
  let [n, i, bias] = [128, 0, 72]
  for (let at = cut + 1; at < input.length;) {
    const old = i
    for (let [weight, k] = [1, 36]; ; k += 36) {
      const digit = 'abcdefghijklmnopqrstuvwxyz0123456789'.indexOf(input[at++] ?? '-')
      if (digit === -1 || i > 0xffff_ffff) return undefined
      i += digit * weight
      const threshold = Math.min(26, Math.max(1, k - bias))
      if (digit < threshold) break
      weight *= 36 - threshold
    }
    const points = output.length + 1
    let delta = old === 0 ? Math.floor(i / 700) : (i - old) >> 1
    delta += Math.floor(delta / points)
    for (bias = 0; delta > 455; bias += 36) delta = Math.floor(delta / 35)
    bias += Math.floor((36 * delta) / (delta + 38))
    n += Math.floor(i / points)
    i %= points
    if (n > 0xff) return undefined
    output.splice(i++, 0, String.fromCharCode(n))
  }
  return output.join('')
}
