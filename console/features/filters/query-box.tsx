import { useEffect, useId, useRef, useState, type KeyboardEvent, type RefObject } from 'react'
import { useStore } from '../../base/store.ts'
import { Icon } from '../../design/elements.tsx'
import { wordError } from './filter-errors.ts'
import type { FilterCounts } from './filter-counts.ts'
import { language, t, tn } from '../../i18n/index.ts'
import { completed, toCompletions, isTagAt, type Completion } from './completions.ts'
import { formatWords, parseWords, tokensOf, type Filters } from './filters.ts'
import { useUsedTags } from '../domains/tag-field.tsx'

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
