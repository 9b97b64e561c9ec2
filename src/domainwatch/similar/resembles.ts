import { octetsOf } from './alignment.ts'
import { Matcher } from './matcher.ts'

/** Tells which names resemble `name`, by the same measure as a search for them: the name itself does not. */
export function resembling(name: string): (other: string) => boolean {
  const matcher = new Matcher(name)
  return (other) => {
    const names = octetsOf(other)
    let found = false
    const block = { names, starts: Uint32Array.of(0, names.length), count: 1 }
    matcher.sweep(
      block,
      0,
      () => (found = true),
      () => false,
    )
    return found
  }
}
