import { useActions } from '../app/actions.ts'
import { undoLast } from '../app/operations.ts'
import { Icon } from '../design/icon.tsx'
import { Menu } from '../design/parts.tsx'
import { t } from '../i18n/index.ts'
import type { Filters } from './filters.ts'
import { viewActions } from './view-actions.ts'

/** What can be done with the view as it is. The palette offers the same. */
export function ViewMenu(props: {
  filters: Filters
  /** Records of the view, once they are counted. */
  total: number | undefined
  isAscii: boolean
  onAscii: (isAscii: boolean) => void
  onChange: (filters: Filters) => void
}) {
  const { filters, total, isAscii, onAscii, onChange } = props
  const actions = viewActions(filters, total)
  useActions(() => [
    ...viewActions(filters, total),
    { id: 'ascii', label: t('domains.ascii'), icon: 'globe', run: () => onAscii(!isAscii) },
    ...(Object.keys(filters).length === 0
      ? []
      : [{ id: 'clear', label: t('domains.clear'), icon: 'close', run: () => onChange({}) } as const]),
    { id: 'undo', label: t('app.undo'), icon: 'undo', key: 'z', run: () => void undoLast() },
  ])
  return (
    <Menu label={t('app.more')} icon="more">
      {actions.map(({ id, label, icon, run }) => (
        <button key={id} type="button" data-closes onClick={run}>
          <Icon name={icon} />
          {label}
        </button>
      ))}
      <label className="check">
        <input type="checkbox" checked={isAscii} onChange={(event) => onAscii(event.target.checked)} />
        {t('domains.ascii')}
      </label>
    </Menu>
  )
}
