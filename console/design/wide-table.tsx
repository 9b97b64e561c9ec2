import { useLayoutEffect, useRef, type ReactNode } from 'react'
import './wide-table.css'

/**
 * A table with many columns. On narrow screens each row becomes a card with labelled cells, so that no button is
 * off screen.
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
