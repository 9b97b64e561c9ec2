import { toWords, type Hit, type Segment } from '../../lib/name-index/index.ts'
import { nameOfHit } from '../list/hits.ts'
import { hasBoughtTwin } from '../list/twins.ts'
import { splitTags } from '../tags.ts'
import type { FilterContext } from '../filter-context.ts'
import type { InterestModel, Scored } from './model.ts'

/** Expired records are purged within seconds: until then they count as twins. */
const NEVER = 0

/** Returns what of a stored record decides how interesting it is. */
export function scoredRecord(
  { name, tags }: { readonly name: string; readonly tags: string | null },
  words: readonly string[],
  context: FilterContext,
): Scored {
  const hasTwin = context.hasBoughtTwin(Buffer.from(name, 'latin1'))
  return { name, words, tags: splitTags(tags), hasTwin }
}

/** Returns how interesting a record of the index is. @param segments all records, to find its twins */
export function scoreOfHit(model: InterestModel, { segment, position }: Hit, segments: readonly Segment[]) {
  return model.getScore({
    name: nameOfHit({ segment, position }),
    words: toWords(segment, position),
    tags: splitTags(segment.toTags(position) || null),
    hasTwin: hasBoughtTwin(segments, segment.nameOf(position), NEVER),
  })
}

/** Returns the scores of the records of a segment, live or not. Runs in any thread. */
export function getScores(model: InterestModel, segment: Segment, segments: readonly Segment[]) {
  return Uint32Array.from({ length: segment.columns.count }, (_, position) =>
    scoreOfHit(model, { segment, position }, segments),
  )
}
