/** The number of bits that are set in a word. */
export function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555)
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

export const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits)
export const highestBit = (bits: number): number => 31 - Math.clz32(bits)

export function setBits(words: Uint32Array, word: number, bits: number): void {
  words[word] = (words[word] ?? 0) | bits
}
