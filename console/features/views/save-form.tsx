import { useState, type FormEvent } from 'react'
import { Button } from '../../design/button.tsx'
import { showToast } from '../../design/toasts.tsx'
import { formatWords, type Filters } from '../filters/filters.ts'
import { language, t } from '../../i18n/index.ts'
import { MAX_NAME, MAX_VIEWS, saveView } from './saved-views.ts'

/** Asks for the name of a saved view, in a dialog that is open before its code is there. */
export default function SaveForm({ filters, onDone }: { filters: Filters; onDone: () => void }) {
  const suggestion = formatWords(filters, language.get()).slice(0, MAX_NAME)
  const [text, setText] = useState('')
  const save = (event: FormEvent) => {
    event.preventDefault()
    const name = text.trim() === '' ? suggestion : text.trim()
    const outcome = saveView(name, filters)
    if (outcome === 'saved') showToast(t('views.saved', { name }))
    else if (outcome === 'too-many') showToast(t('views.full', { n: MAX_VIEWS }), { isError: true })
    else showToast(t('app.notKept'), { isError: true })
    onDone()
  }
  return (
    <form className="stack" onSubmit={save}>
      <label className="field">
        <span>{t('views.name')}</span>
        <input
          className="input"
          autoFocus
          placeholder={suggestion}
          maxLength={MAX_NAME}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <p className="muted">{t('views.where')}</p>
      <div className="row end">
        <Button look="primary" label={t('views.keep')} type="submit" />
      </div>
    </form>
  )
}
