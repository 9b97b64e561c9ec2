import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../api/client.ts'
import { useMay } from '../api/scope.ts'
import type { Operations } from '../api/schema.ts'
import { useStore } from '../app/store.ts'
import { say, sayFault } from '../app/toasts.tsx'
import { Icon } from '../design/icon.tsx'
import { Link } from '../design/parts.tsx'
import { formatWords, queryOf } from '../domains/filters.ts'
import { DomainName } from '../domains/name.tsx'
import { language, moment, t } from '../i18n/index.ts'

export type Watch = Operations['GET /api/v1/domainwatch/watches']['answer']['data'][number]

/** One watch: what it looks for, how it tells, and how that went. */
export function WatchItem({ watch, onRemove }: { watch: Watch; onRemove: () => void }) {
  const spoken = useStore(language)
  const isLocked = !useMay()('writeDomains')
  const words = formatWords(watch.filters, spoken)
  const { similar } = watch.filters
  return (
    <li className="watch" aria-label={watch.name}>
      <div className="row">
        <h2 className="grow">{watch.name}</h2>
        {watch.url !== null && <TestButton watch={watch} isLocked={isLocked} />}
        <button type="button" className="button danger" disabled={isLocked} onClick={onRemove}>
          {t('watch.remove')}
          <span className="visually-hidden"> {watch.name}</span>
        </button>
      </div>
      <dl className="facts">
        <dt>{t('watch.looksFor')}</dt>
        <dd>
          {similar !== undefined && (
            <>
              {t('watch.like')} <DomainName name={similar} />
              {words !== '' && ' · '}
            </>
          )}
          {(words !== '' || similar === undefined) && (
            <Link to="dominios" query={queryOf(watch.filters)} className="mono">
              {words === '' ? t('watch.all') : words}
            </Link>
          )}
        </dd>
        <dt>{t('watch.tells')}</dt>
        <dd>{t(watch.changes === 'all' ? 'watch.ofAll' : 'watch.ofNew')}</dd>
        {watch.url !== null && (
          <>
            <dt>{t('watch.webhook')}</dt>
            <dd className="mono">{watch.url}</dd>
          </>
        )}
        {watch.atom === 1 && (
          <>
            <dt>{t('watch.feed')}</dt>
            <dd>{t('watch.hasFeed')}</dd>
          </>
        )}
        <dt>{t('watch.made')}</dt>
        <dd>{said(watch.created)}</dd>
        {watch.last_delivery !== null && (
          <>
            <dt>{t('watch.last')}</dt>
            <dd>{said(watch.last_delivery)}</dd>
          </>
        )}
      </dl>
      <Trouble watch={watch} />
    </li>
  )
}

/** What went wrong since the last delivery that arrived. */
function Trouble({ watch }: { watch: Watch }) {
  if (watch.last_error === null && watch.state === 'active') return null
  return (
    <div className="callout danger">
      {watch.state === 'dead' && (
        <p>
          <Icon name="alert" /> <strong>{t('watch.dead')}</strong>
        </p>
      )}
      {watch.last_error !== null && (
        <p>
          {watch.last_error_at !== null && <span className="muted">{said(watch.last_error_at)} · </span>}
          {watch.last_error}
        </p>
      )}
      {watch.next_attempt !== null && (
        <p className="muted">{t('watch.again', { date: said(watch.next_attempt) })}</p>
      )}
    </div>
  )
}

function TestButton({ watch, isLocked }: { watch: Watch; isLocked: boolean }) {
  const queries = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  async function test() {
    setBusy(true)
    try {
      const { data } = await ask('POST /api/v1/domainwatch/watches/test', { query: { id: watch.id } })
      const code = String(data.code ?? '')
      if (data.delivered === 1) say(t('watch.arrived', { code }))
      else say(t('watch.failed', { error: data.error ?? code }), { isFault: true })
      await queries.invalidateQueries({ queryKey: ['watches'] })
    } catch (error) {
      sayFault(error)
    }
    setBusy(false)
  }
  return (
    <button
      type="button"
      className="button"
      disabled={isLocked}
      aria-disabled={isBusy}
      onClick={() => isBusy || void test()}
    >
      {isBusy ? <span className="spinner" /> : <Icon name="bell" />}
      {t('watch.test')}
      <span className="visually-hidden"> {watch.name}</span>
    </button>
  )
}

/** A moment as the service writes it, in its time zone. */
const said = (date: string) => moment(Date.parse(date) / 1_000)
