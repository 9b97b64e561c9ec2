import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import type { DismissedDomain } from '../../api/schema.ts'
import { usePermissions } from '../../api/scope.ts'
import { MAX_FILTER_CHARACTERS } from '../../base/constants.ts'
import { replaceQuery, useRoute, withParameters } from '../../base/router.ts'
import { Button, onFirstClick, Time } from '../../design/elements.tsx'
import { SearchBox } from '../../design/field.tsx'
import { MoreButton, Notice, QueryResult } from '../../design/notice.tsx'
import { showError, showToast } from '../../design/toasts.tsx'
import { WideTable } from '../../design/page.tsx'
import { t } from '../../i18n/index.ts'
import { DomainName, StatusTag } from '../domains/tags.tsx'
import '../../i18n/texts/dismissed.ts'

const QUERY_KEY = ['domains', 'dismissed']

/** Names whose discarded records were removed. */
export default function DismissedScreen() {
  const { query } = useRoute()
  const search = query.get('search') ?? ''
  const dismissed = useInfiniteQuery({
    queryKey: [...QUERY_KEY, search],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      callApi('GET /api/v1/domainwatch/dismissed', {
        query: { search: search || undefined, cursor },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
  return (
    <div className="page">
      <header>
        <h1 id="dismissed">{t('nav.dismissed')}</h1>
        <SearchBox
          label={t('dismissed.search')}
          value={search}
          maxLength={MAX_FILTER_CHARACTERS}
          onChange={(text) => replaceQuery(withParameters(query, { search: text || undefined }))}
        />
      </header>
      <p className="muted">{t('dismissed.explained')}</p>
      <QueryResult of={dismissed}>
        {({ pages }) => <Names names={pages.flatMap((page) => page.data.data)} isSearch={search !== ''} />}
      </QueryResult>
      <MoreButton of={dismissed} />
    </div>
  )
}

function Names({ names, isSearch }: { names: readonly DismissedDomain[]; isSearch: boolean }) {
  if (names.length === 0)
    return <Notice icon="trash" title={t(isSearch ? 'dismissed.noMatch' : 'dismissed.none')} />
  return (
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
  )
}

function Row({ dismissed: { name, ...was } }: { dismissed: DismissedDomain }) {
  const isLocked = !usePermissions()('writeDomains')
  const queries = useQueryClient()
  const forget = useMutation({
    mutationFn: () =>
      callApi('DELETE /api/v1/domainwatch/dismissed', { query: { data: JSON.stringify([name]) } }),
    onSuccess: () => {
      showToast(t('dismissed.forgotten', { name: `${name}.cl` }))
      return queries.invalidateQueries({ queryKey: QUERY_KEY })
    },
    onError: (error) => showError(error),
  })
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
        <Button
          look="quiet"
          label={t('dismissed.forget')}
          about={`${name}.cl`}
          disabled={isLocked}
          isBusy={forget.isPending}
          onClick={onFirstClick(() => forget.isPending || forget.mutate())}
        />
      </td>
    </tr>
  )
}
