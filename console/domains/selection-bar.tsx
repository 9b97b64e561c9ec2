import { useMay } from '../api/scope.ts'
import { Icon } from '../design/icon.tsx'
import { t, tn } from '../i18n/index.ts'
import { setMark } from './marks.ts'
import type { Mark } from './overlay.ts'
import type { Selection } from './selection.ts'

/** What can be done with all selected records. Those that stay as they were are selected again. */
export function SelectionBar({ selection }: { selection: Selection }) {
  const { records, isBusy, clear, add } = selection
  const isLocked = !useMay()('writeDomains')
  const act = (mark: Mark, value: 0 | 1) => () => {
    if (isBusy) return
    clear()
    setMark([...records.values()], mark, value, add)
  }
  const label = isBusy ? t('domains.selecting') : tn('domains.selected', records.size)
  return (
    <div className="selection" role="region" aria-label={label} aria-busy={isBusy}>
      <strong className="figures" role="status">
        {isBusy && <span className="spinner" />} {label}
      </strong>
      <button type="button" className="button" disabled={isBusy || isLocked} onClick={act('revision', 1)}>
        <Icon name="flag" />
        {t('domains.toReview')}
      </button>
      <button type="button" className="button" disabled={isBusy || isLocked} onClick={act('revision', 0)}>
        {t('domains.fromReview')}
      </button>
      <button type="button" className="button" disabled={isBusy || isLocked} onClick={act('discarded', 1)}>
        <Icon name="trash" />
        {t('domains.discard')}
      </button>
      <button type="button" className="button" disabled={isBusy || isLocked} onClick={act('discarded', 0)}>
        <Icon name="undo" />
        {t('domains.takeBack')}
      </button>
      <button type="button" className="button quiet" onClick={clear}>
        {t('domains.clearSelection')}
      </button>
    </div>
  )
}
