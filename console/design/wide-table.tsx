import { useLayoutEffect, useRef, type ReactNode } from 'react'
import './wide-table.css'

interface Props {
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
export function WideTable({ labelledBy, heads, numbers = [], actions, isWidest = false, children }: Props) {
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
