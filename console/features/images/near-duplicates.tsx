import { useApi } from '../../api/query-client.ts'
import { usePermissions } from '../../api/scope.ts'
import { useRoute, withParameters } from '../../base/router.ts'
import { Button, Icon, Link, Fact } from '../../design/elements.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { ErrorNotice } from '../../design/notice.tsx'
import { type ImageRecord, linkOf } from './gallery.tsx'
import { Thumb } from './grid.tsx'
import { bytes, count, moment, t, tn } from '../../i18n/index.ts'

const SHOWN = 12
const HEIGHT = 104

/** Other images of the application that look like this one, nearest first. */
function useNearDuplicates(hash: string) {
  return useApi(['images', 'similar', hash], 'GET /api/v1/imagestore/similar', {
    // The image itself is among the results.
    query: { hash, limit: SHOWN + 1 },
    select: ({ data }) => data.filter((one) => one.hash !== hash).slice(0, SHOWN),
  })
}

/** Each links to a comparison of the two. */
export function NearDuplicates({ hash }: { hash: string }) {
  const { query } = useRoute()
  const { data, isPending } = useNearDuplicates(hash)
  return (
    <section className="stack near" aria-label={t('images.similar')} aria-busy={isPending}>
      <h3>{t('images.similar')}</h3>
      {data?.length === 0 && <p className="muted">{t('images.similarNone')}</p>}
      <ul>
        {(data ?? []).map((one) => (
          <li key={one.hash}>
            <Link
              to="imagenes"
              query={withParameters(query, { imagen: hash, con: one.hash })}
              className="plain-link"
            >
              <span className="tile-picture">
                <Thumb image={one} height={HEIGHT} />
              </span>
              <span className="ellipsis">{one.name}</span>
              <span className="muted figures">
                {count(one.width)} × {count(one.height)} · {bytes(one.size)}
              </span>
              <span className="muted figures">
                {one.distance === 0 ? t('images.samePicture') : tn('images.bits', one.distance)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}

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

export function useImage(hash: string) {
  return useApi(['images', 'get', hash], 'GET /api/v1/imagestore/get', { query: { hash } })
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
        <Fact label={t('images.pixels')} className="figures">
          {count(image.width)} × {count(image.height)}
          <More isMore={image.width * image.height > other.width * other.height} />
        </Fact>
        <Fact label={t('images.size')} className="figures">
          {bytes(image.size)}
          <More isMore={image.size > other.size} />
        </Fact>
        <Fact label={t('images.kind')}>{image.mime}</Fact>
        <Fact label={t('images.date')}>{moment(image.date)}</Fact>
        <Fact label={t('images.hash')} className="mono">
          {image.hash}
        </Fact>
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
