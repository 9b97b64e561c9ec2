import { useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import { Tile } from '../../design/tile.tsx'
import { useStats } from '../filters/use-stats.ts'
import { count, t } from '../../i18n/index.ts'
import '../../i18n/texts/home.ts'

/** Names that came free and that nobody has decided about: what triage begins with. */
const UNSEEN = { status: '0', seen: '0', revision: '0', discarded: '0' }
const FRESH_MS = 60_000

/** What waits for the person: names to decide about and watches that fail. Leaves when nothing does. */
export function Waiting() {
  const { data: stats } = useStats(UNSEEN)
  const { data: failing = 0 } = useQuery({
    queryKey: ['domains', 'watches', 'failing'],
    staleTime: FRESH_MS,
    queryFn: async ({ signal }) => {
      const { data } = await callApi('GET /api/v1/domainwatch/watches', { signal })
      return data.data.filter(({ state, paused, last_error, pending }) => {
        return state === 'dead' || (paused === 0 && last_error !== null && pending > 0)
      }).length
    },
  })
  const unseen = stats?.totals.records ?? 0
  if (unseen === 0 && failing === 0) return null
  return (
    <section className="stack waiting" aria-label={t('home.waiting')}>
      <h2>{t('home.waiting')}</h2>
      <ul className="tiles">
        {unseen > 0 && <Tile label="home.unseen" value={count(unseen)} to="dominios" query={UNSEEN} />}
        {failing > 0 && <Tile label="home.failing" value={count(failing)} to="vigilancias" />}
      </ul>
    </section>
  )
}
