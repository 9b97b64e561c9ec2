import { useQuery } from '@tanstack/react-query'
import { useMay } from '../api/scope.ts'
import { ask } from '../api/client.ts'
import { Icon } from '../design/icon.tsx'
import { Dialog, Fault } from '../design/parts.tsx'
import { bytes, count, moment, t } from '../i18n/index.ts'
import { Bench } from './bench.tsx'
import { Copies } from './copies.tsx'
import { NearDuplicates } from './near.tsx'
import type { ImageRecord } from './record.ts'
import './detail.css'

interface Props {
  readonly hash: string
  /** Its record, if the gallery has it already. */
  readonly known: ImageRecord | undefined
  readonly onClose: () => void
  readonly onDelete: (image: ImageRecord) => void
}

export function Detail({ hash, known, onClose, onDelete }: Props) {
  const isLocked = !useMay()('changeImages')
  const { data, error, refetch } = useQuery({
    queryKey: ['images', 'get', hash],
    queryFn: async ({ signal }) =>
      (await ask('GET /api/v1/imagestore/get', { query: { hash }, signal })).data,
  })
  const image = known ?? (data === undefined ? undefined : { dhash: '', ...data })
  return (
    <Dialog title={image === undefined ? hash : image.name} isWide onClose={onClose}>
      {image === undefined && error !== null && <Fault error={error} onRetry={() => void refetch()} />}
      {image !== undefined && (
        <div className="detail">
          <Bench image={image} />
          <div className="detail-side">
            <dl className="facts">
              <dt>{t('images.kind')}</dt>
              <dd>{image.mime}</dd>
              <dt>{t('images.pixels')}</dt>
              <dd className="figures">
                {count(image.width)} × {count(image.height)}
              </dd>
              <dt>{t('images.size')}</dt>
              <dd className="figures">{bytes(image.size)}</dd>
              <dt>{t('images.date')}</dt>
              <dd>{moment(image.date)}</dd>
              <dt>{t('images.hash')}</dt>
              <dd className="mono">{image.hash}</dd>
              {image.dhash !== '' && (
                <>
                  <dt>{t('images.dhash')}</dt>
                  <dd className="mono">{image.dhash}</dd>
                </>
              )}
            </dl>
            <Copies image={image} />
            <NearDuplicates hash={image.hash} />
            <button
              type="button"
              className="button danger"
              disabled={isLocked}
              onClick={() => onDelete(image)}
            >
              <Icon name="trash" />
              {t('images.delete')}
            </button>
          </div>
        </div>
      )}
    </Dialog>
  )
}
