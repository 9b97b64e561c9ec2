import { COUNT_SHIFT, MOST_SIGNS, sign, SIGNS, WORDS } from './signature.ts'

/** Names that are passed over together. */
export const GROUP = 32

/** The words of names, in an order in which those that are alike are together, and what each group of them has in common. */
export interface Digest {
  /** At `i`: the number of the name. */
  readonly order: Uint32Array
  /** At `WORDS * i`: its words. */
  readonly words: Uint32Array
  /** At `2 * g`: signs that any name of the group has, and the most of a name; then those that all have, and the fewest. */
  readonly groups: Uint32Array
}

/** Bytes of a digest, a name. */
export const DIGEST_BYTES = 4 + 4 * WORDS + (2 * 4) / GROUP

/** The most to sort at once: a place among so many fits beside a first word in the 53 bits that numbers have. */
export const SORTED_AT_ONCE = 2 ** 21

/**
 * @param starts of the names; one more than there are tells where the last ends
 * @param sortedAtOnce of how many to put together what is alike, which takes longer, and makes many sweeps quicker; 0 for none
 */
export function digestOf(
  names: Uint8Array,
  starts: Uint32Array,
  count: number,
  sortedAtOnce: number,
  make: (length: number) => Uint32Array = (length) => new Uint32Array(length),
): Digest {
  const words = make(count * WORDS)
  const order = make(count)
  for (let i = 0; i < count; i++) {
    order[i] = i
    sign(names, starts[i] ?? 0, starts[i + 1] ?? 0, words, i * WORDS)
  }
  if (sortedAtOnce > 0) sort(words, order, sortedAtOnce)
  return { words, order, groups: groupsOf(words, count, make) }
}

/** By the first word, piece by piece. */
function sort(words: Uint32Array, order: Uint32Array, most: number): void {
  const unsorted = words.slice()
  for (let from = 0; from < order.length; from += most) {
    const keys = new Float64Array(Math.min(most, order.length - from))
    for (let i = 0; i < keys.length; i++) keys[i] = (unsorted[(from + i) * WORDS] ?? 0) * most + i
    keys.sort()
    for (const [i, key] of keys.entries()) {
      const place = from + (key % most)
      order[from + i] = place
      for (let word = 0; word < WORDS; word++)
        words[(from + i) * WORDS + word] = unsorted[place * WORDS + word] ?? 0
    }
  }
}

function groupsOf(words: Uint32Array, count: number, make: (length: number) => Uint32Array): Uint32Array {
  const groups = make(2 * Math.ceil(count / GROUP))
  for (let from = 0, group = 0; from < count; from += GROUP, group += 2) {
    let any = 0
    let all = SIGNS
    let most = 0
    let fewest = MOST_SIGNS
    for (let i = from; i < Math.min(count, from + GROUP); i++) {
      const word = words[i * WORDS] ?? 0
      any |= word & SIGNS
      all &= word
      most = Math.max(most, word >>> COUNT_SHIFT)
      fewest = Math.min(fewest, word >>> COUNT_SHIFT)
    }
    groups[group] = any | (most << COUNT_SHIFT)
    groups[group + 1] = all | (fewest << COUNT_SHIFT)
  }
  return groups
}
