import { useState } from 'react'
import { Button, IconButton } from '../../design/elements.tsx'
import { useIsNarrow } from '../../base/store.ts'
import { showError } from '../../design/toasts.tsx'
import { usePermissions } from '../../api/scope.ts'
import { t, tn } from '../../i18n/index.ts'
import type { Filters } from '../filters/filters.ts'
import type { BulkSet } from './bulk.ts'
import { fetchBulk } from './changes.ts'
import { setMark } from './marks.ts'
import type { Mark } from './optimistic-updates.ts'
import type { Selection } from './selection.ts'
import { MAX_NOTE_CHARACTERS, MAX_TAGS } from '../../base/constants.ts'
import { FormDialog } from '../../design/dialog.tsx'
import { TextArea, TextField } from '../../design/field.tsx'
import { isTag } from './annotations.ts'
import '../../i18n/texts/bulk.ts'

interface Props {
  readonly selection: Selection
  readonly filters: Filters
  /** Number of records of the view; undefined if not counted. */
  readonly total: number | undefined
}

/** Actions on all selected records. Records that could not be changed are selected again. */
export default function SelectionBar({ selection, filters, total }: Props) {
  const { records, isBusy, isWhole, addWhole, clear, add } = selection
  const [asking, setAsking] = useState<'tags' | 'note'>()
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
    // Removing a mark is not a decision.
    change(value === 1 ? { [mark]: value, seen: 1 } : { [mark]: value })
  }
  /** By the service, also of selected rows. What cannot be started stays selected. */
  const change = (set: BulkSet) => {
    const names = isWhole ? undefined : [...records.keys()]
    const count = isWhole ? total : names?.length
    fetchBulk().then(({ changeInBulk }) => {
      if (changeInBulk({ filters: isWhole ? filters : {}, names, count }, set) !== undefined) clear()
    }, showError)
  }
  const label = isBusy ? t('domains.selecting') : countText(isWhole, records.size, total)
  // The newest ones are few, and which those are is not a property of each.
  const isOfFilters = filters['last_register'] === undefined && filters['last_deleted'] === undefined
  const isMore = isOfFilters && (total === undefined || total > records.size)
  return (
    <>
      <div className="selection row floating" role="region" aria-label={label} aria-busy={isBusy}>
        <strong className="figures" role="status">
          {isBusy && <span className="spinner" />} {label}
        </strong>
        <Act icon="flag" label={t('domains.toReview')} disabled={isOff} onClick={act('revision', 1)} />
        <Act icon="unflag" label={t('domains.fromReview')} disabled={isOff} onClick={act('revision', 0)} />
        <Act icon="trash" label={t('domains.discard')} disabled={isOff} onClick={act('discarded', 1)} />
        <Act icon="undo" label={t('domains.takeBack')} disabled={isOff} onClick={act('discarded', 0)} />
        <Act icon="tag" label={t('bulk.tags')} disabled={isOff} onClick={() => setAsking('tags')} />
        <Act icon="note" label={t('bulk.note')} disabled={isOff} onClick={() => setAsking('note')} />
        <IconButton icon="close" label={t('domains.clearSelection')} onClick={clear} />
        {!isWhole && isMore && (
          <Button
            look="quiet"
            label={total === undefined ? t('bulk.selectView') : t('bulk.selectAll', { n: total })}
            disabled={isBusy}
            onClick={addWhole}
          />
        )}
      </div>
      {asking !== undefined && (
        <BulkForm kind={asking} label={label} onSet={change} onClose={() => setAsking(undefined)} />
      )}
    </>
  )
}

function countText(isWhole: boolean, selected: number, total: number | undefined): string {
  if (!isWhole) return tn('domains.selected', selected)
  return total === undefined ? t('bulk.view') : tn('domains.selected', total)
}

interface FormProps {
  readonly kind: 'tags' | 'note'
  /** How many records it is about. */
  readonly label: string
  readonly onSet: (set: BulkSet) => void
  readonly onClose: () => void
}

/** Asks for the tags, or the note, of all selected records. */
function BulkForm({ kind, label, onSet, onClose }: FormProps) {
  const [text, setText] = useState('')
  const [removed, setRemoved] = useState('')
  const [add, remove] = [tagsIn(text), tagsIn(removed)]
  const send = async () => {
    if (kind === 'note') return onSet({ note: text.trim() })
    if (![add, remove].every((tags) => tags.length <= MAX_TAGS && tags.every(isTag)))
      throw new Error(t('bulk.badTags'))
    onSet({ ...(add.length > 0 && { add_tags: add }), ...(remove.length > 0 && { remove_tags: remove }) })
  }
  return (
    <FormDialog
      title={t(kind === 'tags' ? 'bulk.tags' : 'bulk.note')}
      action={t('bulk.apply')}
      isDisabled={kind === 'tags' && add.length + remove.length === 0}
      onSend={send}
      onClose={onClose}
    >
      <p className="muted">{label}</p>
      {kind === 'tags' ? (
        <>
          <TextField label={t('bulk.addTags')} hint={t('bulk.tagsHint')} value={text} onChange={setText} />
          <TextField label={t('bulk.removeTags')} value={removed} onChange={setRemoved} />
        </>
      ) : (
        <TextArea
          label={t('bulk.noteText')}
          hint={t('bulk.noteHint')}
          look="note"
          rows={3}
          maxLength={MAX_NOTE_CHARACTERS}
          value={text}
          onChange={setText}
        />
      )}
    </FormDialog>
  )
}

const tagsIn = (text: string): string[] => [
  ...new Set(
    text
      .split(/[\s,;]+/)
      .filter((tag) => tag !== '')
      .map((tag) => tag.toLowerCase()),
  ),
]
