import { useState } from 'react'
import { addressOf } from '../api/client.ts'
import { go } from '../app/router.ts'
import { say, sayFault } from '../app/toasts.tsx'
import { Icon } from '../design/icon.tsx'
import { copy, Menu } from '../design/parts.tsx'
import { count, t } from '../i18n/index.ts'
import { saveExport } from './export.ts'
import { curlLine, queryOf, recordFilters, type Filters } from './filters.ts'

/** What can be done with the view as it is. */
export function ViewMenu(props: { filters: Filters; isAscii: boolean; onAscii: (isAscii: boolean) => void }) {
  const { filters, isAscii, onAscii } = props
  const [lines, setLines] = useState<number>()
  const save = (format: 'csv' | 'ndjson') => () => {
    setLines(0)
    saveExport(filters, format, setLines)
      .then((all) => say(t('domains.exported', { n: count(all) })), sayFault)
      .finally(() => setLines(undefined))
  }
  if (lines !== undefined) {
    return (
      <p className="exporting muted figures" role="status">
        <span className="spinner" /> {t('domains.exporting', { n: count(lines) })}
      </p>
    )
  }
  return (
    <Menu label={t('app.more')} icon="more">
      <button
        type="button"
        data-closes
        onClick={() =>
          void copy(curlLine(addressOf('/api/v1/domainwatch/list', filters))).then(() => say(t('app.copied')))
        }
      >
        <Icon name="copy" />
        {t('domains.curl')}
      </button>
      <button type="button" data-closes onClick={save('csv')}>
        <Icon name="download" />
        {t('domains.exportCsv')}
      </button>
      <button type="button" data-closes onClick={save('ndjson')}>
        <Icon name="download" />
        {t('domains.exportNdjson')}
      </button>
      <button
        type="button"
        data-closes
        onClick={() =>
          go('vigilancias', new URLSearchParams([...queryOf(recordFilters(filters)), ['nueva', '']]))
        }
      >
        <Icon name="bell" />
        {t('watch.view')}
      </button>
      <button type="button" data-closes onClick={() => go('triaje', queryOf(filters))}>
        <Icon name="triage" />
        {t('triage.view')}
      </button>
      <label className="check">
        <input type="checkbox" checked={isAscii} onChange={(event) => onAscii(event.target.checked)} />
        {t('domains.ascii')}
      </label>
    </Menu>
  )
}
