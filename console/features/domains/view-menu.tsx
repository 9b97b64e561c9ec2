import { useState } from 'react'
import { MenuEntry } from '../../design/button.tsx'
import { useActions, type Action } from '../../design/actions.ts'
import { lazyComponent } from '../../design/lazy-screen.tsx'
import { undoLast } from '../work/operations.ts'
import { Dialog } from '../../design/dialog.tsx'
import { Spinner } from '../../design/query-result.tsx'
import { Menu } from '../../design/menu.tsx'
import { t } from '../../i18n/index.ts'
import type { Filters } from '../filters/filters.ts'
import { showToast } from '../../design/toasts.tsx'
import { useStore } from '../../base/store.ts'
import { viewQuery, removeView, savedViews } from '../views/saved-views.ts'
import { viewActions } from './view-actions.ts'

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
  const { account, views } = useStore(savedViews)
  const address = viewQuery(filters)
  const isSaved = views.some(({ query }) => query === address)
  const save: Action = { id: 'save', label: t('views.save'), icon: 'layers', run: () => setNaming(true) }
  const remove: Action = {
    id: 'remove',
    label: t('views.remove'),
    icon: 'layers',
    run: () => {
      if (removeView(address)) showToast(t('views.removed'))
      else showToast(t('app.notKept'), { isError: true })
    },
  }
  const ofView = account === undefined || address === '' ? [] : [isSaved ? remove : save]
  const actions = [...viewActions(filters, total), ...ofView]
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
        <label className="check">
          <input type="checkbox" checked={isAscii} onChange={(event) => onAscii(event.target.checked)} />
          {t('domains.ascii')}
        </label>
      </Menu>
      {isNaming && (
        <Dialog title={t('views.save')} onClose={() => setNaming(false)}>
          <SaveForm filters={filters} onDone={() => setNaming(false)} />
        </Dialog>
      )}
    </>
  )
}
