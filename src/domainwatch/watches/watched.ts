import { parseLabel } from '../../lib/domain-names.ts'
import { parseParameters, text, type Parameter, type Values } from '../../http/parameters.ts'
import { enters, recordIn, touches, type DomainEvent } from '../events/event.ts'
import { filterParameters, readFilters } from '../filters.ts'
import { Matcher, type Vocabulary } from '../../lib/lookalikes/index.ts'
import type { WatchRow } from './queries.ts'

/** What a watch may look for: names like one, too. */
export const watchFilters = { ...filterParameters, similar: similarTo() }

function similarTo(): Parameter<string> {
  return {
    ...text('Only names that resemble this one, which itself does not', 255),
    parse: (given) => {
      const label = parseLabel(given.replace(/\.cl\.?$/i, ''))
      return label.ok ? { value: label.name } : { takes: 'debe ser un nombre de dominio .cl' }
    },
  }
}

/** `new`: what comes to match. `all`: whatever happens to a record that matches, or did. */
export const CHANGES = ['new', 'all'] as const
export type Changes = (typeof CHANGES)[number]

/** Filters as they are kept: as text, as if they were given again. */
export type SavedFilters = Readonly<Record<string, string>>

/** Filters for good: those that were given. */
export function toSave(values: Values<typeof watchFilters>): SavedFilters {
  const saved: Record<string, string> = {}
  for (const [name, value] of Object.entries(values)) {
    if (value === true) saved[name] = ''
    else if (value !== undefined && value !== false) saved[name] = String(value)
  }
  return saved
}

/** Tells which events a watch is about. */
export function watcherOf(
  { filters, changes }: Pick<WatchRow, 'filters' | 'changes'>,
  vocabulary: Vocabulary,
): (event: DomainEvent) => boolean {
  const parsed = parseParameters(watchFilters, savedOf(filters))
  // What an older version took and this one does not: better nothing than everything.
  if (!parsed.ok) return () => false
  const wanted = readFilters(parsed.values)
  const isAbout = changes === 'new' ? enters : touches
  const { similar } = parsed.values
  const matcher = similar === undefined ? undefined : new Matcher(similar, vocabulary)
  return (event) => isAbout(wanted, event) && matcher?.resembles(recordIn(event)?.name ?? '') !== false
}

export function savedOf(filters: string): SavedFilters {
  const saved: SavedFilters = JSON.parse(filters)
  return saved
}
