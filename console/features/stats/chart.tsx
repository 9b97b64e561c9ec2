import type { ReactNode } from 'react'
import { count, t, type TextKey } from '../../i18n/index.ts'
import '../../i18n/texts/stats.ts'
import './stats.css'

/** A chart with its title and an equivalent table. */
export function Chart(props: {
  title: TextKey
  isWide?: boolean
  table?: ReactNode
  tools?: ReactNode
  children: ReactNode
}) {
  return (
    <section
      className={props.isWide === true ? 'chart stack wide' : 'chart stack'}
      aria-label={t(props.title)}
    >
      <div className="row">
        <h2>{t(props.title)}</h2>
        {props.tools}
      </div>
      {props.children}
      {props.table !== undefined && (
        <details>
          <summary>{t('stats.asTable')}</summary>
          {props.table}
        </details>
      )}
    </section>
  )
}

/** The table next to a plot. */
export function ChartTable({
  heads,
  rows,
}: {
  heads: readonly string[]
  rows: readonly (readonly (string | number)[])[]
}) {
  return (
    <div className="twin" tabIndex={0} role="region" aria-label={heads.join(', ')}>
      <table className="plain">
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([first = '', ...values]) => (
            <tr key={first}>
              <th scope="row">{first}</th>
              {values.map((value, i) => (
                <td key={heads[i + 1]} className="figures">
                  {typeof value === 'number' ? count(value) : value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
