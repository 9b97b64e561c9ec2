import { languageOf } from '../texts.ts'
import { integer, parseParameters } from '../../http/parameters.ts'
import { concerns, recordIn, WATCH_CHOICES, type DomainEvent } from '../events/event.ts'
import { filterParameters, readFilters, parseSavedFilters } from '../filters.ts'
import { Brands, type Vocabulary } from '../../lib/lookalikes/index.ts'
import { brands, maxDistance } from '../lookalikes.ts'
import { OBJECTION_DAYS } from '../filtered-record.ts'
import type { NotifiedWatch } from './message.ts'
import type { WatchRow } from './queries.ts'
import type { DestinationState } from '../../deliveries/queries.ts'

/** What a watch may look for: names like one, too. */
export const watchFilters = {
  ...filterParameters,
  similar: brands,
  max_distance: maxDistance,
  dns: integer('Look the names up again regularly (1) or not (0)', 0, 1),
  remind: integer(
    'Days before the end of the time for objections at which matching names are reported once more; 0 for never',
    0,
    OBJECTION_DAYS - 1,
  ),
}

/** Reads the filters of a watch. Returns undefined for those of another version that this one rejects. */
export function readSavedFilters(saved: string, vocabulary: Vocabulary) {
  const parsed = parseParameters(watchFilters, parseSavedFilters(saved))
  if (!parsed.ok) return undefined
  const { dns, similar, max_distance: most, remind } = parsed.values
  const watched = similar === undefined ? undefined : new Brands(similar.split(','), vocabulary, most)
  return {
    filters: readFilters(parsed.values),
    /** Returns true for a name that resembles one of those that the watch is about, if it is about some. */
    resembles: (name: string) => watched === undefined || watched.find(name) !== undefined,
    /** Returns the name that one resembles most. */
    findBrand: (name: string) => watched?.find(name),
    looksUpDns: dns === 1,
    remind,
  }
}

/** Returns which events a watch looks for, and which brand a name resembles. */
export function readWatch(
  { filters, changes }: Pick<WatchRow, 'filters' | 'changes'>,
  vocabulary: Vocabulary,
) {
  const wanted = readSavedFilters(filters, vocabulary)
  // Better no events than all.
  if (wanted === undefined) return { isRelevant: () => false, findBrand: () => undefined }
  // A watch of a newer version may ask for changes that this one does not know.
  const choice = WATCH_CHOICES.find((one) => one === changes) ?? 'all'
  const { hidden } = wanted.filters
  // What the group hides is news only for a watch that asks for it. A record that was just hidden does not say so.
  const shown = { ...wanted.filters, hidden: hidden ?? 0 }
  const isRelevant = (event: DomainEvent) => {
    const record = recordIn(event)
    if (record === null || (hidden === undefined && record.hidden === 1)) return false
    return concerns(choice, shown, event, wanted.remind) && wanted.resembles(record.name)
  }
  return { isRelevant, findBrand: wanted.findBrand }
}

/** Reads what messages show of a watch. */
export function notifiedWatch({ watch_id: id, name, filters, language }: DestinationState): NotifiedWatch {
  return { id, name, filters: parseSavedFilters(filters), language: languageOf(language) }
}
