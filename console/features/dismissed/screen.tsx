import { callApi } from '../../api/client.ts'
import type { DismissedDomain } from '../../../clients/js/schema.ts'
import { usePermissions } from '../../api/scope.ts'
import { MAX_FILTER_CHARACTERS } from '../../base/constants.ts'
import { replaceQuery, useRoute, withParameters } from '../../base/router.ts'
import { Time } from '../../design/elements.tsx'
import { SearchBox } from '../../design/field.tsx'
import { Notice } from '../../design/notice.tsx'
import { showToast } from '../../design/toasts.tsx'
import { Page, PagedList, usePages, WideTable } from '../../design/page.tsx'
import { t } from '../../i18n/index.ts'
import { DomainName, StatusTag } from '../domains/tags.tsx'
import { queryClient } from '../../api/query-client.ts'
import { RequestButton } from '../../design/buttons.tsx'
import '../../i18n/texts/dismissed.ts'

const QUERY_KEY = ['domains', 'dismissed']

/** Names whose discarded records were removed. */
export default function DismissedScreen() {
  const { query } = useRoute()
  const search = query.get('search') ?? ''
  const dismissed = usePages([...QUERY_KEY, search], (cursor, signal) =>
    callApi('GET /api/v1/domainwatch/dismissed', { query: { search: search || undefined, cursor }, signal }),
  )
  return (
    <Page
      id="dismissed"
      title={t('nav.dismissed')}
      search={
        <SearchBox
          label={t('dismissed.search')}
          value={search}
          maxLength={MAX_FILTER_CHARACTERS}
          onChange={(text) => replaceQuery(withParameters(query, { search: text || undefined }))}
        />
      }
      explained={t('dismissed.explained')}
    >
      <PagedList
        of={dismissed}
        none={<Notice icon="trash" title={t(search === '' ? 'dismissed.none' : 'dismissed.noMatch')} />}
      >
        {(names) => (
          <WideTable
            labelledBy="dismissed"
            heads={[
              t('app.name'),
              t('dismissed.by'),
              t('app.when'),
              t('dismissed.state'),
              t('domains.date'),
              t('columns.deleted'),
            ]}
            actions={t('dismissed.forget')}
          >
            {names.map((one) => (
              <Row key={one.name} dismissed={one} />
            ))}
          </WideTable>
        )}
      </PagedList>
    </Page>
  )
}

function Row({ dismissed: { name, ...was } }: { dismissed: DismissedDomain }) {
  const isLocked = !usePermissions()('writeDomains')
  const forget = async () => {
    await callApi('DELETE /api/v1/domainwatch/dismissed', { query: { data: JSON.stringify([name]) } })
    showToast(t('dismissed.forgotten', { name: `${name}.cl` }))
    await queryClient.invalidateQueries({ queryKey: QUERY_KEY })
  }
  return (
    <tr>
      <th scope="row">
        <DomainName name={name} />
      </th>
      <td>{was.dismissed_by ?? '–'}</td>
      <td>
        <Time at={was.dismissed_at} />
      </td>
      <td>
        <StatusTag status={was.status} />
      </td>
      <td>
        <Time at={was.date_reg_known === 1 ? was.date_reg : null} />
      </td>
      <td>
        <Time at={was.deleted_at} />
      </td>
      <td>
        <RequestButton
          look="quiet"
          label={t('dismissed.forget')}
          about={`${name}.cl`}
          disabled={isLocked}
          onRequest={forget}
        />
      </td>
    </tr>
  )
}
