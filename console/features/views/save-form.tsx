import { useState, type FormEvent } from 'react'
import { changeErrorMessage } from '../../api/error-message.ts'
import { MAX_VIEW_NAME_CHARACTERS } from '../../base/constants.ts'
import { Button } from '../../design/elements.tsx'
import { Check, TextField } from '../../design/field.tsx'
import { showToast } from '../../design/toasts.tsx'
import { formatWords, type Filters } from '../filters/filters.ts'
import { language, t } from '../../i18n/index.ts'
import { saveView, type SavedView } from './saved-views.ts'

interface Props {
  readonly filters: Filters
  /** The view to change; undefined for a new one. */
  readonly saved: SavedView | undefined
  readonly onDone: () => void
}

/** Asks for the name of a saved view and who sees it, in a dialog that is open before its code is there. */
export default function SaveForm({ filters, saved, onDone }: Props) {
  const suggestion = [...formatWords(filters, language.get())].slice(0, MAX_VIEW_NAME_CHARACTERS).join('')
  const [text, setText] = useState(saved?.name ?? '')
  const [isShared, setShared] = useState(saved?.isShared ?? false)
  const [isSaving, setSaving] = useState(false)
  const save = async (event: FormEvent) => {
    event.preventDefault()
    const name = text.trim() === '' ? suggestion : text.trim()
    setSaving(true)
    try {
      await saveView(name, filters, isShared, saved?.id)
      showToast(t('views.saved', { name }))
      onDone()
    } catch (error) {
      showToast(changeErrorMessage(error), { isError: true })
      setSaving(false)
    }
  }
  return (
    <form className="stack" onSubmit={(event) => void save(event)}>
      <TextField
        label={t('app.name')}
        autoFocus
        placeholder={suggestion}
        maxLength={MAX_VIEW_NAME_CHARACTERS}
        value={text}
        onChange={setText}
      />
      <Check label={t('views.share')} value={isShared} onChange={setShared} />
      <div className="row end">
        <Button look="primary" label={t('views.keep')} type="submit" isBusy={isSaving} disabled={isSaving} />
      </div>
    </form>
  )
}
