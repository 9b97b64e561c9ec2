import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import type { AuditEntry } from '../../api/schema.ts'
import { localTime } from '../../base/server.ts'
import { changeQuery, useRoute, withParameters } from '../../base/router.ts'
import { MoreButton, Notice, QueryResult } from '../../design/notice.tsx'
import { TextField } from '../../design/field.tsx'
import { Link, Time } from '../../design/elements.tsx'
import { WideTable } from '../../design/page.tsx'
import { t } from '../../i18n/index.ts'
import '../../i18n/texts/audit.ts'
import './admin.css'

/** Who did what in the last year. */
export default function AuditScreen() {
  const { query } = useRoute()
  const account = query.get('account') ?? ''
  const audit = useInfiniteQuery({
    queryKey: ['admin', 'audit', account],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      callApi('GET /api/v1/admin/audit', {
        query: { account: account || undefined, cursor },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
  return (
    <div className="page">
      <header>
        <h1 id="audit" className="grow">
          {t('nav.audit')}
        </h1>
        <TextField
          label={t('app.account')}
          type="search"
          placeholder={t('audit.all')}
          value={account}
          onChange={(text) => changeQuery(withParameters(query, { account: text || undefined }))}
        />
      </header>
      <p className="muted">{t('audit.explained')}</p>
      <QueryResult of={audit}>
        {({ pages }) => (
          <Entries entries={pages.flatMap((page) => page.data.data)} isFiltered={account !== ''} />
        )}
      </QueryResult>
      <MoreButton of={audit} />
    </div>
  )
}

function Entries({ entries, isFiltered }: { entries: readonly AuditEntry[]; isFiltered: boolean }) {
  if (entries.length === 0)
    return <Notice icon="note" title={t(isFiltered ? 'audit.noMatch' : 'audit.none')} />
  return (
    <WideTable
      labelledBy="audit"
      heads={[t('audit.time'), t('app.account'), t('audit.key'), t('audit.action'), t('audit.subject')]}
    >
      {entries.map(({ date, account, key, action, subject }, index) => (
        <tr key={`${date} ${index}`}>
          <th scope="row" className="audit-time">
            <Time at={localTime(date * 1_000)} />
          </th>
          <td className="account">
            <Link to="auditoria" query={new URLSearchParams({ account })}>
              {account}
            </Link>
          </td>
          <td className="mono">{key ?? '–'}</td>
          <td>{t(`audit.did.${action}`)}</td>
          <td className="mono audit-subject">{subject}</td>
        </tr>
      ))}
    </WideTable>
  )
}
