import { useQuery } from '@tanstack/react-query'
import { useAccounts } from '../../api/scope.ts'
import { callApi } from '../../api/client.ts'
import { Icon } from '../../design/icon.tsx'
import type { Filters } from '../filters/filters.ts'
import type { DomainRecord } from '../domains/records.ts'
import { t } from '../../i18n/index.ts'
import { queueQuery } from './claims.ts'
import '../../i18n/texts/triage.ts'

const ASK_EVERY_MS = 15_000
/** Claims are at the top of a view, so only its first records are read. */
const LOOKED_AT = 400

/** Other accounts that work on this view, with the number of names that each holds. */
export function Colleagues({ filters }: { filters: Filters }) {
  const own = useAccounts()('domainwatch')
  const { data } = useQuery({
    queryKey: ['claims', filters],
    refetchInterval: ASK_EVERY_MS,
    queryFn: async ({ signal }) => {
      const open = { seen: '0', revision: '0', discarded: '0', ...queueQuery(filters) }
      const query = { ...open, limit: LOOKED_AT, fields: 'claimed_by' }
      const { data } = await callApi('GET /api/v1/domainwatch/list', { query, signal })
      const records: readonly DomainRecord[] = data.data[0] ?? []
      return records
    },
  })
  const counts = new Map<string, number>()
  for (const { claimed_by: account } of data ?? []) {
    if (typeof account === 'string' && account !== own) counts.set(account, (counts.get(account) ?? 0) + 1)
  }
  if (counts.size === 0) return null
  return (
    <ul className="colleagues row" aria-label={t('triage.colleagues')}>
      {[...counts].map(([account, n]) => (
        <li key={account} className="tag">
          <Icon name="person" />
          {t('triage.holds', { account, n })}
        </li>
      ))}
    </ul>
  )
}
