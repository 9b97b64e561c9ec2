import type { Row } from '../../storage/database/rows.ts'
import type { SqlValue } from '../../storage/database/sql.ts'

/** Rows by their keys, in the order that both engines have: numbers by value, texts by code point. */
export function compareKeys(a: Row, b: Row, length: number): number {
  for (let i = 0; i < length; i++) {
    const order = compareValues(a[i], b[i])
    if (order !== 0) return order
  }
  return 0
}

export function equalRows(a: Row, b: Row): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function compareValues(a: SqlValue | undefined, b: SqlValue | undefined): number {
  if (a === b) return 0
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  throw new TypeError(`keys of ${typeof a} and ${typeof b}`)
}

/** JavaScript itself compares UTF-16 units: there what lies beyond U+FFFF sorts before U+E000. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? rank(x) - rank(y) : x - y
  }
  return a.length - b.length
}

/** A place for surrogates behind all other units. */
const rank = (unit: number) => (unit >= 0xe000 ? unit : unit + 0x10000)
