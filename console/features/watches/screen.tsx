import { useState } from 'react'
import { useApi, queryClient } from '../../api/query-client.ts'
import { usePermissions } from '../../api/scope.ts'
import { withParameters, navigate, useRoute } from '../../base/router.ts'
import { Button, Tag } from '../../design/elements.tsx'
import { Page, PagedList, usePages } from '../../design/page.tsx'
import { QueryResult, Notice } from '../../design/notice.tsx'
import { tn, t, count, moment } from '../../i18n/index.ts'
import { toFilters } from '../filters/filters.ts'
import { EditWatch, NewWatch } from './watch-form.tsx'
import { RemoveWatch, RotateSecret, WatchItem, deliveryErrorText } from './watch-item.tsx'
import { callApi } from '../../api/client.ts'
import type { Delivery, Watch } from '../../../clients/js/schema.ts'
import { Dialog } from '../../design/dialog.tsx'
import { showToast } from '../../design/toasts.tsx'
import { RequestButton } from '../../design/buttons.tsx'
import '../../i18n/texts/watches.ts'
import './watches.css'

/** The watches of the account. */
export default function WatchesScreen() {
  const { query } = useRoute()
  const may = usePermissions()
  const [removing, setRemoving] = useState<Watch>()
  const [rotating, setRotating] = useState<Watch>()
  const watches = useApi(['watches'], 'GET /api/v1/domainwatch/watches', { select: ({ data }) => data })
  const isMaking = query.has('nueva')
  // Open dialogs are in the URL, so that the back button closes them.
  const opened = (name: string) => watches.data?.find(({ id }) => id === query.get(name))
  const editing = opened('editar')
  const delivered = opened('entregas')
  const open = (name: string, { id }: Watch) => navigate('vigilancias', withParameters(query, { [name]: id }))
  return (
    <Page
      title={t('nav.watches')}
      tools={
        <>
          {watches.data !== undefined && watches.data.length > 0 && (
            <span className="muted figures">{tn('watch.count', watches.data.length)}</span>
          )}
          <Button
            look="primary"
            icon="plus"
            label={t('watch.new')}
            disabled={!may('writeDomains')}
            onClick={() => navigate('vigilancias', withParameters(query, { nueva: '' }))}
          />
        </>
      }
    >
      <QueryResult of={watches}>
        {(data) =>
          data.length === 0 ? (
            <Notice icon="bell" title={t('watch.none')} text={t('watch.noneText')} />
          ) : (
            <ul className="watches">
              {data.map((watch) => (
                <WatchItem
                  key={watch.id}
                  watch={watch}
                  onEdit={() => open('editar', watch)}
                  onDeliveries={() => open('entregas', watch)}
                  onRotate={() => setRotating(watch)}
                  onRemove={() => setRemoving(watch)}
                />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {isMaking && may('writeDomains') && (
        <NewWatch
          filters={toFilters(query)}
          similar={query.get('similar') ?? ''}
          onClose={() => navigate('vigilancias')}
        />
      )}
      {editing !== undefined && may('writeDomains') && (
        <EditWatch key={editing.id} watch={editing} onClose={() => navigate('vigilancias')} />
      )}
      {delivered !== undefined && <Deliveries watch={delivered} onClose={() => navigate('vigilancias')} />}
      {rotating !== undefined && <RotateSecret watch={rotating} onClose={() => setRotating(undefined)} />}
      {removing !== undefined && <RemoveWatch watch={removing} onClose={() => setRemoving(undefined)} />}
    </Page>
  )
}

const PAGE = 50
/** Refetch interval while a delivery is pending. */
const REFRESH_MS = 2_000

const STATES = {
  pending: { icon: 'clock', look: 'review' },
  delivered: { icon: 'check', look: 'free' },
  failed: { icon: 'alert', look: 'danger' },
} as const

/** Names of channels, where they are not those of the API. */
const CHANNEL_NAMES: Readonly<Record<string, string>> = {
  webhook: 'Webhook',
  telegram: 'Telegram',
  discord: 'Discord',
  slack: 'Slack',
}

const isUnderWay = ({ state, replaying }: Delivery) => state === 'pending' || replaying === 1

/** The deliveries of a watch in the last 30 days with their results, newest first. */
export function Deliveries({ watch, onClose }: { watch: Watch; onClose: () => void }) {
  const { id } = watch
  const deliveries = usePages(
    ['watches', 'deliveries', id],
    (cursor, signal) =>
      callApi('GET /api/v1/domainwatch/watches/deliveries', { query: { id, limit: PAGE, cursor }, signal }),
    { refetchInterval: (shown) => (shown.some(isUnderWay) ? REFRESH_MS : false) },
  )
  return (
    <Dialog title={t('watch.deliveriesOf', { name: watch.name })} isWide onClose={onClose}>
      <PagedList
        of={deliveries}
        none={<p className="muted">{t('watch.noDeliveries')}</p>}
        moreLabel={t('watch.olderDeliveries')}
      >
        {(shown) => (
          <ol className="deliveries" tabIndex={0} aria-label={t('watch.deliveries')}>
            {shown.map((delivery) => (
              <Item key={delivery.id} watch={watch} delivery={delivery} />
            ))}
          </ol>
        )}
      </PagedList>
      <p className="muted">{t('watch.deliveriesNote')}</p>
    </Dialog>
  )
}

function Item({ watch, delivery }: { watch: Watch; delivery: Delivery }) {
  const { id, time_utc, channel, events, state, attempts, code, milliseconds, error } = delivery
  const date = moment(Date.parse(time_utc) / 1_000)
  return (
    <li>
      <div className="row">
        <Tag {...STATES[state]} label={t(`watch.state.${state}`)} />
        <time className="grow" dateTime={time_utc}>
          {date}
        </time>
        <ReplayButton watch={watch} delivery={delivery} date={date} />
      </div>
      <p className="muted figures">
        {[
          channel === 'mailto' ? t('watch.mail') : (CHANNEL_NAMES[channel] ?? channel),
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
  const isLocked = !usePermissions()('writeDomains')
  const query = { id: watch.id, delivery: delivery.id }
  if (delivery.replayable === 0) return <span className="muted">{t('watch.noContent')}</span>
  return (
    <RequestButton
      icon="right"
      isPending={delivery.replaying === 1}
      label={t(delivery.state === 'pending' ? 'watch.tryNow' : 'watch.replay')}
      about={date}
      disabled={isLocked}
      onRequest={async () => {
        await callApi('POST /api/v1/domainwatch/watches/replay', { query })
        showToast(t('watch.replayed'))
        await queryClient.invalidateQueries({ queryKey: ['watches'] })
      }}
    />
  )
}
