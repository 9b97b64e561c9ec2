import { randomFillSync } from 'node:crypto'

const pool = new Uint16Array(4096)
let next = pool.length

/**
 * 16 unpredictable bits. They come from the system's generator, many at a time: one call for each query would be a
 * visible part of a look-up's cost.
 */
export function randomUint16(): number {
  if (next >= pool.length) {
    randomFillSync(pool)
    next = 0
  }
  return pool[next++] ?? 0
}
