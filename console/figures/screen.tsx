import { useMemo, useRef } from 'react'
import { replaceQuery, usePlace } from '../app/router.ts'
import { Answer } from '../design/answer.tsx'
import { Link, Notice } from '../design/parts.tsx'
import { Chips } from '../domains/chips.tsx'
import { filtersOf, queryOf, type Filters } from '../domains/filters.ts'
import { QueryBox } from '../domains/query-box.tsx'
import { useFacets, withAgent } from '../facets/facets.ts'
import { filterFault } from '../facets/filter-fault.ts'
import { useStats, type Stats } from '../facets/stats.ts'
import { bareDay, count, shortDay, t } from '../i18n/index.ts'
import { Part, Twin } from './part.tsx'
import { Plot } from './plot.tsx'
import '../i18n/texts/figures.ts'
import './figures.css'

/** Registrations and deletions, lengths and agents of what the filters match. */
export default function FiguresScreen() {
  const { query } = usePlace()
  // A set flag has an empty value, unlike an absent one.
  const key = queryOf(filtersOf(query)).toString()
  const filters = useMemo(() => filtersOf(new URLSearchParams(key)), [key])
  const fault = filterFault(filters)
  const box = useRef<HTMLInputElement>(null)
  const stats = useStats(filters)
  const facets = useFacets(filters)
  const change = (next: Filters) => replaceQuery(queryOf(next))
  return (
    <div className="page wide">
      <header>
        <h1>{t('nav.figures')}</h1>
      </header>
      <div className="figures-tools">
        <QueryBox box={box} filters={filters} onChange={change} />
        <Chips filters={filters} facets={facets} onChange={change} />
      </div>
      {fault === undefined ? (
        <Answer of={stats}>{(data) => <Charts stats={data} filters={filters} />}</Answer>
      ) : (
        <div role="alert">
          <Notice icon="alert" title={t('filter.faultTitle')} text={fault} />
        </div>
      )}
    </div>
  )
}

function Charts({ stats, filters }: { stats: Stats; filters: Filters }) {
  const { days, lengths } = stats
  const dayLines = useMemo(
    () => [
      { label: t('figures.registered'), values: days.registered, colour: 'accent' as const },
      { label: t('figures.deleted'), values: days.deleted, colour: 'free' as const, isDashed: true },
    ],
    [days],
  )
  const lengthLines = useMemo(
    () => [{ label: t('figures.names'), values: lengths.count, colour: 'accent' as const }],
    [lengths],
  )
  const dates = useMemo(() => days.date.map(bareDay), [days])
  const ticks = useMemo(() => days.date.map(shortDay), [days])
  const sizes = useMemo(() => lengths.length.map((n) => t('figures.letters', { n })), [lengths])
  const marks = useMemo(() => lengths.length.map(String), [lengths])
  return (
    <div className="charts">
      <Part
        title="figures.perDay"
        isWide
        table={
          <Twin
            heads={[t('figures.day'), ...dayLines.map(({ label }) => label)]}
            rows={dates.map((date, i) => [date, days.registered[i] ?? 0, days.deleted[i] ?? 0])}
          />
        }
      >
        <Plot
          label={t('figures.perDay')}
          places={dates}
          ticks={ticks}
          lines={dayLines}
          kind="line"
          height={260}
        />
      </Part>
      <Part
        title="figures.lengths"
        table={
          <Twin
            heads={[t('domains.length'), t('figures.names')]}
            rows={marks.map((mark, i) => [mark, lengths.count[i] ?? 0])}
          />
        }
      >
        <Plot label={t('figures.lengths')} places={sizes} ticks={marks} lines={lengthLines} kind="bars" />
      </Part>
      <Part title="figures.agents">
        <Agents stats={stats} filters={filters} />
      </Part>
      <Part title="figures.feeds" isWide>
        <Feeds stats={stats} />
      </Part>
    </div>
  )
}

function Agents({ stats: { agents }, filters }: { stats: Stats; filters: Filters }) {
  const most = Math.max(1, ...agents.count)
  const shown = agents.agent.slice(0, 10)
  const others = agents.others + agents.count.slice(10).reduce((sum, n) => sum + n, 0)
  return (
    <ul className="agent-bars">
      {shown.map((agent, i) => (
        <li key={agent}>
          <Link to="dominios" query={queryOf(withAgent(filters, agent))} className="agent-name">
            {agent}
          </Link>
          <span className="bar-track">
            <span className="bar-fill" style={{ width: `${((agents.count[i] ?? 0) / most) * 100}%` }} />
          </span>
          <span className="figures">{count(agents.count[i] ?? 0)}</span>
        </li>
      ))}
      {others > 0 && <li className="muted figures">{t('figures.others', { n: others })}</li>}
    </ul>
  )
}

function Feeds({ stats: { feeds } }: { stats: Stats }) {
  return (
    <table className="plain">
      <thead>
        <tr>
          <th scope="col">{t('figures.account')}</th>
          <th scope="col">{t('figures.lastAdd')}</th>
        </tr>
      </thead>
      <tbody>
        {feeds.account.map((account, i) => (
          <tr key={account}>
            <th scope="row">{account}</th>
            <td className="mono">{feeds.last_add[i] ?? t('figures.never')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
