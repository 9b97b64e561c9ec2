/**
 * The three parts of a hash, 22, 21 and 21 bits. Where two hashes differ in at most d bits, at least one part differs in
 * few of them: were the differences in all parts past a third of it, the sum would be past d.
 */
export const PART_BITS = [22, 21, 21] as const

export const firstPart = (high: number): number => high >>> 10
export const secondPart = (high: number, low: number): number => ((high & 0x3ff) << 11) | (low >>> 21)
export const thirdPart = (low: number): number => low & 0x1fffff

/**
 * How many bits of each part may differ, -1 where it need not be looked at: `(r1 + 1) + (r2 + 1) + (r3 + 1) = d + 1`. Hashes
 * that differ in more than that in every part differ in at least d + 1 bits.
 */
export function radii(distance: number): readonly [number, number, number] {
  const share = (part: number) => Math.floor((distance + 1 + part) / 3) - 1
  // The first part is the widest: what does not come out even falls to the others.
  return [share(0), share(1), share(2)]
}

const masks = new Map<string, Uint32Array>()

/** All values of so many bits of which at most `radius` are 1. */
export function masksOf(bits: number, radius: number): Uint32Array {
  const key = `${bits} ${radius}`
  const known = masks.get(key)
  if (known !== undefined) return known
  const values: number[] = []
  const extend = (value: number, from: number, left: number) => {
    values.push(value)
    if (left === 0) return
    for (let bit = from; bit < bits; bit++) extend(value | (1 << bit), bit + 1, left - 1)
  }
  if (radius >= 0) extend(0, 0, radius)
  const made = Uint32Array.from(values)
  masks.set(key, made)
  return made
}
