import { localNow } from '../../base/server.ts'
import type { FilterCounts } from './filter-counts.ts'
import { language, t, tn } from '../../i18n/index.ts'
import { FILTER_FIELDS, filterField, fold, tokensOf, type Token } from './filters.ts'

/** A completion of a word in the query box. */
export interface Completion {
  /** The inserted word. */
  readonly text: string
  /** Its meaning, shown next to it. */
  readonly hint: string
}

const MAX_SHOWN = 8

/** Returns the word that contains the caret or ends at it. */
const wordAt = (text: string, caret: number): Token | undefined =>
  tokensOf(text).find(({ start, end }) => start < caret && caret <= end)

/** Whether a tag is typed at the caret. */
export const isTagAt = (text: string, caret: number): boolean => wordAt(text, caret)?.name === 'tag'

/** What values are offered from. */
export interface Known {
  readonly facets: FilterCounts | undefined
  readonly tags: readonly string[]
}

/** Returns the completions of the word at the caret: filters while their name is typed, then their values. */
export function toCompletions(text: string, caret: number, known: Known): Completion[] {
  const word = wordAt(text, caret)
  if (word === undefined) return []
  const typed = word.text.slice(0, caret - word.start)
  const colon = typed.indexOf(':')
  const found = [
    ...wordsLike(typed),
    ...(colon < 1 || word.name === undefined
      ? []
      : valuesLike(word.name, typed.slice(0, colon + 1), typed.slice(colon + 1), known)),
  ]
  return found.filter((one) => one.text !== word.text).slice(0, MAX_SHOWN)
}

/** Returns filters with a matching word, with or without a value, in either language. */
function wordsLike(typed: string): Completion[] {
  const at = language.get() === 'es' ? 0 : 1
  const begins = (word: string) => fold(word).startsWith(fold(typed))
  return FILTER_FIELDS.flatMap(([, { words, values, label, accepts }]) => {
    if (words === undefined) return []
    const name = words[at]
    const hint = label === undefined ? '' : t(label)
    if (accepts.kind === 'flag') return words.some(begins) ? [{ text: name, hint }] : []
    if (typed.includes(':') || !words.some(begins)) return []
    // A few values are offered directly.
    if (values === undefined) return [{ text: `${name}:`, hint }]
    return Object.values(values).map((said) => ({ text: `${name}:${said[at]}`, hint }))
  })
}

function valuesLike(name: string, prefix: string, typed: string, { facets, tags }: Known): Completion[] {
  const field = filterField(name)
  const at = language.get() === 'es' ? 0 : 1
  const begins = (value: string) => fold(value).startsWith(fold(typed))
  if (field?.values !== undefined) {
    const said = Object.values(field.values).map((words) => words[at])
    return said.filter(begins).map((value) => ({ text: prefix + value, hint: '' }))
  }
  if (field?.accepts.kind === 'date') {
    return recentDays()
      .filter(({ day }) => begins(day))
      .map(({ day, hint }) => ({ text: prefix + day, hint }))
  }
  if (name === 'tag') return tags.filter(begins).map((tag) => ({ text: prefix + tag, hint: '' }))
  if (name !== 'length') return []
  return (facets?.lengths ?? [])
    .filter(({ value }) => begins(value))
    .map(({ value, count }) => ({ text: prefix + value, hint: tn('domains.rows', count) }))
}

const DAY_MS = 86_400_000
const DAYS_BACK = [0, 1, 7, 30] as const

/** The most common days, in the service's time zone. */
function recentDays(): { day: string; hint: string }[] {
  // In UTC from here on, because days with a change of the clocks have 23 or 25 hours.
  const today = Date.parse(localNow().slice(0, 10))
  return DAYS_BACK.map((days) => ({
    day: new Date(today - days * DAY_MS).toISOString().slice(0, 10),
    hint: days === 0 ? t('query.today') : days === 1 ? t('query.yesterday') : t('query.daysAgo', { n: days }),
  }))
}

/** Returns the text with the word at the caret replaced, and the new position of the caret. */
export function completed(
  text: string,
  caret: number,
  { text: put }: Completion,
): { text: string; caret: number } {
  const word = wordAt(text, caret)
  if (word === undefined) return { text, caret }
  // No space after a colon: the value follows.
  const space = put.endsWith(':') ? '' : ' '
  const rest = text.slice(word.end).replace(/^ /, space === '' ? ' ' : '')
  return {
    text: text.slice(0, word.start) + put + space + rest,
    caret: word.start + put.length + space.length,
  }
}
