import { useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import { useAccounts } from '../../api/scope.ts'
import { Icon } from '../../design/icon.tsx'
import { t, tn } from '../../i18n/index.ts'

const ASK_EVERY_MS = 15_000

/** Who else has claimed names, how many, and until when. Leaves when nobody has. */
export function Colleagues() {
  const own = useAccounts()('domainwatch')
  const { data = [] } = useQuery({
    queryKey: ['claims', 'holders'],
    refetchInterval: ASK_EVERY_MS,
    queryFn: async ({ signal }) => (await callApi('GET /api/v1/domainwatch/queue', { signal })).data.data,
  })
  const others = data.filter(({ account }) => account !== own)
  // Until the account of this key is known, anyone may be a colleague.
  if (own === undefined || others.length === 0) return null
  return (
    <section className="stack" aria-labelledby="home-colleagues">
      <h2 id="home-colleagues">{t('home.colleagues')}</h2>
      <ul className="home-names">
        {others.map(({ account, count, until }) => (
          <li key={account}>
            <Icon name="person" />
            <strong className="holder">{account}</strong>
            <span className="figures">{tn('home.holds', count)}</span>
            <span className="muted">
              {t('home.until')}{' '}
              <time className="mono">{until.slice('YYYY-MM-DD '.length, -':SS'.length)}</time>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
