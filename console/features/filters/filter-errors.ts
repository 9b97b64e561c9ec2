import { MAX_FILTER_CHARACTERS } from '../../base/constants.ts'
import {
  filterField,
  isUnknownFilter,
  formatWords,
  type FilterField,
  type Filters,
  type Token,
} from './filters.ts'
import { language, t } from '../../i18n/index.ts'

/** Returns what the service accepts instead of this value; undefined if the value is valid. */
function faultOf({ accepts, values }: FilterField, value: string): string | undefined {
  switch (accepts.kind) {
    case 'flag':
      return undefined
    case 'text':
      return value.length <= MAX_FILTER_CHARACTERS
        ? undefined
        : t('filter.takesText', { most: MAX_FILTER_CHARACTERS })
    case 'date':
      return isMoment(value) ? undefined : t('filter.takesDay')
    case 'decimal':
      return /^[+-]?\d+(\.\d+)?$/.test(value) ? undefined : t('filter.takesDecimal')
    case 'choice':
      if (accepts.values.includes(value) || accepts.also?.test(value) === true) return undefined
      return values === undefined ? t('filter.takesChoice') : t('query.oneOf', { values: listOf(values) })
    case 'number': {
      const { min, max } = accepts
      const isBetween = /^\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max
      return isBetween ? undefined : t('filter.takesNumber', { least: min, most: max })
    }
  }
}

/** `inscrito o libre`. */
function listOf(values: NonNullable<FilterField['values']>): string {
  const at = language.get() === 'es' ? 0 : 1
  const words = Object.values(values).map((said) => said[at])
  return new Intl.ListFormat(language.get(), { type: 'disjunction' }).format(words)
}

/** Returns why a word of the query box is not valid; undefined if it is. */
export function wordError({ text, name, value }: Token): string | undefined {
  const word = text.slice(0, 40)
  if (name === undefined) {
    return isUnknownFilter(text)
      ? t('query.unknown', { word, name: word.slice(0, word.indexOf(':')) })
      : undefined
  }
  const field = filterField(name)
  if (value === '') return field?.accepts.kind === 'flag' ? undefined : t('query.noValue', { word })
  const takes = field && faultOf(field, value)
  return takes === undefined ? undefined : t('filter.fault', { word, takes })
}

/** Returns why the service would reject these filters, in terms of the query box; undefined if it would not. */
export function filterError(filters: Filters): string | undefined {
  for (const [name, value] of Object.entries(filters)) {
    const field = filterField(name)
    const takes = field && faultOf(field, value)
    if (takes === undefined) continue
    const word = formatWords({ [name]: value.slice(0, 40) }, language.get())
    return t('filter.fault', { word, takes })
  }
  return 'agent' in filters && (filters['search'] ?? '') === '' ? t('filter.agentNeedsText') : undefined
}

/**
 * Returns why a rule or a watch cannot have these filters; undefined if it can.
 * @param taken those of them that it takes: without the others it would match more than the user asked for
 */
export function takenError(filters: Filters, taken: Filters): string | undefined {
  const [other] = Object.entries(filters).filter(([name]) => !(name in taken))
  if (other === undefined) return filterError(filters)
  return t('filter.notTaken', { word: formatWords(Object.fromEntries([other]), language.get()) })
}

/** A valid date, or date and time: not `2025-02-30`. */
function isMoment(value: string): boolean {
  const [, day, time = '00:00:00'] = /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d))?$/.exec(value) ?? []
  if (day === undefined || day.startsWith('0000')) return false
  const date = new Date(`${day}T${time}Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${day}T${time}`)
}
