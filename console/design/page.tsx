import { useLayoutEffect, useRef, type ReactNode } from 'react'
import { Link } from './elements.tsx'
import { t, type TextKey } from '../i18n/index.ts'

interface TableProps {
  readonly labelledBy: string
  /** Head of each column. */
  readonly heads: readonly string[]
  /** Columns of numbers, by their heads. */
  readonly numbers?: readonly string[]
  /** The head of a last column with buttons, which is not shown. */
  readonly actions?: string
  /** Its rows become cards on most screens already. */
  readonly isWidest?: boolean
  readonly children: ReactNode
}

/**
 * A table with many columns. On narrow screens each row becomes a card with labelled cells, so that no button is
 * off screen.
 */
export function WideTable({
  labelledBy,
  heads,
  numbers = [],
  actions,
  isWidest = false,
  children,
}: TableProps) {
  const table = useRef<HTMLTableElement>(null)
  useLayoutEffect(() => {
    for (const row of table.current?.tBodies[0]?.rows ?? []) {
      for (const [i, cell] of [...row.cells].entries()) cell.dataset['label'] = heads[i] ?? ''
    }
  })
  return (
    <div
      className={isWidest ? 'scroll-x' : 'wide-table'}
      tabIndex={isWidest ? 0 : undefined}
      role="region"
      aria-labelledby={labelledBy}
    >
      <table ref={table} className={isWidest ? 'plain cards' : 'plain'}>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col" className={numbers.includes(head) ? 'number' : undefined}>
                {head}
              </th>
            ))}
            {actions !== undefined && (
              <th scope="col">
                <span className="visually-hidden">{actions}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

interface TileProps {
  readonly label: TextKey
  readonly value: string
  /** The screen that it links to. */
  readonly to?: string
  readonly query?: Readonly<Record<string, string>>
  /** Further details. */
  readonly children?: ReactNode
}

/** A figure with its label, in a row of tiles. */
export function Tile({ label, value, to, query, children }: TileProps) {
  const inside = (
    <>
      <span className="muted">{t(label)}</span>
      <strong className="figures">{value}</strong>
      {children}
    </>
  )
  if (to === undefined) return <li className="tile-figure">{inside}</li>
  return (
    <li>
      <Link to={to} className="tile-figure plain-link" query={new URLSearchParams(query)}>
        {inside}
      </Link>
    </li>
  )
}

/**
 * A bar that shows a share of a total, next to its figures.
 * @param isGood whether a high value is good; otherwise it warns from 90 % on
 */
export function Meter({ part, isGood = false }: { part: number; isGood?: boolean }) {
  const width = `${Math.min(1, Math.max(0, part)) * 100}%`
  return (
    <span className="bar-of" aria-hidden="true">
      <span className={part >= 0.9 && !isGood ? 'part full' : 'part'} style={{ width }} />
    </span>
  )
}
