import { closestName, hasAtMostCharacters, escapeHidden } from '../lib/text.ts'
import type { HttpError } from '../lib/errors.ts'
import { badParameter, httpErrors } from './errors.ts'

/** A declared parameter of an endpoint. */
export type Parameter<T> = {
  readonly required: boolean
  readonly description: string
  /** JSON Schema of the value, for the OpenAPI document. */
  readonly schema: Readonly<Record<string, unknown>>
  readonly example?: unknown
  /**
   * Which names its values have, if they are not its key. Their values are objects, which are merged: the parameter may be given
   * several times, each time with another name.
   */
  readonly names?: RegExp
  /** Returns the value, or what the parameter takes: Spanish, appended to its name in the error message. */
  readonly parse: (text: string, name?: string) => { readonly value: T } | { readonly takes: string }
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>

/** Values of parameters. One that is absent is undefined. */
export type Values<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T | undefined : never
}

export type Given = Readonly<Record<string, string | undefined>>

/** A decimal integer from `min` to `max`. */
export function integer(description: string, min: number, max: number): Parameter<number> {
  const takes = `debe ser un entero entre ${min} y ${max}`
  return {
    required: false,
    description,
    schema: { type: 'integer', minimum: min, maximum: max },
    parse: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
      return value >= min && value <= max ? { value } : { takes }
    },
  }
}

/** A text of at most `maxLength` characters. */
export function text(description: string, maxLength: number): Parameter<string> {
  const takes = `debe ser un texto de ${maxLength} caracteres como máximo`
  return {
    required: false,
    description,
    schema: { type: 'string', maxLength },
    parse: (value) => (hasAtMostCharacters(value, maxLength) ? { value } : { takes }),
  }
}

/** Says which values a parameter takes. */
export const oneOfTakes = (values: readonly string[]): string =>
  values.length > 2 ? `debe ser uno de: ${values.join(', ')}` : `debe ser ${values.join(' o ')}`

export function choice<const T extends string>(description: string, values: readonly T[]): Parameter<T> {
  const takes = oneOfTakes(values)
  return {
    required: false,
    description,
    schema: { type: 'string', enum: values },
    parse: (given) => {
      const value = values.find((candidate) => candidate === given)
      return value === undefined ? { takes } : { value }
    },
  }
}

/** True if present, unless its value is `false` or `0`. */
export const flag = (description: string): Parameter<boolean> => ({
  required: false,
  description: `${description} (flag: on when present, unless it is false or 0)`,
  schema: { type: 'string', 'x-flag': true },
  parse: (text) => ({ value: text !== 'false' && text !== '0' }),
})

/** A flag of the first specification: true if present, with whatever value. */
export const presentFlag = (description: string): Parameter<boolean> => ({
  required: false,
  description: `${description} (flag: on when present, with or without a value)`,
  schema: { type: 'string', 'x-flag': PRESENT },
  parse: () => ({ value: true }),
})

const PRESENT = 'present'

export type ParseResult<P extends Parameters> =
  { readonly ok: true; readonly values: Values<P> } | { readonly ok: false; readonly error: HttpError }

/** Characters of an unknown name that are compared with the known ones and shown. Every known name is shorter. */
const MAX_SHOWN_NAME = 40

/** Returns an error that names the first name that is not known, with the nearest known one; undefined if all are known. */
export function unknownParameter(names: Iterable<string>, known: ReadonlySet<string>): HttpError | undefined {
  for (const name of names) {
    if (known.has(name)) continue
    const given = name.slice(0, MAX_SHOWN_NAME)
    const parameter = escapeHidden(given)
    return httpErrors
      .unknown_parameter(parameter, closestName(given, [...known]))
      .with({ fields: { parameter } })
  }
  return undefined
}

/** Returns a function that parses the declared parameters, in the order of their declarations, and ignores others. */
export function compileParameters<P extends Parameters>(parameters: P): (given: Given) => ParseResult<P> {
  const declared = Object.entries(parameters).map(([key, { names, parse }]) => ({ key, names, parse }))
  return (given) => {
    const values: Record<string, unknown> = {}
    for (const { key, names, parse } of declared) {
      if (names === undefined && given[key] === undefined) continue
      for (const name of names === undefined ? [key] : Object.keys(given).filter((one) => names.test(one))) {
        const text = given[name]
        if (text === undefined) continue
        const parsed = parse(text, name)
        if ('takes' in parsed) return { ok: false, error: badParameter(name, parsed.takes) }
        values[key] = names === undefined ? parsed.value : Object.assign(values[key] ?? {}, parsed.value)
      }
    }
    // Built from the declarations, as the mapped type describes. Absent ones are left out: nothing is allocated for them.
    return { ok: true, values: values as Values<P> }
  }
}

/** The schema of a text that contains JSON. In a JSON body the parameter may also be what the text contains. */
export const jsonText = (contentSchema: Readonly<Record<string, unknown>>) => ({
  type: 'string',
  contentMediaType: 'application/json',
  contentSchema,
})

export const isFlag = ({ schema }: Parameter<unknown>): boolean => schema['x-flag'] !== undefined

export const isPresentFlag = ({ schema }: Parameter<unknown>): boolean => schema['x-flag'] === PRESENT

/** Pairs in a query string. No endpoint takes more than a few; thousands of an attacker would take milliseconds. */
const MAX_PAIRS = 256

/** Stands for a query string with too many pairs. */
export const UNREADABLE_QUERY: Given = Object.freeze({})

/** Parses a query string. The last value of a repeated name counts. */
export function parseQuery(query: string): Given {
  const given: Record<string, string> = Object.create(null)
  if (query === '') return given
  const pairs = queryPairs(query)
  if (pairs === undefined) return UNREADABLE_QUERY
  for (const [name, value] of pairs) given[name] = value
  return given
}

/** Returns the pairs of a query string, without empty ones; undefined if there are too many. */
export function queryPairs(query: string): [name: string, value: string][] | undefined {
  const pairs = query.split('&', MAX_PAIRS + 1)
  if (pairs.length > MAX_PAIRS) return undefined
  const decode = getDecoder(query)
  return pairs
    .filter((pair) => pair !== '')
    .map((pair) => {
      const cut = pair.indexOf('=')
      return cut < 0 ? [decode(pair), ''] : [decode(pair.slice(0, cut)), decode(pair.slice(cut + 1))]
    })
}

/** Returns the fastest decoder of texts in a query string. `URLSearchParams` decodes those that are not valid UTF-8, too. */
function getDecoder(query: string): (text: string) => string {
  if (!/[%+]/.test(query)) return (text) => text
  try {
    decodeURIComponent(query)
    return (text) => decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return (text) => new URLSearchParams(`=${text}`).get('') ?? ''
  }
}
