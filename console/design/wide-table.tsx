import { useLayoutEffect, useRef, type ReactNode } from 'react'
import './wide-table.css'

/**
 * A table of many columns. Where it has no room each row becomes a card of its own, whose cells are labelled by their columns, so
 * that no button lies beyond the edge of the screen.
 */
export function WideTable({ labelledBy, children }: { labelledBy: string; children: ReactNode }) {
  const table = useRef<HTMLTableElement>(null)
  useLayoutEffect(() => {
    const heads = [...(table.current?.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.textContent)
    for (const row of table.current?.tBodies[0]?.rows ?? []) {
      for (const [i, cell] of [...row.cells].entries()) cell.dataset['label'] = heads[i] ?? ''
    }
  })
  return (
    <div className="wide-table" role="region" aria-labelledby={labelledBy}>
      <table ref={table} className="plain">
        {children}
      </table>
    </div>
  )
}
