/** Numbers that the operator imports for names, such as search volumes, by key. */
export type Numbers = ReadonlyMap<string, number>

/** Keys of all names together. */
export const MAX_NUMBER_KEYS = 20
export const NUMBER_KEY = '[a-z]{1,20}'
export const TAKES_NUMBER_KEY = 'debe tener de 1 a 20 letras de la a a la z'

const IS_KEY = new RegExp(`^${NUMBER_KEY}$`)
export const isNumberKey = (text: string): boolean => IS_KEY.test(text)

export const TAKES_DECIMAL = 'debe ser un número decimal, como -12 o 3.5'
const MAX_DECIMAL_CHARACTERS = 40

/** Parses a decimal number; undefined if it is none. */
export function parseDecimal(text: string): number | undefined {
  const isDecimal = text.length <= MAX_DECIMAL_CHARACTERS && /^[+-]?\d+(\.\d+)?$/.test(text)
  // Adding 0 makes one of both zeros.
  return isDecimal ? Number(text) + 0 : undefined
}

const NONE: Numbers = new Map()

/** Parses the numbers of a name, as a column holds them. */
export function parseNumbers(column: string | null): Numbers {
  if (column === null) return NONE
  return new Map(
    column.split(' ').map((entry) => {
      const cut = entry.indexOf('=')
      return [entry.slice(0, cut), Number(entry.slice(cut + 1))] as const
    }),
  )
}

/** Returns the numbers of a name as a column holds them; null if there is none. */
export function formatNumbers(numbers: Numbers): string | null {
  const entries = [...numbers].map(([key, number]) => `${key}=${number}`)
  return entries.length === 0 ? null : entries.toSorted().join(' ')
}

/** What a parameter `num_<key>_min` or `num_<key>_max` asks for. */
export interface NumberBound {
  readonly key: string
  readonly isMin: boolean
  readonly bound: number
}

export const NUMBER_BOUNDS = new RegExp(`^num_${NUMBER_KEY}_(min|max)$`)

/** @param name of the parameter, which matches `NUMBER_BOUNDS` */
export function toBound(name: string, bound: number): NumberBound {
  const [, key = '', end] = name.split('_')
  return { key, isMin: end === 'min', bound }
}

/** Whether a number is within a bound. A missing one is not: undefined or NaN. */
export const isWithin = ({ isMin, bound }: NumberBound, number = NaN): boolean =>
  isMin ? number >= bound : number <= bound
