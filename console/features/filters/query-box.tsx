import { useEffect, useId, useRef, useState, type KeyboardEvent, type RefObject } from 'react'
import { useStore } from '../../base/store.ts'
import { Icon } from '../../design/elements.tsx'
import { wordError } from './filter-errors.ts'
import type { FilterCounts } from './filter-counts.tsx'
import { language, t, tn } from '../../i18n/index.ts'
import {
  formatWords,
  parseWords,
  tokensOf,
  type Filters,
  FILTER_FIELDS,
  filterField,
  fold,
  type Token,
} from './filters.ts'
import { useUsedTags } from '../domains/annotations.ts'
import { localNow } from '../../base/server.ts'

/**
 * The filters as words. Text is not rewritten while it is being typed, but by any other change of the filters.
 * Completes words, and underlines unknown ones with the reason.
 */
export function QueryBox(props: {
  box: RefObject<HTMLInputElement | null>
  filters: Filters
  /** Counts for the offered values. */
  facets?: FilterCounts | undefined
  onChange: (filters: Filters) => void
}) {
  const { box, filters, facets, onChange } = props
  const id = useId()
  const spoken = useStore(language)
  const [text, setText] = useState(() => formatWords(filters, spoken))
  const [caret, setCaret] = useState<number>()
  const [chosen, setChosen] = useState(-1)
  const mirror = useRef<HTMLDivElement>(null)
  const said = formatWords(filters, spoken)
  useEffect(() => {
    setText((old) => (formatWords(parseWords(old), spoken) === said ? old : said))
  }, [said, spoken])
  const tags = useUsedTags(caret !== undefined && isTagAt(text, caret))
  const offers = caret === undefined ? [] : toCompletions(text, caret, { facets, tags })
  const tokens = tokensOf(text)
  // The word being typed is not marked yet.
  const faults = tokens.map((token) => {
    const isTyped = caret === token.end && offers.length > 0
    // An agent may have any name.
    const isAgent = token.name === undefined && filters['agent'] !== undefined
    return isTyped || isAgent ? undefined : wordError(token)
  })
  const fault = faults.find((one) => one !== undefined)

  function change(next: string, at: number | undefined) {
    setText(next)
    setCaret(at)
    setChosen(-1)
    const parsed = parseWords(next)
    if (formatWords(parsed, spoken) !== said) onChange(parsed)
  }
  function accept(offer: Completion) {
    const next = completed(text, caret ?? text.length, offer)
    change(next.text, next.text[next.caret - 1] === ':' ? next.caret : undefined)
    box.current?.focus()
    // After React has updated the text.
    requestAnimationFrame(() => box.current?.setSelectionRange(next.caret, next.caret))
  }
  function press(event: KeyboardEvent) {
    const { key, nativeEvent } = event
    if (nativeEvent.isComposing) return
    const offer = offers[chosen]
    if (key === 'Escape' && offers.length > 0) {
      // Closes the completions only, and stays in the box.
      setCaret(undefined)
    } else if ((key === 'ArrowDown' || key === 'ArrowUp') && offers.length > 0) {
      const by = key === 'ArrowDown' ? 1 : -1
      setChosen((chosen + by + offers.length + (chosen < 0 && by < 0 ? 1 : 0)) % offers.length)
    } else if (key === 'Enter' && offer !== undefined) accept(offer)
    else if (key === 'ArrowDown' || key === 'Enter' || key === 'Escape') {
      setCaret(undefined)
      document.querySelector<HTMLElement>('[role=grid]')?.focus()
    } else return
    event.preventDefault()
  }

  return (
    <div className="query" role="search">
      <Icon name="search" />
      <input
        ref={box}
        id={id}
        className="input mono"
        type="search"
        aria-label={t('domains.search')}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-fault`}
        aria-autocomplete="list"
        aria-controls={offers.length > 0 ? `${id}-offers` : undefined}
        aria-activedescendant={offers[chosen] === undefined ? undefined : `${id}-${chosen}`}
        placeholder={t('domains.placeholder')}
        value={text}
        maxLength={600}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        onChange={({ target }) => change(target.value, target.selectionStart ?? target.value.length)}
        onBlur={() => setCaret(undefined)}
        onScroll={({ currentTarget }) => mirror.current?.scrollTo(currentTarget.scrollLeft, 0)}
        onKeyDown={press}
      />
      {fault !== undefined && (
        <div ref={mirror} className="query-mirror mono" aria-hidden="true">
          {tokens.map((token, i) => (
            <span key={token.start}>
              {text.slice(tokens[i - 1]?.end ?? 0, token.start)}
              <span className={faults[i] === undefined ? undefined : 'wrong'}>{token.text}</span>
            </span>
          ))}
        </div>
      )}
      <kbd aria-hidden="true">/</kbd>
      <p className="visually-hidden" role="status">
        {offers.length > 0 ? tn('query.offers', offers.length) : ''}
      </p>
      {offers.length > 0 && (
        <ul
          id={`${id}-offers`}
          className="query-offers floating"
          role="listbox"
          aria-label={t('query.complete')}
        >
          {offers.map((offer, i) => (
            <li
              key={offer.text}
              id={`${id}-${i}`}
              role="option"
              aria-selected={i === chosen}
              // The field keeps the focus.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => accept(offer)}
            >
              <span className="mono">{offer.text}</span>
              <span className="muted">{offer.hint}</span>
            </li>
          ))}
        </ul>
      )}
      <p id={`${id}-fault`} className="query-fault fault-text" aria-live="polite">
        {fault}
      </p>
    </div>
  )
}

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
const isTagAt = (text: string, caret: number): boolean => wordAt(text, caret)?.name === 'tag'

/** What values are offered from. */
export interface Known {
  readonly facets: FilterCounts | undefined
  readonly tags: readonly string[]
}

/** Returns the completions of the word at the caret: filters while their name is typed, then their values. */
function toCompletions(text: string, caret: number, known: Known): Completion[] {
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
function completed(text: string, caret: number, { text: put }: Completion): { text: string; caret: number } {
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
