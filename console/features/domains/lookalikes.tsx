import { useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import { withParameters, useRoute } from '../../base/router.ts'
import { Icon } from '../../design/icon.tsx'
import { Link } from '../../design/link.tsx'
import { t } from '../../i18n/index.ts'
import { StatusTag } from './tags.tsx'
import { DomainName } from './domain-name.tsx'
import '../../i18n/texts/sheet.ts'
import './lookalikes.css'

const SHOWN = 12

const FRESH_MS = 60_000

/** The recorded names that look like one, best match first. */
export function useSimilar(name: string, isWanted = true) {
  return useQuery({
    queryKey: ['domains', 'similar', name],
    enabled: isWanted,
    staleTime: FRESH_MS,
    queryFn: async ({ signal }) => {
      const asked = { domain: name, limit: SHOWN }
      return (await callApi('GET /api/v1/domainwatch/similar', { query: asked, signal })).data.data[0] ?? []
    },
  })
}

/** Recorded names that may be confused with this one, and why. */
export function Lookalikes({ name }: { name: string }) {
  const { query } = useRoute()
  const { data, isPending } = useSimilar(name)
  return (
    <section className="stack" aria-busy={isPending}>
      <div className="row">
        <h3 className="grow">{t('sheet.similar')}</h3>
        <Link
          to="vigilancias"
          query={new URLSearchParams({ similar: name, nueva: '' })}
          className="button quiet"
        >
          <Icon name="bell" />
          {t('watch.likeThis')}
        </Link>
      </div>
      {data?.length === 0 && <p className="muted">{t('sheet.similarEmpty')}</p>}
      <ul className="lookalikes">
        {(data ?? []).map((one) => (
          <li key={one.name}>
            <Link
              to="dominios"
              query={withParameters(query, { ficha: one.name })}
              className="plain-link ellipsis"
            >
              <DomainName name={one.name} />
            </Link>
            <StatusTag status={one.status} />
            <span className="muted reason">{one.detail}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
