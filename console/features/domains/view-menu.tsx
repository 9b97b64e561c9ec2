import { useState } from 'react'
import { apiUrl, streamApi } from '../../api/client.ts'
import { changeErrorMessage } from '../../api/error-message.ts'
import { usePermissions } from '../../api/scope.ts'
import { navigate } from '../../base/router.ts'
import { type Action, useActions } from '../../design/actions.ts'
import { MenuEntry, Menu } from '../../design/elements.tsx'
import { Check } from '../../design/field.tsx'
import { copy } from '../../design/buttons.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { lazyComponent } from '../../design/chunk.tsx'
import { Spinner } from '../../design/notice.tsx'
import { showToast, showError } from '../../design/toasts.tsx'
import { curlLine, type Filters, queryOf, eventFilters, withFilters } from '../filters/filters.ts'
import { removeView, useViews, viewQuery } from '../views/saved-views.ts'
import { undoLast } from '../work/operations.ts'
import { t, tn } from '../../i18n/index.ts'
import { removeTask, updateTask } from '../work/background-tasks.ts'

const SaveForm = lazyComponent(() => import('../views/save-form.tsx'), <Spinner />)

/** The menu of actions on the view. The palette offers the same. */
export function ViewMenu(props: {
  filters: Filters
  /** Number of records of the view, once counted. */
  total: number | undefined
  isAscii: boolean
  onAscii: (isAscii: boolean) => void
  onChange: (filters: Filters) => void
}) {
  const { filters, total, isAscii, onAscii, onChange } = props
  const [isNaming, setNaming] = useState(false)
  const { account, views } = useViews()
  const address = viewQuery(filters)
  const saved = views.find(({ query, sharedBy }) => query === address && sharedBy === undefined)
  const maySave = usePermissions()('writeDomains') && account !== undefined && address !== ''
  const save: Action = {
    id: 'save',
    label: t(saved === undefined ? 'views.save' : 'views.edit'),
    icon: 'layers',
    run: () => setNaming(true),
  }
  const remove = (id: string): Action => ({
    id: 'remove',
    label: t('views.remove'),
    icon: 'layers',
    run: () =>
      void removeView(id).then(
        () => showToast(t('views.removed')),
        (error: unknown) => showToast(changeErrorMessage(error), { isError: true }),
      ),
  })
  const ofView = maySave ? [save, ...(saved === undefined ? [] : [remove(saved.id)])] : []
  const byInterest: Action = {
    id: 'interest',
    label: t('domains.byInterest'),
    icon: 'down',
    run: () => onChange(withFilters(filters, { order: 'interest', sort: undefined })),
  }
  const actions = [byInterest, ...viewActions(filters, total), ...ofView]
  useActions(() => [
    ...actions,
    { id: 'ascii', label: t('domains.ascii'), icon: 'globe', run: () => onAscii(!isAscii) },
    ...(Object.keys(filters).length === 0
      ? []
      : [{ id: 'clear', label: t('domains.clear'), icon: 'close', run: () => onChange({}) } as const]),
    { id: 'undo', label: t('app.undo'), icon: 'undo', key: 'z', run: () => void undoLast() },
  ])
  return (
    <>
      <Menu label={t('app.more')} icon="more">
        {actions.map(({ id, label, icon, run }) => (
          <MenuEntry key={id} icon={icon} label={label} onClick={run} />
        ))}
        <Check label={t('domains.ascii')} value={isAscii} onChange={onAscii} />
      </Menu>
      {isNaming && (
        <Dialog title={save.label} onClose={() => setNaming(false)}>
          <SaveForm filters={filters} saved={saved} onDone={() => setNaming(false)} />
        </Dialog>
      )}
    </>
  )
}

/** Actions on a view of the domains, for its menu and the palette. */
function viewActions(filters: Filters, total: number | undefined): Action[] {
  const newRule = (action: 'hide' | 'tag') =>
    navigate('reglas', new URLSearchParams([...queryOf(eventFilters(filters)), ['nueva', action]]))
  const address = () => curlLine(apiUrl('/api/v1/domainwatch/list', filters))
  return [
    {
      id: 'curl',
      label: t('app.curl'),
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
        navigate('vigilancias', new URLSearchParams([...queryOf(eventFilters(filters)), ['nueva', '']])),
    },
    ...(Object.keys(eventFilters(filters)).length === 0
      ? []
      : ([
          { id: 'hide', label: t('rule.hideView'), icon: 'filter', run: () => newRule('hide') },
          { id: 'tag', label: t('rule.tagView'), icon: 'note', run: () => newRule('tag') },
        ] as const)),
    {
      id: 'triage',
      label: t('views.triage'),
      icon: 'triage',
      run: () => navigate('triaje', queryOf(filters)),
    },
  ]
}

/** Interval of progress updates. */
const SHOW_EVERY_MS = 250
/** Each holds a connection to the service and its file in memory. */
const MAX_RUNNING = 2

/** What the group decided and wrote, besides the fields that every export has. */
const FIELDS = 'seen,seen_by,seen_at,note,tags'

let running = 0
let lastId = 0

/**
 * Saves every record of a view as a file in the background, with progress in the bar.
 * @param total records of the view, if they have been counted
 */
function exportView(filters: Filters, format: 'csv' | 'ndjson', total: number | undefined): void {
  if (running >= MAX_RUNNING) {
    showToast(t('domains.exportsFull', { n: MAX_RUNNING }), { isError: true })
    return
  }
  const stop = new AbortController()
  const id = `export-${++lastId}`
  running++
  const show = (lines: number) =>
    updateTask({
      id,
      label: tn('domains.exporting', lines),
      progress: total === undefined || total === 0 ? undefined : Math.min(1, lines / total),
      to: 'dominios',
      stop: () => stop.abort(),
    })
  show(0)
  saveExport(filters, format, show, stop.signal)
    .then(
      (lines) => showToast(tn('domains.exported', lines)),
      (error) => (stop.signal.aborted ? showToast(t('domains.exportStopped')) : showError(error)),
    )
    .finally(() => {
      running--
      removeTask(id)
    })
    .catch(() => undefined)
}

/** Saves a complete file or none. */
async function saveExport(
  filters: Filters,
  format: 'csv' | 'ndjson',
  show: (lines: number) => void,
  signal: AbortSignal,
): Promise<number> {
  const response = await streamApi(
    '/api/v1/domainwatch/export',
    { ...filters, format, fields: FIELDS },
    { signal },
  )
  // The first line of a CSV file names the columns.
  let lines = format === 'csv' ? -1 : 0
  let shownAt = performance.now()
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
      controller.enqueue(chunk)
      if (performance.now() - shownAt < SHOW_EVERY_MS) return
      shownAt = performance.now()
      show(Math.max(0, lines))
    },
  })
  const type = response.headers.get('content-type') ?? ''
  const blob = await new Response(response.body?.pipeThrough(counted), {
    headers: { 'content-type': type },
  }).blob()
  saveFile(blob, `dominios.${format}`)
  return Math.max(0, lines)
}

function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
