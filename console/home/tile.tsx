import { Link } from '../design/parts.tsx'
import { t, type TextKey } from '../i18n/index.ts'
import { Spark } from './spark.tsx'

/** A figure that leads to its list. */
export function Tile(props: {
  label: TextKey
  value: string
  to: string
  query?: Readonly<Record<string, string>>
  spark?: readonly number[]
}) {
  return (
    <li>
      <Link to={props.to} className="tile-figure" query={new URLSearchParams(props.query)}>
        <span className="muted">{t(props.label)}</span>
        <strong className="figures">{props.value}</strong>
        {props.spark !== undefined && <Spark values={props.spark} />}
      </Link>
    </li>
  )
}
