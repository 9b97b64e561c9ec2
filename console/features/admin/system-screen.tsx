import type { ReactNode } from 'react'
import { isClientError, useApi } from '../../api/query-client.ts'
import type { Operations } from '../../../clients/js/schema.ts'
import { errorMessage } from '../../api/error-message.ts'
import { Button, Tag, Fact } from '../../design/elements.tsx'
import { Page, Sparkline, Tile, WideTable } from '../../design/page.tsx'
import { QueryResult } from '../../design/notice.tsx'
import { bytes, count, moment, t, type TextKey } from '../../i18n/index.ts'
import '../../i18n/texts/admin.ts'
import './admin.css'

const EVERY_MS = 10_000

/** The current state of the service. */
export default function SystemScreen() {
  const system = useApi(['admin', 'system'], 'GET /api/v1/admin/system', {
    refetchInterval: ({ state }) => (isClientError(state.error) ? false : EVERY_MS),
  })
  return (
    <Page title={t('nav.system')}>
      <QueryResult of={system}>
        {(data) => (
          <div className="admin-parts stack">
            <ul className="tiles">
              <Tile label="nav.domains" value={count(data.domains)} />
              <Tile label="nav.images" value={count(data.images)} />
              <Tile label="app.stored" value={bytes(data.bytes)} />
            </ul>
            <section className="stack">
              <h2>{t('system.health')}</h2>
              <ul className="row">
                <Health name={`${t('system.database')} (${data.database})`} isWell={data.ready.database} />
                <Health name={`${t('nav.images')} (${data.blobs})`} isWell={data.ready.blobs} />
              </ul>
              <dl className="facts">
                <Fact label={t('system.version')} className="mono">
                  {data.version}
                </Fact>
                <Fact label={t('system.started')}>{moment(data.started)}</Fact>
                <Fact label={t('system.timeZone')}>{data.time_zone}</Fact>
              </dl>
            </section>
            <Diagnosis />
            <Metrics figures={data.figures} lastHour={data.last_hour} />
            <Settings settings={data.settings} />
          </div>
        )}
      </QueryResult>
    </Page>
  )
}

function Health({ name, isWell }: { name: string; isWell: boolean }) {
  return (
    <li>
      <Tag
        {...LEVELS[isWell ? 'ok' : 'fail']}
        label={`${name}: ${t(isWell ? 'system.answers' : 'system.silent')}`}
      />
    </li>
  )
}

const LEVELS = {
  ok: { icon: 'check', look: 'free' },
  warn: { icon: 'alert', look: 'review' },
  fail: { icon: 'alert', look: 'danger' },
} as const

/** The findings of the doctor, on request: it takes seconds. Problems come first. */
function Diagnosis() {
  const diagnosis = useApi(['admin', 'doctor'], 'GET /api/v1/admin/doctor', {
    enabled: false,
    select: ({ data }) => data,
  })
  const severity = ['fail', 'warn', 'ok']
  return (
    <section className="stack">
      <h2 id="diagnosis">{t('system.diagnosis')}</h2>
      <p className="muted">{t('system.diagnosisHint')}</p>
      <p>
        <Button
          label={t(diagnosis.isFetching ? 'system.diagnosing' : 'system.diagnose')}
          isBusy={diagnosis.isFetching}
          disabled={diagnosis.isFetching}
          onClick={() => void diagnosis.refetch()}
        />
      </p>
      {diagnosis.error !== null && <p role="alert">{errorMessage(diagnosis.error)}</p>}
      {diagnosis.data !== undefined && (
        <WideTable labelledBy="diagnosis" heads={[t('system.check'), t('system.finding'), t('system.mend')]}>
          {diagnosis.data
            .toSorted((a, b) => severity.indexOf(a.level) - severity.indexOf(b.level))
            .map(({ check, level, mend, text }) => (
              <tr key={`${check} ${text}`}>
                <th scope="row">
                  <Tag {...LEVELS[level]} label={t(`system.level.${level}`)} /> {check}
                </th>
                <td lang="en" className="setting-value">
                  {text}
                </td>
                <td lang="en" className="mono setting-value">
                  {mend}
                </td>
              </tr>
            ))}
        </WideTable>
      )}
    </section>
  )
}

type Values = Readonly<Record<string, unknown>>

const QUEUES = [
  ['queue.writes', 'database_waiting_writes'],
  ['queue.scans', 'database_waiting_scans'],
  ['queue.tasks', 'tasks_waiting'],
  ['queue.decoding', 'images_decoding'],
  ['queue.images', 'images_waiting'],
  ['queue.removals', 'images_waiting_removals'],
  ['queue.dns', 'dns_in_flight'],
  ['queue.streams', 'event_streams'],
] as const

/** Hits and misses. */
const CACHES = [
  ['cache.images', 'images_cache_hits_total', 'images_cache_misses_total'],
  ['cache.derivatives', 'derivatives_disk_hits_total', 'derivatives_made_total'],
  ['cache.dns', 'dns_cache_hits_total', 'dns_cache_misses_total'],
] as const

const SIZES = [
  ['size.images', 'images_cached_bytes'],
  ['size.similar', 'images_similar_bytes'],
  ['size.derivatives', 'derivatives_disk_bytes'],
] as const

/** Queues and caches with labels and their last hour, followed by all metrics by name. */
function Metrics({ figures, lastHour }: { figures: Values; lastHour: Values }) {
  const valueOf = (name: string) => Number(figures[`catalejo_${name}`] ?? 0)
  const toTrend = (name: string) => [lastHour[`catalejo_${name}`] ?? [], valueOf(name)].flat().map(Number)
  return (
    <>
      <p className="muted">{t('system.trendHint')}</p>
      <div className="admin-pair">
        <Part title="system.queues">
          {QUEUES.map(([label, name]) => (
            <Line key={name} label={label} trend={toTrend(name)}>
              {count(valueOf(name))}
            </Line>
          ))}
        </Part>
        <Part title="system.caches">
          {CACHES.map(([label, hits, misses]) => (
            <Line key={hits} label={label} trend={toRates(toTrend(hits), toTrend(misses))} format={percent}>
              <Rate hits={valueOf(hits)} misses={valueOf(misses)} />
            </Line>
          ))}
          {SIZES.map(([label, name]) => (
            <Line key={name} label={label} trend={toTrend(name)} format={bytes}>
              {bytes(valueOf(name))}
            </Line>
          ))}
        </Part>
      </div>
      <details className="all-figures">
        <summary>{t('system.all')}</summary>
        <div className="scroll-x" tabIndex={0} role="region" aria-label={t('system.all')}>
          <table className="plain">
            <tbody>
              {Object.entries(figures)
                .sort(([a], [b]) => a.localeCompare(b))
                .map(([name, value]) => (
                  <tr key={name}>
                    <th scope="row" className="mono">
                      {name.replace(/^catalejo_/, '')}
                    </th>
                    <td className="number">{count(Number(value))}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      </details>
    </>
  )
}

function Part({ title, children }: { title: TextKey; children: ReactNode }) {
  return (
    <section className="stack">
      <h2>{t(title)}</h2>
      <table className="plain" aria-label={t(title)}>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}

const percent = (n: number) => t('app.percent', { n: count(Math.round(n)) })

/** Returns the percentage of hits in each minute in which something was requested. */
const toRates = (hits: readonly number[], misses: readonly number[]): readonly number[] =>
  hits.slice(1).flatMap((value, i) => {
    const [hit, miss] = [value - (hits[i] ?? 0), (misses[i + 1] ?? 0) - (misses[i] ?? 0)]
    return hit + miss > 0 ? (hit / (hit + miss)) * 100 : []
  })

interface LineProps {
  readonly label: TextKey
  /** Its values in the last hour, oldest first. */
  readonly trend: readonly number[]
  readonly format?: (value: number) => string
  readonly children: ReactNode
}

function Line({ label, trend, format = count, children }: LineProps) {
  const ends = [Math.min(...trend), Math.max(...trend)].map(format)
  return (
    <tr>
      <th scope="row" className="named">
        {t(label)}
      </th>
      <td className="number">{children}</td>
      <td className="trend muted figures">
        {trend.length > 0 && (
          <>
            <Sparkline values={trend} />
            {[...new Set(ends)].join('–')}
          </>
        )}
      </td>
    </tr>
  )
}

function Rate({ hits, misses }: { hits: number; misses: number }) {
  const all = hits + misses
  if (all === 0) return <span className="muted">{t('system.unasked')}</span>
  return t('system.hitRate', { n: Math.round((hits / all) * 100), all })
}

type Setting = Operations['GET /api/v1/admin/system']['answer']['settings'][number]

/** The settings of the service, non-default ones first. */
function Settings({ settings }: { settings: readonly Setting[] }) {
  const isSet = ({ from }: Setting) => from !== 'default'
  const sorted = [...settings.filter(isSet), ...settings.filter((one) => !isSet(one))]
  return (
    <section className="stack">
      <h2 id="settings">{t('system.settings')}</h2>
      <p className="muted">{t('system.settingsHint')}</p>
      <WideTable labelledBy="settings" heads={[t('app.name'), t('system.value'), t('system.from')]}>
        {sorted.map((setting) => (
          <tr key={setting.name}>
            <th scope="row" className="mono">
              {setting.name}
            </th>
            <td className="mono setting-value">
              {setting.value === '' ? <span className="muted">{t('system.unset')}</span> : setting.value}
            </td>
            <td className={isSet(setting) ? '' : 'muted'}>{t(`from.${setting.from}`)}</td>
          </tr>
        ))}
      </WideTable>
    </section>
  )
}
