import { useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import { withParameters, useRoute } from '../../base/router.ts'
import { Link } from '../../design/link.tsx'
import { bytes, count, t, tn } from '../../i18n/index.ts'
import type { ImageRecord } from './record.ts'
import { Thumb } from './thumb.tsx'
import './near-duplicates.css'

const SHOWN = 12
const HEIGHT = 104

export interface NearDuplicate extends ImageRecord {
  /** Bits of the dhash that differ, of 64. */
  readonly distance: number
}

/** Other images of the application that look like this one, nearest first. */
export function useNearDuplicates(hash: string) {
  return useQuery({
    queryKey: ['images', 'similar', hash],
    queryFn: async ({ signal }): Promise<readonly NearDuplicate[]> => {
      // The image itself is among the results.
      const asked = { hash, limit: SHOWN + 1 }
      const { data } = await callApi('GET /api/v1/imagestore/similar', { query: asked, signal })
      return data.data.filter((one) => one.hash !== hash).slice(0, SHOWN)
    },
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
            <Link to="imagenes" query={withParameters(query, { imagen: hash, con: one.hash })}>
              <span className="tile-picture">
                <Thumb image={one} height={HEIGHT} />
              </span>
              <span className="near-name">{one.name}</span>
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
