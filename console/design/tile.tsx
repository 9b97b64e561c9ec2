import type { ReactNode } from 'react'
import { Link } from './elements.tsx'
import { t, type TextKey } from '../i18n/index.ts'
import './meter.css'

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
