import { randomFillSync } from 'node:crypto'

const pool = new Uint16Array(4096)
let next = pool.length

/**
 * Returns 16 unpredictable bits. Reads the system's generator in bulk, because a call per query would be a
 * noticeable part of the cost of a look-up.
 */
export function randomUint16(): number {
  if (next >= pool.length) {
    randomFillSync(pool)
    next = 0
  }
  return pool[next++] ?? 0
}
