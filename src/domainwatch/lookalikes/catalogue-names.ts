import { taskModule, type Tasks } from '../../lib/tasks.ts'
import { goneBefore } from '../discarding.ts'
import type { Columns, Segment } from '../../lib/name-index/index.ts'
import type { Input } from '../tasks/digest-names.ts'
import { digestOf, SORTED_AT_ONCE, type Digest } from './digest.ts'
import type { NameBlock } from './matcher.ts'

const DIGEST_NAMES = taskModule('../tasks/digest-names', import.meta)

/** Names whose digest is made here and now, in a millisecond; that of more is made in another thread. */
const FEW = 4_096

/** Digests of the names of columns, made once: `DIGEST_BYTES` a record, for as long as the columns are there. */
export class Digests {
  readonly #tasks: Tasks
  readonly #known = new WeakMap<Columns, Promise<Digest>>()

  constructor(tasks: Tasks) {
    this.#tasks = tasks
  }

  /** @throws OverloadError when the threads have too much to do */
  of(columns: Columns): Promise<Digest> {
    const known = this.#known.get(columns)
    if (known !== undefined) return known
    const made = this.#make(columns)
    this.#known.set(columns, made)
    // Whoever asks next tries again.
    made.catch(() => this.#known.delete(columns))
    return made
  }

  async #make({ names, starts, count }: Columns): Promise<Digest> {
    if (count <= FEW) return digestOf(names, starts, count, SORTED_AT_ONCE)
    return this.#tasks.run<Input, Digest>(DIGEST_NAMES, { names, starts, count })
  }
}

/** All names of these segments, which together hold all records, as they are now: what changes meanwhile is as it was. */
export async function* catalogueNames(
  segments: readonly Segment[],
  digests: Digests,
  now: number,
): AsyncGenerator<NameBlock> {
  const gone = goneBefore(now)
  const asTheyAre = segments.map((segment) => ({ segment, live: segment.live.slice() }))
  // All at once, so that as many threads as there are make them.
  const blocks = asTheyAre.map(async ({ segment, live }): Promise<NameBlock> => {
    const { names, starts, count } = segment.columns
    const isLive = (position: number) =>
      ((live[position >>> 5] ?? 0) & (1 << (position & 31))) !== 0 && !(segment.discardedAt(position) <= gone)
    return { names, starts, count, digest: await digests.of(segment.columns), isLive }
  })
  yield* await Promise.all(blocks)
}
