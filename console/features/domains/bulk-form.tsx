import { useState, type FormEvent } from 'react'
import { MAX_NOTE_CHARACTERS, MAX_TAGS } from '../../base/constants.ts'
import { Button } from '../../design/elements.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { t } from '../../i18n/index.ts'
import type { BulkSet } from './bulk.ts'
import { isTag } from './tag-field.tsx'

interface Props {
  readonly kind: 'tags' | 'note'
  /** How many records it is about. */
  readonly label: string
  readonly onSet: (set: BulkSet) => void
  readonly onClose: () => void
}

/** Asks for the tags, or the note, of all selected records. */
export function BulkForm({ kind, label, onSet, onClose }: Props) {
  const [text, setText] = useState('')
  const [removed, setRemoved] = useState('')
  const [isWrong, setWrong] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const [add, remove] = [tagsIn(text), tagsIn(removed)]
    if (kind === 'tags' && ![add, remove].every((tags) => tags.length <= MAX_TAGS && tags.every(isTag))) {
      setWrong(true)
      return
    }
    onSet(
      kind === 'note'
        ? { note: text.trim() }
        : {
            ...(add.length > 0 && { add_tags: add }),
            ...(remove.length > 0 && { remove_tags: remove }),
          },
    )
    onClose()
  }
  const isEmpty = kind === 'tags' && text.trim() === '' && removed.trim() === ''
  return (
    <Dialog title={t(kind === 'tags' ? 'bulk.tags' : 'bulk.note')} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <p className="muted">{label}</p>
        {kind === 'tags' ? (
          <>
            <TextField
              label={t('bulk.addTags')}
              hint={t('bulk.tagsHint')}
              autoFocus
              value={text}
              onText={setText}
            />
            <TextField label={t('bulk.removeTags')} value={removed} onText={setRemoved} />
          </>
        ) : (
          <label className="field">
            <span>{t('bulk.noteText')}</span>
            <textarea
              className="input note"
              rows={3}
              autoFocus
              maxLength={MAX_NOTE_CHARACTERS}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
            <small className="muted">{t('bulk.noteHint')}</small>
          </label>
        )}
        {isWrong && (
          <p className="fault-text" role="alert">
            {t('bulk.badTags')}
          </p>
        )}
        <div className="row end">
          <Button label={t('app.cancel')} onClick={onClose} />
          <Button look="primary" type="submit" label={t('bulk.apply')} disabled={isEmpty} />
        </div>
      </form>
    </Dialog>
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
