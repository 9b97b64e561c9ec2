import { callApi } from '../../api/client.ts'
import type { AuditEntry } from '../../api/schema.ts'
import { localTime } from '../../base/server.ts'
import { changeQuery, useRoute, withParameters } from '../../base/router.ts'
import { Notice } from '../../design/notice.tsx'
import { TextField } from '../../design/field.tsx'
import { Link, Time } from '../../design/elements.tsx'
import { Page, PagedList, usePages, WideTable } from '../../design/page.tsx'
import { t } from '../../i18n/index.ts'
import '../../i18n/texts/audit.ts'
import './admin.css'

/** Who did what in the last year. */
export default function AuditScreen() {
  const { query } = useRoute()
  const account = query.get('account') ?? ''
  const audit = usePages(['admin', 'audit', account], (cursor, signal) =>
    callApi('GET /api/v1/admin/audit', { query: { account: account || undefined, cursor }, signal }),
  )
  return (
    <Page
      id="audit"
      title={t('nav.audit')}
      tools={
        <TextField
          label={t('app.account')}
          type="search"
          placeholder={t('audit.all')}
          value={account}
          onChange={(text) => changeQuery(withParameters(query, { account: text || undefined }))}
        />
      }
      explained={t('audit.explained')}
    >
      <PagedList
        of={audit}
        none={<Notice icon="note" title={t(account === '' ? 'audit.none' : 'audit.noMatch')} />}
      >
        {(entries) => <Entries entries={entries} />}
      </PagedList>
    </Page>
  )
}

function Entries({ entries }: { entries: readonly AuditEntry[] }) {
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
