import { setBits } from './columns.ts'
import { BEGIN, END, SYMBOL_OF } from './name-planes.ts'

/**
 * Hashes of three neighbouring symbols. Which of them the names of a block have tells most blocks apart that no match of a text is
 * in, 32 blocks at a time.
 */
const GRAM_BITS = 12
export const GRAMS = 2 ** GRAM_BITS

const SYMBOLS = END + 1

/** Fibonacci hashing spreads neighbouring numbers. */
const gram = (first: number, second: number, third: number): number =>
  Math.imul((first * SYMBOLS + second) * SYMBOLS + third, 0x9e37_79b1) >>> (32 - GRAM_BITS)

/** Sets a bit for each gram of the name from one byte to another. @param words a word for each gram */
export function setGrams(
  names: Uint8Array,
  start: number,
  end: number,
  words: Uint32Array,
  bit: number,
): void {
  const symbolAt = (at: number) => (at === end ? END : (SYMBOL_OF[names[at] ?? 0] ?? END))
  let [first, second] = [BEGIN, symbolAt(start)]
  for (let at = start + 1; at <= end; at++) {
    const third = symbolAt(at)
    setBits(words, gram(first, second, third), bit)
    first = second
    second = third
  }
}

/** Returns the grams of a run of symbols. @param unknown stands for any symbol */
export function gramsOf(run: readonly number[], unknown: number): number[] {
  return run.flatMap((third, i) => {
    const [first = unknown, second = unknown] = [run[i - 2], run[i - 1]]
    return [first, second, third].includes(unknown) ? [] : [gram(first, second, third)]
  })
}
