import { useMay } from '../api/scope.ts'
import { Icon } from '../design/icon.tsx'
import { t, tn } from '../i18n/index.ts'
import { setMark, type Mark } from './marks.ts'
import type { DomainRecord } from './records.ts'

export function SelectionBar({
  records,
  onClear,
}: {
  records: readonly DomainRecord[]
  onClear: () => void
}) {
  const isLocked = !useMay()('writeDomains')
  const act = (mark: Mark, value: 0 | 1) => () => {
    void setMark(records, mark, value)
    onClear()
  }
  return (
    <div className="selection" role="region" aria-label={tn('domains.selected', records.length)}>
      <strong className="figures">{tn('domains.selected', records.length)}</strong>
      <button type="button" className="button" disabled={isLocked} onClick={act('revision', 1)}>
        <Icon name="flag" />
        {t('domains.toReview')}
      </button>
      <button type="button" className="button" disabled={isLocked} onClick={act('revision', 0)}>
        {t('domains.fromReview')}
      </button>
      <button type="button" className="button" disabled={isLocked} onClick={act('discarded', 1)}>
        <Icon name="trash" />
        {t('domains.discard')}
      </button>
      <button type="button" className="button" disabled={isLocked} onClick={act('discarded', 0)}>
        <Icon name="undo" />
        {t('domains.takeBack')}
      </button>
      <button type="button" className="button quiet" onClick={onClear}>
        {t('domains.clearSelection')}
      </button>
    </div>
  )
}
