import type { Clock } from '../../lib/clock.ts'
import { accountClient } from '../../lib/client.ts'
import type { Gate } from '../../lib/gate.ts'
import { allMatches, finish, TimeSlice, type Segment } from '../../lib/name-index/index.ts'
import type { Filters } from '../filters.ts'
import { nameOfHit } from '../list/hits.ts'
import type { NameIndex } from '../list/name-index.ts'
import { indexQuery } from '../list/search.ts'

/** Names in a piece of text. */
const PIECE = 1_000

export interface MatchingOptions {
  readonly clock: Clock
  readonly nameIndex: Pick<NameIndex, 'current' | 'contextAt'>
  readonly searches: Gate
}

export interface MatchingNames {
  readonly count: number
  /** Yields the names, one per line. */
  readonly lines: () => AsyncGenerator<Uint8Array>
}

export const givenNames = (names: readonly string[]): MatchingNames => ({
  count: names.length,
  async *lines() {
    yield Buffer.from(names.map((name) => `${name}\n`).join(''))
  },
})

/** Finds all records that match now. @param signal ends the search */
export async function matchingNames(
  { clock, nameIndex, searches }: MatchingOptions,
  filters: Filters,
  account: number,
  signal: AbortSignal,
): Promise<MatchingNames> {
  const { registered } = await nameIndex.current({ filters, isFresh: true, left: () => signal })
  const found = new Map<Segment, number[]>()
  let count = 0
  const add = (segment: Segment, position: number) => {
    count++
    const positions = found.get(segment)
    if (positions === undefined) found.set(segment, [position])
    else positions.push(position)
  }
  const slice = new TimeSlice()
  const query = indexQuery(filters, nameIndex.contextAt(clock.now()))
  const search = () => finish(allMatches(registered, query, slice, add), slice, signal)
  await searches.run(accountClient(account), search, signal)
  return {
    count,
    async *lines() {
      for (const [segment, positions] of found)
        for (let from = 0; from < positions.length; from += PIECE) {
          const names = positions
            .slice(from, from + PIECE)
            .map((position) => nameOfHit({ segment, position }))
          yield Buffer.from(`${names.join('\n')}\n`)
        }
    },
  }
}
