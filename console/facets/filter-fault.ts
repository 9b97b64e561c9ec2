import { formatWords, type Filters } from '../domains/filters.ts'
import { language, t } from '../i18n/index.ts'

const MAX_LENGTH = 63
const MAX_NEWEST = 1_024
const MAX_TEXT = 255

type Check = (value: string) => string | undefined

const between =
  (least: number, most: number): Check =>
  (value) =>
    /^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most
      ? undefined
      : t('filter.takesNumber', { least, most })

const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value) ? undefined : t('filter.takesChoice')

const text: Check = (value) =>
  value.length <= MAX_TEXT ? undefined : t('filter.takesText', { most: MAX_TEXT })

const CHECKS: Readonly<Record<string, Check>> = {
  search: text,
  starts: text,
  ends: text,
  pattern: text,
  length: between(1, MAX_LENGTH),
  min_length: between(1, MAX_LENGTH),
  max_length: between(1, MAX_LENGTH),
  last_register: between(1, MAX_NEWEST),
  last_deleted: between(1, MAX_NEWEST),
  from: (value) => (isMoment(value) ? undefined : t('filter.takesDay')),
  to: (value) => (isMoment(value) ? undefined : t('filter.takesDay')),
  status: oneOf('0', '1'),
  hyphen: oneOf('0', '1'),
  digits: oneOf('0', '1'),
  idn: oneOf('0', '1'),
  sort: oneOf('asc', 'desc'),
}

/** Why the service would refuse these filters, in the words of the query box; undefined if it would not. */
export function filterFault(filters: Filters): string | undefined {
  for (const [name, value] of Object.entries(filters)) {
    const takes = CHECKS[name]?.(value)
    if (takes === undefined) continue
    const word = formatWords({ [name]: value.slice(0, 40) }, language.get())
    return t('filter.fault', { word, takes })
  }
  return 'agent' in filters && (filters['search'] ?? '') === '' ? t('filter.agentNeedsText') : undefined
}

/** A day or a moment of the calendar: `2025-02-30` is none. */
function isMoment(value: string): boolean {
  const [, day, time = '00:00:00'] = /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d))?$/.exec(value) ?? []
  if (day === undefined || day.startsWith('0000')) return false
  const date = new Date(`${day}T${time}Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${day}T${time}`)
}
