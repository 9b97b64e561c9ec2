import { languageOf } from '../events/atom-texts.ts'
import { parseLabel } from '../../lib/domain-names.ts'
import { integer, parseParameters, text, type Parameter, type Values } from '../../http/parameters.ts'
import { concerns, recordIn, WATCH_CHOICES, type DomainEvent } from '../events/event.ts'
import { MAX_FILTER_CHARACTERS } from '../filter-kinds.ts'
import { filterParameters, readFilters } from '../filters.ts'
import { Matcher, type Vocabulary } from '../../lib/lookalikes/index.ts'
import type { NotifiedWatch } from './channels/channel.ts'
import type { WatchRow } from './queries.ts'

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

/** Returns a predicate for the events of a watch. */
export function watchPredicate(
  { filters, changes }: Pick<WatchRow, 'filters' | 'changes'>,
  vocabulary: Vocabulary,
): (event: DomainEvent) => boolean {
  const parsed = parseParameters(watchFilters, parseSavedFilters(filters))
  // Filters of an older version that this one rejects: better no events than all.
  if (!parsed.ok) return () => false
  const wanted = readFilters(parsed.values)
  // A watch of a newer version may have filters that this one does not know.
  const choice = WATCH_CHOICES.find((one) => one === changes) ?? 'all'
  const { similar } = parsed.values
  const matcher = similar === undefined ? undefined : new Matcher(similar, vocabulary)
  return (event) =>
    concerns(choice, wanted, event) && matcher?.resembles(recordIn(event)?.name ?? '') !== false
}

export function parseSavedFilters(filters: string): SavedFilters {
  const saved: SavedFilters = JSON.parse(filters)
  return saved
}

/** Reads what messages show of a watch. */
export function notifiedWatch({
  watch_id: id,
  name,
  filters,
  language,
}: {
  readonly watch_id: string
  readonly name: string
  readonly filters: string
  readonly language: string
}): NotifiedWatch {
  return { id, name, filters: parseSavedFilters(filters), language: languageOf(language) }
}
