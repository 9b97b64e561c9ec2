import type { Plan } from './plan.ts'

/** What a link says of itself, whatever it makes of the image. */
export interface Term {
  /** `exp_`: seconds since 1970, until which the link is good. */
  readonly expires: number
  /** `sig_`, without the key. */
  readonly signature: string
}

/** What a modifier says beside what to make of the image. */
export interface Terms {
  readonly expires: number | undefined
  readonly signature: string | undefined
  /** The preset, where there is one. */
  readonly preset: string | undefined
  /** What the other tokens settle. */
  readonly settled: ReadonlySet<keyof Plan>
}

export const NO_TERMS: Terms = {
  expires: undefined,
  signature: undefined,
  preset: undefined,
  settled: new Set(),
}

/** Whole seconds, up to the year 5138. */
const EXPIRES = /^[1-9]\d{0,10}$/
/** 128 bits in base64url. */
const SIGNATURE = /^[\w-]{22}$/

/** Undefined for every other token. */
export function readTerm(token: string): Partial<Term> | { readonly takes: string } | undefined {
  const value = token.slice(4)
  switch (token.slice(0, 4)) {
    case 'exp_':
      return EXPIRES.test(value) ? { expires: Number(value) } : { takes: 'segundos desde 1970' }
    case 'sig_':
      return SIGNATURE.test(value) ? { signature: value } : { takes: 'los 22 caracteres de una firma' }
    default:
      return undefined
  }
}
