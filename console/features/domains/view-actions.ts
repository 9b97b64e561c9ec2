import { apiUrl } from '../../api/client.ts'
import type { Action } from '../../design/actions.ts'
import { navigate } from '../../base/router.ts'
import { showToast } from '../../design/toasts.tsx'
import { copy } from '../../design/copy-button.tsx'
import { t } from '../../i18n/index.ts'
import { exportView } from './export.ts'
import { curlLine, queryOf, recordFilters, type Filters } from '../filters/filters.ts'

/** Actions on a view of the domains, for its menu and the palette. */
export function viewActions(filters: Filters, total: number | undefined): Action[] {
  const address = () => curlLine(apiUrl('/api/v1/domainwatch/list', filters))
  return [
    {
      id: 'curl',
      label: t('domains.curl'),
      icon: 'copy',
      run: () => void copy(address()).then((isDone) => isDone && showToast(t('app.copied'))),
    },
    {
      id: 'csv',
      label: t('domains.exportCsv'),
      icon: 'download',
      run: () => exportView(filters, 'csv', total),
    },
    {
      id: 'ndjson',
      label: t('domains.exportNdjson'),
      icon: 'download',
      run: () => exportView(filters, 'ndjson', total),
    },
    {
      id: 'watch',
      label: t('watch.view'),
      icon: 'bell',
      run: () =>
        navigate('vigilancias', new URLSearchParams([...queryOf(recordFilters(filters)), ['nueva', '']])),
    },
    {
      id: 'triage',
      label: t('views.triage'),
      icon: 'triage',
      run: () => navigate('triaje', queryOf(filters)),
    },
  ]
}
