import type { ReactNode } from 'react'
import { t, type TextKey } from '../i18n/index.ts'
import { Link } from './link.tsx'

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
      <Link to={to} className="tile-figure" query={new URLSearchParams(query)}>
        {inside}
      </Link>
    </li>
  )
}
