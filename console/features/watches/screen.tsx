import { useState } from 'react'
import { useApi } from '../../api/query-client.ts'
import { usePermissions } from '../../api/scope.ts'
import { withParameters, navigate, useRoute } from '../../base/router.ts'
import { Button } from '../../design/elements.tsx'
import { QueryResult, Notice } from '../../design/notice.tsx'
import { tn, t } from '../../i18n/index.ts'
import '../../i18n/texts/watches.ts'
import { toFilters } from '../filters/filters.ts'
import { Deliveries } from './deliveries.tsx'
import { EditWatch, NewWatch } from './edit-watch.tsx'
import { RemoveWatch, RotateSecret } from './confirm.tsx'
import type { Watch } from './watch.ts'
import { WatchItem } from './watch-item.tsx'
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
    <div className="page">
      <header>
        <h1 className="grow">{t('nav.watches')}</h1>
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
      </header>
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
    </div>
  )
}
