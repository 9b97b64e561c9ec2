import { isBounded, type IndexQuery } from './query.ts'
import type { Segment } from './segment.ts'
import { getRank } from './columns.ts'
import type { Span } from './timestamp.ts'

/** Texts that are tested before a scan: some 0.1 ms of work. */
const FEW_TEXTS = 1_024

/** Whether the record at a position matches. */
export type Condition = (position: number) => boolean

/** Returns what bits do not decide, the cheapest first. */
export function toConditions(segment: Segment, query: IndexQuery): readonly Condition[] {
  const {
    keys,
    registered,
    modified,
    statusAt,
    agent,
    agents,
    tagged,
    tags,
    tagSets,
    discarded,
    discardedAt,
  } = segment.columns
  const { discardedUntil } = query
  const conditions: Condition[] = []
  if (segment.firstDiscarded <= discardedUntil)
    conditions.push((position) => {
      const rank = getRank(discarded, position)
      return rank < 0 || (discardedAt[rank] ?? 0) > discardedUntil
    })
  // A segment that is sorted by the date has a range of it.
  if (registered !== keys && isBounded(query.registered))
    conditions.push((position) => isWithin(query.registered, registered[position] ?? NaN))
  if (isBounded(query.modified))
    conditions.push((position) => isWithin(query.modified, modified[position] ?? NaN))
  if (isBounded(query.status))
    conditions.push((position) => isWithin(query.status, statusAt[position] ?? NaN))
  if (registered === keys && isBounded(query.deleted))
    conditions.push((position) => isWithin(query.deleted, segment.deletedAt(position)))
  for (const { of, test } of query.texts) {
    if (of === 'agents') {
      const isWanted = testedOnce(agents, test)
      conditions.push((position) => isWanted(agent[position] ?? 0))
    } else {
      const isWanted = testedOnce(tagSets, test)
      const withoutTags = test('')
      conditions.push((position) => {
        const rank = getRank(tagged, position)
        return rank < 0 ? withoutTags : isWanted(tags[rank] ?? 0)
      })
    }
  }
  for (const test of query.tests) conditions.push((position) => test.matches(segment, position))
  for (const test of query.records) conditions.push((position) => test(segment, position))
  return conditions
}

/** Whether no record has a wanted text, if so few are to be tested. */
export function lacksTexts({ columns }: Segment, { texts }: IndexQuery): boolean {
  return texts.some(({ of, test }) => columns[of].length <= FEW_TEXTS && !['', ...columns[of]].some(test))
}

/** Tests each text when a record has it: most texts may belong to none that is left. */
function testedOnce(texts: readonly string[], test: (text: string) => boolean): (index: number) => boolean {
  const tested = new Uint8Array(texts.length)
  return (index) => {
    if (tested[index] === 0) tested[index] = test(texts[index] ?? '') ? 1 : 2
    return tested[index] === 1
  }
}

const isWithin = ({ from, to }: Span, date: number): boolean => date >= from && date <= to
