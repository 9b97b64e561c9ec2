import { useMemo, useRef, type ComponentProps } from 'react'
import { changeQuery, useRoute } from '../../base/router.ts'
import { QueryResult, Notice } from '../../design/notice.tsx'
import { Heads, Meter, Page } from '../../design/page.tsx'
import { Link, Time } from '../../design/elements.tsx'
import { FilterChips } from '../filters/filter-chips.tsx'
import { queryOf, type Filters } from '../filters/filters.ts'
import { QueryBox } from '../filters/query-box.tsx'
import {
  useFilterCounts,
  useFilters,
  withAgent,
  type Stats,
  daysInRange,
  keepingRange,
  RangePicker,
  useStatsInRange,
} from '../filters/filter-counts.tsx'
import { filterError } from '../filters/filter-errors.ts'
import { count, day, t, tn } from '../../i18n/index.ts'
import { Chart, ChartTable, Plot } from './chart.tsx'
import '../../i18n/texts/stats.ts'
import './stats.css'

/** Registrations and deletions, lengths and agents of what the filters match. */
export default function StatsScreen() {
  const { query } = useRoute()
  const filters = useFilters(query)
  const fault = filterError(filters)
  const box = useRef<HTMLInputElement>(null)
  const { stats, range } = useStatsInRange(filters)
  const facets = useFilterCounts(filters)
  const change = (next: Filters) => changeQuery(keepingRange(query, queryOf(next)))
  return (
    <Page isWide title={t('nav.stats')}>
      <div className="figures-tools">
        <QueryBox box={box} filters={filters} onChange={change} />
        <FilterChips filters={filters} facets={facets} onChange={change} />
      </div>
      {fault === undefined ? (
        <QueryResult of={stats}>
          {(data) => <Charts stats={data} range={range} filters={filters} />}
        </QueryResult>
      ) : (
        <div role="alert">
          <Notice icon="alert" title={t('filter.faultTitle')} text={fault} />
        </div>
      )}
    </Page>
  )
}

function Charts({
  stats,
  range,
  filters,
}: { stats: Stats; filters: Filters } & ComponentProps<typeof RangePicker>) {
  const { lengths } = stats
  const days = useMemo(() => daysInRange(stats, range), [stats, range])
  const dayLines = useMemo(
    () => [
      { label: t('stats.registered'), values: days.registered, colour: 'accent' as const },
      { label: t('stats.deleted'), values: days.deleted, colour: 'free' as const, isDashed: true },
    ],
    [days],
  )
  const lengthLines = useMemo(
    () => [{ label: t('stats.names'), values: lengths.count, colour: 'accent' as const }],
    [lengths],
  )
  const dates = useMemo(() => days.date.map(day), [days])
  const sizes = useMemo(() => lengths.length.map((n) => tn('facets.length', n)), [lengths])
  const marks = useMemo(() => lengths.length.map(String), [lengths])
  return (
    <div className="charts">
      <Chart
        title="stats.perDay"
        isWide
        tools={<RangePicker range={range} />}
        table={
          <ChartTable
            heads={[t('stats.day'), ...dayLines.map(({ label }) => label)]}
            rows={dates.map((date, i) => [date, days.registered[i] ?? 0, days.deleted[i] ?? 0])}
          />
        }
      >
        <Plot
          label={t('stats.perDay')}
          places={dates}
          ticks={dates}
          lines={dayLines}
          kind="line"
          height={260}
        />
      </Chart>
      <Chart
        title="stats.lengths"
        table={
          <ChartTable
            heads={[t('domains.length'), t('stats.names')]}
            rows={marks.map((mark, i) => [mark, lengths.count[i] ?? 0])}
          />
        }
      >
        <Plot label={t('stats.lengths')} places={sizes} ticks={marks} lines={lengthLines} kind="bars" />
      </Chart>
      <Chart title="stats.agents">
        <Agents stats={stats} filters={filters} />
      </Chart>
      <Chart title="stats.lastAdds" isWide>
        <LastAdds stats={stats} />
      </Chart>
    </div>
  )
}

function Agents({ stats: { agents }, filters }: { stats: Stats; filters: Filters }) {
  const most = Math.max(1, ...agents.count)
  const shown = agents.agent.slice(0, 10)
  const others = agents.others + agents.count.slice(10).reduce((sum, n) => sum + n, 0)
  return (
    <ul className="agent-bars stack tight">
      {shown.map((agent, i) => (
        <li key={agent}>
          <Link to="dominios" query={queryOf(withAgent(filters, agent))} className="agent-name ellipsis">
            {agent}
          </Link>
          <Meter part={(agents.count[i] ?? 0) / most} isGood />
          <span className="figures">{count(agents.count[i] ?? 0)}</span>
        </li>
      ))}
      {others > 0 && <li className="muted figures">{t('facets.others', { n: others })}</li>}
    </ul>
  )
}

function LastAdds({ stats: { feeds: adds } }: { stats: Stats }) {
  return (
    <table className="plain">
      <Heads heads={[t('app.account'), t('stats.lastAdd')]} />
      <tbody>
        {adds.account.map((account, i) => (
          <tr key={account}>
            <th scope="row">{account}</th>
            <td>{typeof adds.last_add[i] === 'string' ? <Time at={adds.last_add[i]} /> : t('app.never')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
