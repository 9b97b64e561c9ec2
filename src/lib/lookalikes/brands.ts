import { TOO_MUCH } from './distance.ts'
import { lettersIn } from './letter-filter.ts'
import { toOctets } from './letters.ts'
import { Matcher } from './matcher.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Compares one name after another with some brands. */
export class Brands {
  readonly #matchers: ReadonlyMap<string, Matcher>

  /** @param maxDistance as of `Matcher` */
  constructor(names: readonly string[], vocabulary: Vocabulary, maxDistance?: number) {
    this.#matchers = new Map(names.map((name) => [name, new Matcher(name, vocabulary, maxDistance)]))
  }

  /** Returns the brand that a name resembles most, the first of several. A brand resembles none. */
  find(name: string): string | undefined {
    if (this.#matchers.has(name)) return undefined
    const octets = toOctets(name)
    const letters = lettersIn(octets)
    let found: string | undefined
    let least = TOO_MUCH
    for (const [brand, matcher] of this.#matchers) {
      const cost = matcher.costWith(octets, letters)
      if (cost >= least) continue
      found = brand
      least = cost
    }
    return found
  }
}
