import { useEffect, useId, useState, type RefObject } from 'react'
import { useStore } from '../app/store.ts'
import { Icon } from '../design/icon.tsx'
import { language, t } from '../i18n/index.ts'
import { formatWords, parseWords, type Filters } from './filters.ts'

/** The words that filter. While somebody types their text stays as it is; any other change of the filters rewrites it. */
export function QueryBox(props: {
  box: RefObject<HTMLInputElement | null>
  filters: Filters
  onChange: (filters: Filters) => void
}) {
  const { box, filters, onChange } = props
  const id = useId()
  const spoken = useStore(language)
  const [text, setText] = useState(() => formatWords(filters, spoken))
  const said = formatWords(filters, spoken)
  useEffect(() => {
    setText((old) => (formatWords(parseWords(old), spoken) === said ? old : said))
  }, [said, spoken])
  return (
    <div className="query" role="search">
      <Icon name="search" />
      <input
        ref={box}
        id={id}
        className="input mono"
        type="search"
        aria-label={t('domains.search')}
        placeholder={t('domains.placeholder')}
        value={text}
        maxLength={600}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        onChange={(event) => {
          setText(event.target.value)
          const next = parseWords(event.target.value)
          if (formatWords(next, spoken) !== said) onChange(next)
        }}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'Enter') return
          event.preventDefault()
          document.querySelector<HTMLElement>('[role=grid]')?.focus()
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
  )
}
