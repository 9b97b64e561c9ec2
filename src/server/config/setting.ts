/** The value of a setting, or a description of the permitted values. */
export type Parsed<T> =
  | { readonly value: T }
  /** `faults`: one line for each fault, for texts that may have several. */
  | { readonly takes: string; readonly faults?: readonly string[] }

export interface Parser<T> {
  (text: string): Parsed<T>
  /** The permitted values, if they can be listed. */
  readonly values?: readonly string[]
}

/** One setting. `CATALEJO_<NAME>`, `CATALEJO_<NAME>_FILE` and the flag are derived from `name`. */
export interface Setting<T> {
  /** Lower-case words joined by hyphens, as in the flag. */
  readonly name: string
  /** The description in `--help`. */
  readonly summary: string
  readonly default: T
  readonly parse: Parser<T>
  /** The name of the setting without which this one has no effect. */
  readonly needs?: string
  /** Removes secrets from a value before it is shown. */
  readonly show?: (text: string) => string
}

export const environmentName = (name: string): string => `CATALEJO_${name.toUpperCase().replaceAll('-', '_')}`

/** The default as a text. One that is not a string, a number or a list of them means that the setting is empty. */
export function defaultText({ default: fallback }: Setting<unknown>): string {
  return ['string', 'number'].includes(typeof fallback) || Array.isArray(fallback) ? String(fallback) : ''
}

/** A decimal integer from `min` to `max`. */
export function integer(min: number, max: number): (text: string) => Parsed<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
    return value >= min && value <= max ? { value } : { takes: `an integer from ${min} to ${max}` }
  }
}

export function oneOf<const T extends string>(...values: readonly T[]): Parser<T> {
  function parse(text: string): Parsed<T> {
    const value = values.find((candidate) => candidate === text)
    return value === undefined ? { takes: `one of ${values.join(', ')}` } : { value }
  }
  return Object.assign(parse, { values })
}

/** A comma-separated list; an empty text is an empty list. */
export function listOf<T>(parse: (text: string) => Parsed<T>): (text: string) => Parsed<readonly T[]> {
  return (text) => {
    const values: T[] = []
    for (const entry of text.split(',').map((part) => part.trim())) {
      if (entry === '') continue
      const parsed = parse(entry)
      if ('takes' in parsed) return { takes: `a comma-separated list, each entry ${parsed.takes}` }
      values.push(parsed.value)
    }
    return { value: values }
  }
}

export function text(takes: string): (text: string) => Parsed<string> {
  return (value) => (value.trim() === '' ? { takes } : { value: value.trim() })
}
