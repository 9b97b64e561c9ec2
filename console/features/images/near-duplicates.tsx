import { useApi } from '../../api/query-client.ts'
import { useRoute, withParameters } from '../../base/router.ts'
import { Link } from '../../design/elements.tsx'
import type { ImageRecord } from './gallery.tsx'
import { Thumb } from './grid.tsx'
import { bytes, count, t, tn } from '../../i18n/index.ts'

const SHOWN = 12
const HEIGHT = 104

export function useImage(hash: string) {
  return useApi(['images', 'get', hash], 'GET /api/v1/imagestore/get', {
    query: { hash },
    // Only lists have it.
    select: (image): ImageRecord => ({ dhash: '', ...image }),
  })
}

/** Other images of the application that look like this one, nearest first. */
export function useNearDuplicates(hash: string) {
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
              <Thumb image={one} height={HEIGHT} />
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
