import { useEffect, useId, useRef, useState, type KeyboardEvent, type RefObject } from 'react'
import { MAX_NOTE_CHARACTERS } from '../../base/constants.ts'
import type { Owner } from '../../api/scope.ts'
import { keyFor } from '../../api/session.ts'
import { t } from '../../i18n/index.ts'
import { useGuard } from '../../base/unsaved-work.ts'
import { keepNote, setNote, useUnsavedNote } from './annotations.ts'
import type { DomainRecord } from './records.ts'
import { Button } from '../../design/elements.tsx'
import '../../i18n/texts/sheet.ts'
import './note-field.css'

interface Props {
  readonly record: DomainRecord
  readonly isLocked: boolean
  readonly box?: RefObject<HTMLTextAreaElement | null>
  /** Called when editing ends. */
  readonly onDone?: () => void
}

/** The note of a record. Enter and blur save it, Escape reverts it. A text that could not be saved stays in the field. */
export function NoteField({ record, isLocked, box, onDone }: Props) {
  const id = useId()
  const saved = record.note ?? ''
  const unsaved = useUnsavedNote(record.name)
  const shown = unsaved ?? saved
  const [text, setText] = useState(shown)
  /** The note that was shown, and who was signed in, when editing began. */
  const before = useRef<{ readonly note: string; readonly author: Owner }>(undefined)
  const [isEdited, setEdited] = useState(false)
  useGuard(isEdited)
  useEffect(() => {
    // Shows changes of colleagues, but never overwrites text being typed.
    if (!isEdited) setText(shown)
  }, [shown, isEdited])
  const end = () => {
    before.current = undefined
    setEdited(false)
  }
  const save = () => {
    const from = before.current
    end()
    if (from !== undefined) setNote(record, from.author, from.note, text)
  }
  const latest = useRef(save)
  latest.current = save
  // A swipe removes the card without a blur event.
  useEffect(() => () => latest.current(), [])
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const isEnd = event.key === 'Escape' || (event.key === 'Enter' && !event.shiftKey)
    if (!isEnd || event.nativeEvent.isComposing) return
    event.preventDefault()
    event.stopPropagation()
    if (event.key === 'Escape') {
      keepNote(record.name, keyFor('domainwatch'), undefined)
      setText(saved)
      end()
    } else save()
    onDone?.()
  }
  return (
    <div className="field">
      <label htmlFor={id}>{t('sheet.note')}</label>
      <textarea
        id={id}
        ref={box}
        className="input note"
        rows={2}
        maxLength={MAX_NOTE_CHARACTERS}
        readOnly={isLocked}
        placeholder={t('note.placeholder')}
        value={text}
        onChange={(event) => {
          before.current ??= { note: saved, author: keyFor('domainwatch') }
          setEdited(true)
          setText(event.target.value)
        }}
        onKeyDown={press}
        onBlur={save}
      />
      {unsaved !== undefined && (
        <div className="row">
          <small className="fault-text grow">
            {t('note.unsaved', { text: saved === '' ? '–' : `«${saved}»` })}
          </small>
          <Button
            label={t('note.saveAgain')}
            onClick={() => setNote(record, keyFor('domainwatch'), saved, text)}
          />
        </div>
      )}
    </div>
  )
}
