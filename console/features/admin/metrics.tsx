import type { ReactNode } from 'react'
import { Meter } from '../../design/meter.tsx'
import { bytes, count, t, type TextKey } from '../../i18n/index.ts'

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

/** Queues and caches with labels, followed by all metrics by name. */
export function Metrics({ figures }: { figures: Values }) {
  const valueOf = (name: string) => Number(figures[`catalejo_${name}`] ?? 0)
  return (
    <>
      <div className="admin-pair">
        <Part title="system.queues">
          {QUEUES.map(([label, name]) => (
            <Line key={name} label={label}>
              {count(valueOf(name))}
            </Line>
          ))}
        </Part>
        <Part title="system.caches">
          {CACHES.map(([label, hits, misses]) => (
            <Line key={hits} label={label}>
              <Rate hits={valueOf(hits)} misses={valueOf(misses)} />
            </Line>
          ))}
          {SIZES.map(([label, name]) => (
            <Line key={name} label={label}>
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

function Line({ label, children }: { label: TextKey; children: ReactNode }) {
  return (
    <tr>
      <th scope="row" className="named">
        {t(label)}
      </th>
      <td className="number">{children}</td>
    </tr>
  )
}

function Rate({ hits, misses }: { hits: number; misses: number }) {
  const all = hits + misses
  if (all === 0) return <span className="muted">{t('system.unasked')}</span>
  return (
    <span className="rate">
      <Meter part={hits / all} isGood />
      {t('system.hitRate', { n: Math.round((hits / all) * 100), all })}
    </span>
  )
}
