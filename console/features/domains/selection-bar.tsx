import { loadChunk } from '../../api/chunk.ts'
import { Button, IconButton } from '../../design/button.tsx'
import { useIsNarrow } from '../../base/hooks.ts'
import { showError } from '../../design/toasts.tsx'
import { usePermissions } from '../../api/scope.ts'
import { t, tn } from '../../i18n/index.ts'
import type { Filters } from '../filters/filters.ts'
import { bulk } from './chunks.ts'
import { setMark } from './marks.ts'
import type { Mark } from './optimistic-updates.ts'
import type { Selection } from './selection.ts'

interface Props {
  readonly selection: Selection
  readonly filters: Filters
  /** Number of records of the view; undefined if not counted. */
  readonly total: number | undefined
}

/** Actions on all selected records. Records that could not be changed are selected again. */
export default function SelectionBar({ selection, filters, total }: Props) {
  const { records, isBusy, isWhole, addWhole, clear, add } = selection
  const isLocked = !usePermissions()('writeDomains')
  const isOff = isBusy || isLocked
  // A phone has no room for words.
  const Act = useIsNarrow() ? IconButton : Button
  const act = (mark: Mark, value: 0 | 1) => () => {
    if (isBusy) return
    if (!isWhole) {
      clear()
      setMark([...records.values()], mark, value, add)
      return
    }
    // What cannot be started stays selected.
    loadChunk(bulk).then(({ setMarkOfView }) => {
      if (setMarkOfView(filters, mark, value) !== undefined) clear()
    }, showError)
  }
  const label = isBusy ? t('domains.selecting') : countText(isWhole, records.size, total)
  const isMore = total === undefined || total > records.size
  return (
    <div className="selection row floating" role="region" aria-label={label} aria-busy={isBusy}>
      <strong className="figures" role="status">
        {isBusy && <span className="spinner" />} {label}
      </strong>
      <Act icon="flag" label={t('domains.toReview')} disabled={isOff} onClick={act('revision', 1)} />
      <Act icon="unflag" label={t('domains.fromReview')} disabled={isOff} onClick={act('revision', 0)} />
      <Act icon="trash" label={t('domains.discard')} disabled={isOff} onClick={act('discarded', 1)} />
      <Act icon="undo" label={t('domains.takeBack')} disabled={isOff} onClick={act('discarded', 0)} />
      <Act icon="close" label={t('domains.clearSelection')} onClick={clear} />
      {!isWhole && isMore && (
        <Button
          look="quiet"
          label={total === undefined ? t('bulk.selectView') : t('bulk.selectAll', { n: total })}
          disabled={isBusy}
          onClick={addWhole}
        />
      )}
    </div>
  )
}

function countText(isWhole: boolean, selected: number, total: number | undefined): string {
  if (!isWhole) return tn('domains.selected', selected)
  return total === undefined ? t('bulk.view') : tn('domains.selected', total)
}
