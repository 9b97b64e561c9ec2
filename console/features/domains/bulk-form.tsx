import { useState } from 'react'
import { MAX_NOTE_CHARACTERS, MAX_TAGS } from '../../base/constants.ts'
import { FormDialog } from '../../design/dialog.tsx'
import { TextArea, TextField } from '../../design/field.tsx'
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
