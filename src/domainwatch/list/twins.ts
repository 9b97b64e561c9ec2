import { compareBytes, visitTwins, type Hit, type Segment } from '../../lib/name-index/index.ts'
import { MAX_TWINS } from '../filter-context.ts'
import { expiryCutoff } from '../limits.ts'
import { nameOfHit } from './hits.ts'

const isListed = ({ segment, position }: Hit, now: number) =>
  !(segment.discardedAt(position) <= expiryCutoff(now))

/** Whether a bought record has a twin of a name, which is in Latin-1. */
export function hasBoughtTwin(segments: readonly Segment[], name: Uint8Array, now: number): boolean {
  return visitTwins(segments, name, true, (segment, position) => {
    const other = segment.nameOf(position)
    const isOther = compareBytes(other, 0, other.length, name, 0, name.length) !== 0
    return isOther && isListed({ segment, position }, now)
  })
}

/** Returns the first of a name and its twins, by name: one more than are shown of them. */
export function firstTwins(segments: readonly Segment[], name: Uint8Array, now: number): readonly string[] {
  const found: string[] = []
  visitTwins(segments, name, false, (segment, position) => {
    const hit = { segment, position }
    if (isListed(hit, now)) found.push(nameOfHit(hit))
    return false
  })
  return found.sort().slice(0, MAX_TWINS + 1)
}
