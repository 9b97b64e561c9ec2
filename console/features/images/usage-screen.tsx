import { useMemo } from 'react'
import { serverNow } from '../../base/server.ts'
import { QueryResult } from '../../design/notice.tsx'
import { Page, Meter, Tile, WideTable } from '../../design/page.tsx'
import { Chart, ChartTable, Plot } from '../stats/chart.tsx'
import { day, bytes, count, t } from '../../i18n/index.ts'
import { lastDays } from '../filters/day-buckets.ts'
import { useUsage, type ImageStats } from './gallery.tsx'
import '../../i18n/texts/images.ts'
import '../../i18n/texts/stats.ts'
import '../../i18n/texts/usage.ts'

/** The storage, formats and daily uploads of the application. */
export default function UsageScreen() {
  const usage = useUsage()
  return (
    <Page isWide title={t('nav.usage')}>
      <QueryResult of={usage}>
        {(data) => (
          <>
            <Totals stats={data} />
            <div className="charts">
              <Uploads stats={data} />
              <Kinds stats={data} />
            </div>
          </>
        )}
      </QueryResult>
    </Page>
  )
}

function Totals({ stats: { images, bytes: held, trash, max_images, max_bytes } }: { stats: ImageStats }) {
  return (
    <ul className="tiles totals">
      <Tile label="nav.images" value={count(images)}>
        <Bound used={images + trash.images} max={max_images} text={count} />
      </Tile>
      <Tile label="app.stored" value={bytes(held)}>
        <Bound used={held + trash.bytes} max={max_bytes} text={bytes} />
      </Tile>
      {trash.images > 0 && (
        <Tile label="images.trash" value={count(trash.images)} to="imagenes" query={{ papelera: '' }}>
          <span className="muted figures">{bytes(trash.bytes)}</span>
        </Tile>
      )}
      <Tile label="usage.average" value={images === 0 ? '–' : bytes(Math.round(held / images))} />
    </ul>
  )
}

function Bound(props: { used: number; max: number | null; text: (n: number) => string }) {
  const { used, max, text } = props
  if (max === null) return <span className="muted">{t('app.noLimit')}</span>
  return (
    <>
      <Meter part={max === 0 ? 1 : used / max} />
      <span className="muted figures">{t('usage.of', { max: text(max) })}</span>
    </>
  )
}

function Uploads({ stats }: { stats: ImageStats }) {
  const days = useMemo(() => lastDays(stats.days, serverNow()), [stats])
  const dates = useMemo(() => days.map(({ day: date }) => day(date)), [days])
  const lines = useMemo(
    () => [{ label: t('usage.images'), values: days.map(({ images }) => images), colour: 'accent' as const }],
    [days],
  )
  return (
    <Chart
      title="usage.perDay"
      isWide
      table={
        <ChartTable
          heads={[t('stats.day'), t('nav.images'), t('images.size')]}
          rows={days
            .filter(({ images }) => images > 0)
            .map(({ day: date, images, bytes: size }) => [day(date), images, bytes(size)])}
        />
      }
    >
      <Plot label={t('usage.perDay')} places={dates} ticks={dates} lines={lines} kind="bars" />
    </Chart>
  )
}

function Kinds({ stats: { kinds, bytes: held } }: { stats: ImageStats }) {
  const sorted = [...kinds].sort((a, b) => b.bytes - a.bytes)
  return (
    <section className="chart stack wide">
      <h2 id="kinds">{t('usage.kinds')}</h2>
      <WideTable
        labelledBy="kinds"
        heads={[t('images.kind'), t('nav.images'), t('images.size'), t('usage.share')]}
        numbers={[t('nav.images'), t('images.size')]}
      >
        {sorted.map(({ mime, images, bytes: size }) => (
          <tr key={mime}>
            <th scope="row" className="mono">
              {mime}
            </th>
            <td className="number">{count(images)}</td>
            <td className="number">{bytes(size)}</td>
            <td>
              <div className="row figures">
                <Meter part={held === 0 ? 0 : size / held} isGood />
                {t('app.percent', { n: percent(size, held) })}
              </div>
            </td>
          </tr>
        ))}
      </WideTable>
    </section>
  )
}

const percent = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 1_000) / 10
