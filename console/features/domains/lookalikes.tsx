import { useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import type { Operations } from '../../api/schema.ts'
import { withParameters, useRoute } from '../../base/router.ts'
import { Icon, Link } from '../../design/elements.tsx'
import { language, t } from '../../i18n/index.ts'
import { StatusTag } from './tags.tsx'
import { DomainName } from './domain-name.tsx'
import '../../i18n/texts/sheet.ts'
import './lookalikes.css'

const SHOWN = 12

const FRESH_MS = 60_000

type Lookalike = Operations['GET /api/v1/domainwatch/similar']['answer']['data'][number][number]

/** In English. The service explains in Spanish. */
const REASONS: Readonly<Record<Lookalike['reason'], string>> = {
  accent: 'accents differ',
  homoglyph: 'letters that look alike',
  hyphenation: 'hyphens differ',
  transposition: 'letters swapped',
  repetition: 'letter repeated',
  plural: 'singular or plural',
  'vowel-swap': 'another vowel',
  replacement: 'another letter',
  bitsquatting: 'one bit differs',
  omission: 'letter left out',
  insertion: 'letter inserted',
  addition: 'letter added at the end',
  word: 'word added',
  subdomain: 'could be a subdomain',
}

/** Returns why a name looks like another one. */
export const reasonText = ({ reason, detail }: Lookalike): string =>
  language.get() === 'es' ? detail : REASONS[reason]

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
            <span className="muted reason">{reasonText(one)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
