import { t, tn, type TextKey } from '../../i18n/index.ts'
import type { DayOrder } from './dates.ts'
import type { Separator } from './layout.ts'
import type { ReadList } from './read-list.ts'
import type { Encoding } from './decode-text.ts'

const SEPARATORS: Readonly<Record<Separator, TextKey>> = {
  ',': 'import.comma',
  ';': 'import.semicolon',
  '\t': 'import.tab',
  '|': 'import.bar',
}
const ENCODINGS: Readonly<Record<Encoding, string>> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16',
  'utf-16be': 'UTF-16',
  'windows-1252': 'Latin-1',
}
const ORDERS: Readonly<Record<DayOrder, TextKey>> = {
  'year-first': 'import.yearFirst',
  'day-first': 'import.dayFirst',
  'month-first': 'import.monthFirst',
}

/** How the file was read. If its dates are ambiguous, the user chooses. */
export function DetectedFormatNote(props: {
  list: ReadList
  onOrder: ((order: DayOrder) => void) | undefined
}) {
  const { list, onOrder } = props
  const { encoding, separator, columns, order, isGuess } = list.understood
  const parts = [
    separator === undefined ? undefined : t('import.separatedBy', { separator: t(SEPARATORS[separator]) }),
    columns.length === 0 ? undefined : t('import.columns', { names: columns.join(', ') }),
    order === undefined ? undefined : t('import.dates', { order: t(ORDERS[order]) }),
    ENCODINGS[encoding],
    list.repeated === 0 ? undefined : tn('import.repeated', list.repeated),
  ]
  return (
    <>
      <p className="muted">{parts.filter((part) => part !== undefined).join(' · ')}</p>
      {isGuess && (
        <div className="callout row">
          <span>{t('import.guess')}</span>
          <select
            className="input order"
            aria-label={t('import.order')}
            value={order}
            disabled={onOrder === undefined}
            onChange={(event) =>
              onOrder?.(event.target.value === 'month-first' ? 'month-first' : 'day-first')
            }
          >
            <option value="day-first">{t('import.dayFirst')}</option>
            <option value="month-first">{t('import.monthFirst')}</option>
          </select>
        </div>
      )}
    </>
  )
}
