import { useEffect, useId, useRef, useState, type KeyboardEvent, type RefObject } from 'react'
import { MAX_NOTE_CHARACTERS, MAX_TAG_CHARACTERS, MAX_TAGS } from '../../base/constants.ts'
import { t } from '../../i18n/index.ts'
import { useGuard } from '../../base/unsaved-work.ts'
import { keepNote, setNote, useUnsavedNote, isTag, setTags, useUsedTags } from './annotations.ts'
import type { DomainRecord } from './records.ts'
import { Button, onFirstClick, Icon } from '../../design/elements.tsx'
import '../../i18n/texts/sheet.ts'

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
  /** The note that was shown when editing began. */
  const before = useRef<string>(undefined)
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
    if (from !== undefined) setNote(record, from, text)
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
      keepNote(record.name, undefined)
      setText(saved)
      end()
    } else save()
    onDone?.()
  }
  return (
    <div className="field">
      <label htmlFor={id}>{t('app.note')}</label>
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
          before.current ??= saved
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
          <Button label={t('note.saveAgain')} onClick={() => setNote(record, saved, text)} />
        </div>
      )}
    </div>
  )
}

const MAX_OFFERED = 200
/** The tags of a record, each with a remove button, and a field to add one. */
export function TagField({ record, isLocked }: { record: DomainRecord; isLocked: boolean }) {
  const id = useId()
  const [text, setText] = useState('')
  const [isWrong, setWrong] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const used = useUsedTags(isOpen)
  const tags = record.tags ?? []
  const add = () => {
    const tag = text.trim().toLowerCase()
    if (tag === '') return
    if (!isTag(tag)) {
      setWrong(true)
      return
    }
    if (tags.includes(tag)) {
      setText('')
      return
    }
    const handle = setTags(record, [...tags, tag])
    // Too many changes are pending.
    if (handle === undefined) return
    setText('')
    void handle.settled.then((state) => {
      // To be added again, unless the user types another one by now.
      if (state === 'failed') setText((now) => (now === '' ? text : now))
    })
  }
  useGuard(text !== '')
  const latest = useRef(add)
  latest.current = add
  // A swipe removes the card without a blur event.
  useEffect(() => () => latest.current(), [])
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape' && text !== '') {
      // Drops the text only, and does not close the details.
      event.preventDefault()
      setWrong(false)
      setText('')
      return
    }
    if (event.key !== 'Enter' && event.key !== ',') return
    event.preventDefault()
    add()
  }
  return (
    <div className="field">
      <label htmlFor={id}>{t('sheet.tags')}</label>
      <div className="tag-field row">
        {tags.map((tag) => (
          <button
            key={tag}
            type="button"
            className="chip"
            disabled={isLocked}
            aria-label={t('note.removeTag', { tag })}
            onClick={onFirstClick(() =>
              setTags(
                record,
                tags.filter((one) => one !== tag),
              ),
            )}
          >
            {tag}
            <Icon name="close" />
          </button>
        ))}
        <input
          id={id}
          className="input"
          maxLength={MAX_TAG_CHARACTERS}
          list={`${id}-used`}
          autoComplete="off"
          autoCapitalize="none"
          disabled={isLocked || tags.length >= MAX_TAGS}
          placeholder={t('note.addTag')}
          aria-invalid={isWrong}
          value={text}
          onChange={(event) => {
            setWrong(false)
            setText(event.target.value)
          }}
          onKeyDown={press}
          onFocus={() => setOpen(true)}
          onBlur={add}
        />
        <datalist id={`${id}-used`}>
          {used
            .filter((tag) => !tags.includes(tag))
            .slice(0, MAX_OFFERED)
            .map((tag) => (
              <option key={tag} value={tag} />
            ))}
        </datalist>
      </div>
      {isWrong && (
        <small className="fault-text" role="alert">
          {t('note.badTag')}
        </small>
      )}
    </div>
  )
}
