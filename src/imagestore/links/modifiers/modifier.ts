import type { Plan } from './plan.ts'

/** One family of tokens: `<key>_<value>`, or the key alone where `value` may be empty. */
export interface Modifier {
  readonly key: string
  /** What the token settles. Two tokens that settle the same thing are one token given twice. */
  readonly settles: readonly (keyof Plan)[]
  /** What the value may be, for documents and error texts. */
  readonly takes: string
  /** The fields that `value` sets; undefined when the value is malformed or out of range. `value` is undefined for a bare key. */
  parse(value: string | undefined): Partial<Plan> | undefined
}

/** A whole number in plain decimal digits, or undefined. */
export function integer(value: string | undefined, min: number, max: number): number | undefined {
  if (value === undefined || !/^(?:0|[1-9]\d{0,5})$/.test(value)) return undefined
  const number = Number(value)
  return number >= min && number <= max ? number : undefined
}

/** A number with at most three decimals, or undefined. */
export function decimal(value: string | undefined, min: number, max: number): number | undefined {
  if (value === undefined || !/^(?:0|[1-9]\d{0,5})(?:\.\d{1,3})?$/.test(value)) return undefined
  const number = Number(value)
  return number >= min && number <= max ? number : undefined
}

/** The member of `options` that `value` is, or undefined. */
export function oneOf<const Option extends string>(
  value: string | undefined,
  options: readonly Option[],
): Option | undefined {
  return options.find((option) => option === value)
}

/** A modifier that is a bare word. */
export function flag(key: string, field: keyof Plan & FlagField): Modifier {
  return {
    key,
    settles: [field],
    takes: 'nada',
    parse: (value) => (value === undefined ? { [field]: true } : undefined),
  }
}

type FlagField = { [Field in keyof Plan]: Plan[Field] extends boolean ? Field : never }[keyof Plan]
