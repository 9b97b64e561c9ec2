import { useQuery } from '@tanstack/react-query'
import { ask } from '../api/client.ts'
import { changed, usePlace } from '../app/router.ts'
import { Link } from '../design/parts.tsx'
import { bytes, count, t, tn } from '../i18n/index.ts'
import type { ImageRecord } from './record.ts'
import { Thumb } from './thumb.tsx'
import './near.css'

const SHOWN = 12
const HEIGHT = 104

export interface Near extends ImageRecord {
  /** Bits of the dhash that differ, of 64. */
  readonly distance: number
}

/** Other images of the application that look like this one, nearest first. */
export function useNear(hash: string) {
  return useQuery({
    queryKey: ['images', 'similar', hash],
    queryFn: async ({ signal }): Promise<readonly Near[]> => {
      // The image itself is among the results.
      const asked = { hash, limit: SHOWN + 1 }
      const { data } = await ask('GET /api/v1/imagestore/similar', { query: asked, signal })
      return data.data.filter((one) => one.hash !== hash).slice(0, SHOWN)
    },
  })
}

/** Each links to a comparison of the two. */
export function NearDuplicates({ hash }: { hash: string }) {
  const { query } = usePlace()
  const { data, isPending } = useNear(hash)
  return (
    <section className="stack near" aria-label={t('images.similar')} aria-busy={isPending}>
      <h3>{t('images.similar')}</h3>
      {data?.length === 0 && <p className="muted">{t('images.similarNone')}</p>}
      <ul>
        {(data ?? []).map((one) => (
          <li key={one.hash}>
            <Link to="imagenes" query={changed(query, { imagen: hash, con: one.hash })}>
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
