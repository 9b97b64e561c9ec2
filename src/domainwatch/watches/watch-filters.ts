import { languageOf } from '../texts.ts'
import { parseLabel } from '../../lib/domain-names.ts'
import { integer, parseParameters, text, type Parameter, type Values } from '../../http/parameters.ts'
import { concerns, recordIn, WATCH_CHOICES, type DomainEvent } from '../events/event.ts'
import { MAX_FILTER_CHARACTERS } from '../filter-kinds.ts'
import { filterParameters, readFilters } from '../filters.ts'
import { Matcher, type Vocabulary } from '../../lib/lookalikes/index.ts'
import type { NotifiedWatch } from './channels/channel.ts'
import type { WatchRow } from './queries.ts'
import type { DestinationState } from './queries-destinations.ts'

/** What a watch may look for: names like one, too. */
export const watchFilters = {
  ...filterParameters,
  similar: similarTo(),
  dns: integer('Look the names up again regularly (1) or not (0)', 0, 1),
}

function similarTo(): Parameter<string> {
  return {
    ...text('Only names that resemble this one, which itself does not', MAX_FILTER_CHARACTERS),
    parse: (given) => {
      const label = parseLabel(given.replace(/\.cl\.?$/i, ''))
      return label.ok ? { value: label.name } : { takes: 'debe ser un nombre de dominio .cl' }
    },
  }
}

/** Filters as they are stored: the texts of the parameters. */
export type SavedFilters = Readonly<Record<string, string>>

/** Returns the given filters, to be stored. */
export function serializeFilters(values: Values<typeof watchFilters>): SavedFilters {
  const saved: Record<string, string> = {}
  for (const [name, value] of Object.entries(values)) {
    if (value === true) saved[name] = ''
    else if (value !== undefined && value !== false) saved[name] = String(value)
  }
  return saved
}

/** Reads the filters of a watch. Returns undefined for those of another version that this one rejects. */
export function readSavedFilters(saved: string, vocabulary: Vocabulary) {
  const parsed = parseParameters(watchFilters, parseSavedFilters(saved))
  if (!parsed.ok) return undefined
  const { dns, similar } = parsed.values
  const matcher = similar === undefined ? undefined : new Matcher(similar, vocabulary)
  return {
    filters: readFilters(parsed.values),
    /** Returns true for a name that resembles the one that the watch is about, if it is about one. */
    resembles: (name: string) => matcher?.resembles(name) !== false,
    looksUpDns: dns === 1,
  }
}

/** Returns a predicate for the events of a watch. */
export function watchPredicate(
  { filters, changes }: Pick<WatchRow, 'filters' | 'changes'>,
  vocabulary: Vocabulary,
): (event: DomainEvent) => boolean {
  const wanted = readSavedFilters(filters, vocabulary)
  // Better no events than all.
  if (wanted === undefined) return () => false
  // A watch of a newer version may ask for changes that this one does not know.
  const choice = WATCH_CHOICES.find((one) => one === changes) ?? 'all'
  return (event) => concerns(choice, wanted.filters, event) && wanted.resembles(recordIn(event)?.name ?? '')
}

export function parseSavedFilters(filters: string): SavedFilters {
  const saved: SavedFilters = JSON.parse(filters)
  return saved
}

/** Reads what messages show of a watch. */
export function notifiedWatch({ watch_id: id, name, filters, language }: DestinationState): NotifiedWatch {
  return { id, name, filters: parseSavedFilters(filters), language: languageOf(language) }
}
