import { useQuery } from '@tanstack/react-query'
import { usePermissions } from '../../api/scope.ts'
import { callApi } from '../../api/client.ts'
import { withParameters, useRoute } from '../../base/router.ts'
import { Button } from '../../design/button.tsx'
import { Icon } from '../../design/icon.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Link } from '../../design/link.tsx'
import { ErrorNotice } from '../../design/notice.tsx'
import { bytes, count, moment, t, tn } from '../../i18n/index.ts'
import { useNearDuplicates } from './near-duplicates.tsx'
import { linkOf, type ImageRecord } from './record.ts'
import './compare.css'

interface Props {
  readonly hashes: readonly [string, string]
  readonly onClose: () => void
  readonly onDelete: (image: ImageRecord) => void
}

/** Two similar images with their differences, to choose which one to delete. */
export function Compare({ hashes: [first, second], onClose, onDelete }: Props) {
  const { query } = useRoute()
  const [one, other] = [useImage(first), useImage(second)]
  const near = useNearDuplicates(first)
  const distance = near.data?.find(({ hash }) => hash === second)?.distance
  const error = one.error ?? other.error
  return (
    <Dialog title={t('images.compare')} isWide onClose={onClose}>
      {error !== null && (
        <ErrorNotice error={error} onRetry={() => void Promise.all([one.refetch(), other.refetch()])} />
      )}
      {one.data !== undefined && other.data !== undefined && (
        <>
          <p className="muted figures" role="status">
            {distance === undefined
              ? ''
              : distance === 0
                ? t('images.samePicture')
                : tn('images.bits', distance)}
          </p>
          <div className="compare">
            <Side image={one.data} other={other.data} onDelete={onDelete} />
            <Side image={other.data} other={one.data} onDelete={onDelete} />
          </div>
        </>
      )}
      <div className="row">
        <Link to="imagenes" query={withParameters(query, { con: undefined })} className="button">
          <Icon name="left" />
          {t('images.backToDetails')}
        </Link>
      </div>
    </Dialog>
  )
}

function useImage(hash: string) {
  return useQuery({
    queryKey: ['images', 'get', hash],
    queryFn: async ({ signal }) =>
      (await callApi('GET /api/v1/imagestore/get', { query: { hash }, signal })).data,
  })
}

type Known = Omit<ImageRecord, 'dhash'>

function Side(props: { image: Known; other: Known; onDelete: (image: ImageRecord) => void }) {
  const { image, other, onDelete } = props
  const isLocked = !usePermissions()('changeImages')
  return (
    <figure>
      <div className="compare-picture">
        <img src={linkOf(image.hash, 'w_1200,h_900,f_webp')} alt={image.name} />
      </div>
      <figcaption>{image.name}</figcaption>
      <dl className="facts">
        <dt>{t('images.pixels')}</dt>
        <dd className="figures">
          {count(image.width)} × {count(image.height)}
          <More isMore={image.width * image.height > other.width * other.height} />
        </dd>
        <dt>{t('images.size')}</dt>
        <dd className="figures">
          {bytes(image.size)}
          <More isMore={image.size > other.size} />
        </dd>
        <dt>{t('images.kind')}</dt>
        <dd>{image.mime}</dd>
        <dt>{t('images.date')}</dt>
        <dd>{moment(image.date)}</dd>
        <dt>{t('images.hash')}</dt>
        <dd className="mono">{image.hash}</dd>
      </dl>
      <Button
        look="danger"
        icon="trash"
        label={t('images.deleteThis')}
        about={image.name}
        disabled={isLocked}
        onClick={() => onDelete({ dhash: '', ...image })}
      />
    </figure>
  )
}

function More({ isMore }: { isMore: boolean }) {
  return isMore ? <strong className="more-of"> {t('images.more')}</strong> : null
}
