import { octetsOf } from './alignment.ts'
import { Matcher } from './matcher.ts'
import { sign, WORDS } from './signature.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Tells which names resemble `name`, by the same measure as a search for them: the name itself does not. */
export function resembling(name: string, vocabulary: Vocabulary): (other: string) => boolean {
  const matcher = new Matcher(name, vocabulary)
  const words = new Uint32Array(WORDS)
  return (other) => {
    const octets = octetsOf(other)
    sign(octets, 0, octets.length, words, 0)
    return matcher.resembles(octets, words)
  }
}
