import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { callApi } from '../../api/client.ts'
import type { Delivery } from '../../api/schema.ts'
import { usePermissions } from '../../api/scope.ts'
import { Button, Icon, type IconName } from '../../design/elements.tsx'
import { MoreButton, QueryResult } from '../../design/notice.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { showError, showToast } from '../../design/toasts.tsx'
import { deliveryErrorText, type Watch } from './watch.ts'
import { count, moment, t, tn } from '../../i18n/index.ts'

const PAGE = 50
/** Refetch interval while a delivery is pending. */
const REFRESH_MS = 2_000

const STATES = {
  pending: { icon: 'clock', look: 'tag review' },
  delivered: { icon: 'check', look: 'tag free' },
  failed: { icon: 'alert', look: 'tag danger' },
} as const satisfies Record<string, { icon: IconName; look: string }>

const isUnderWay = ({ state, replaying }: Delivery) => state === 'pending' || replaying === 1

/** The deliveries of a watch in the last 30 days with their results, newest first. */
export function Deliveries({ watch, onClose }: { watch: Watch; onClose: () => void }) {
  const { id } = watch
  const deliveries = useInfiniteQuery({
    queryKey: ['watches', 'deliveries', id],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: cursor, signal }) =>
      callApi('GET /api/v1/domainwatch/watches/deliveries', {
        query: { id, limit: PAGE, cursor },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some((page) => page.data.data.some(isUnderWay)) === true ? REFRESH_MS : false,
  })
  return (
    <Dialog title={t('watch.deliveriesOf', { name: watch.name })} isWide onClose={onClose}>
      <QueryResult of={deliveries}>
        {({ pages }) => {
          const shown = pages.flatMap((page) => page.data.data)
          if (shown.length === 0) return <p className="muted">{t('watch.noDeliveries')}</p>
          return (
            <ol className="deliveries" tabIndex={0} aria-label={t('watch.deliveries')}>
              {shown.map((delivery) => (
                <Item key={delivery.id} watch={watch} delivery={delivery} />
              ))}
            </ol>
          )
        }}
      </QueryResult>
      <MoreButton of={deliveries} label={t('watch.olderDeliveries')} />
      <p className="muted">{t('watch.deliveriesNote')}</p>
    </Dialog>
  )
}

function Item({ watch, delivery }: { watch: Watch; delivery: Delivery }) {
  const { id, time_utc, channel, events, state, attempts, code, milliseconds, error } = delivery
  const { icon, look } = STATES[state]
  const date = moment(Date.parse(time_utc) / 1_000)
  return (
    <li>
      <div className="row">
        <span className={look}>
          <Icon name={icon} />
          {t(`watch.state.${state}`)}
        </span>
        <time className="grow" dateTime={time_utc}>
          {date}
        </time>
        <ReplayButton watch={watch} delivery={delivery} date={date} />
      </div>
      <p className="muted figures">
        {[
          channel,
          tn('watch.changes', events),
          tn('watch.attempts', attempts),
          ...(code === null ? [] : [t('watch.code', { code: String(code) })]),
          ...(milliseconds === null ? [] : [`${count(milliseconds)} ms`]),
        ].join(' · ')}
      </p>
      {error !== null && <p className="fault-text">{deliveryErrorText(error)}</p>}
      <code className="muted" translate="no">
        {id}
      </code>
    </li>
  )
}

function ReplayButton({ watch, delivery, date }: { watch: Watch; delivery: Delivery; date: string }) {
  const queries = useQueryClient()
  const isLocked = !usePermissions()('writeDomains')
  const [isBusy, setBusy] = useState(false)
  const isWaiting = isBusy || delivery.replaying === 1
  async function replay() {
    setBusy(true)
    try {
      const query = { id: watch.id, delivery: delivery.id }
      await callApi('POST /api/v1/domainwatch/watches/replay', { query })
      showToast(t('watch.replayed'))
      await queries.invalidateQueries({ queryKey: ['watches'] })
    } catch (error) {
      showError(error)
    }
    setBusy(false)
  }
  if (delivery.replayable === 0) return <span className="muted">{t('watch.noContent')}</span>
  return (
    <Button
      icon="right"
      isBusy={isWaiting}
      label={t(delivery.state === 'pending' ? 'watch.tryNow' : 'watch.replay')}
      about={date}
      disabled={isLocked}
      aria-disabled={isWaiting}
      onClick={() => isWaiting || void replay()}
    />
  )
}
