import type { Grammar } from './grammar.ts'
import { isToken } from './parse.ts'

/** A parameter of a link; the value is empty where there is none. */
export interface Parameter {
  readonly name: string
  readonly value: string
}

const M_MISSPELT = /^\s*m\s*(?:\[\d*\])?$/i
const SWITCHED_ON = /^(?:1|true|on)$/i

/**
 * The first parameter that was meant as a modifier but is not in `m=`, as it was written: `M=w_50`, `w=50`, or `w_50` and
 * `thumb` without `m=`. To ignore it like other unknown parameters would serve another image than was asked for.
 */
export function findMisplaced(others: readonly Parameter[], { presets }: Grammar): string | undefined {
  const found = others.find(({ name, value }) => {
    if (M_MISSPELT.test(name)) return true
    const [first = ''] = value.toLowerCase().split(',')
    const key = name.toLowerCase()
    if (value !== '') return isToken(`${key}_${first}`) || (SWITCHED_ON.test(value) && isToken(key))
    return key.split(',').some((token) => isToken(token) || presets.has(token.replace(/^p_/, '')))
  })
  return found && (found.value === '' ? found.name : `${found.name}=${found.value}`)
}
