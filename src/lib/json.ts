export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a JSON value is an object. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parses JSON. Returns undefined, which no JSON has as its value, if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Deepest nesting accepted. V8 parses any depth, but needs 50 bytes of memory per byte of `[[[[…` (1.3 GB for a body of 27 MB), and
 * recursive code that later visits such a value overflows the stack.
 */
const MAX_DEPTH = 512

const QUOTE = 0x22
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Parses untrusted JSON. Returns undefined if the text is not JSON, or nested deeper than 512. */
export function parseJsonText(text: string): unknown {
  return isTooDeep(text) ? undefined : parseJson(text)
}

/** What else is wrong is left to `JSON.parse`. */
function isTooDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) at = stringEnd(text, at + 1)
    else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) return true
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) depth--
  }
  return false
}

/** Returns the index of the closing quote of a string whose contents start at `at`. */
function stringEnd(text: string, at: number): number {
  for (; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) break
    if (character === BACKSLASH) at++
  }
  return at
}
