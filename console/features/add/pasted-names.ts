import { parseName } from './parse-name.ts'
import type { TextKey } from '../../i18n/index.ts'

/** Maximum number of names; longer lists go through the import screen. */
export const MAX_NAMES = 1_000

/** A date or a time: another column of a pasted table, though dates with hyphens would be valid names. */
const DATE = /^(\d{4}([-/.])\d\d?\2\d\d?(T.*)?|\d\d?([-/.])\d\d?\4\d{4}|\d\d?:\d\d(:\d\d)?)$/

/** A date as the console writes it, with its year or its time: `22 nov 2026, 14:05`. */
const WRITTEN_DATE =
  /(?<!\S)\d\d? (ene|feb|mar|abr|may|jun|jul|ago|sept?|oct|nov|dic|jan|apr|aug|dec)\.?( \d{4}(, \d\d:\d\d)?|, \d\d:\d\d)(?!\S)/gi

export interface PastedNames {
  /** Valid names in the order of the text, each once. */
  readonly names: readonly string[]
  readonly invalid: readonly { readonly text: string; readonly reason: TextKey }[]
  /** Number of repeated names. */
  readonly repeated: number
  readonly isTooLong: boolean
}

/** Reads names from any text: one or several per line, with separators, quotes, or as URLs. */
export function parsePasted(text: string): PastedNames {
  const names = new Set<string>()
  const invalid = new Map<string, TextKey>()
  let repeated = 0
  let isTooLong = false
  for (const [word] of text.replaceAll(WRITTEN_DATE, ' ').matchAll(/[^\s,;|"'<>()]+/g)) {
    if (names.size + invalid.size >= MAX_NAMES) {
      isTooLong = true
      break
    }
    if (DATE.test(word)) continue
    const read = parseName(hostOf(word))
    if ('reason' in read) invalid.set(word, read.reason)
    else if (names.has(read.name)) repeated++
    else names.add(read.name)
  }
  return {
    names: [...names],
    invalid: [...invalid].map(([word, reason]) => ({ text: word, reason })),
    repeated,
    isTooLong,
  }
}

/** `casa.cl` from `https://www.casa.cl/contacto`. */
function hostOf(word: string): string {
  const host = word.replace(/^https?:\/\//i, '').replace(/^([^/?#:]*\.[^/?#:]*)[/?#:].*$/, '$1')
  return /^www\..+\.cl\.?$/i.test(host) ? host.slice('www.'.length) : host
}
