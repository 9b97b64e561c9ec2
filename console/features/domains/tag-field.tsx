import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react'
import { MAX_TAGS, MAX_TAG_CHARACTERS } from '../../base/constants.ts'
import type { Owner } from '../../api/scope.ts'
import { keyFor } from '../../api/session.ts'
import { useGuard } from '../../base/unsaved-work.ts'
import { onFirstClick } from '../../design/first-click.ts'
import { Icon } from '../../design/icon.tsx'
import { t } from '../../i18n/index.ts'
import { setTags } from './annotations.ts'
import type { DomainRecord } from './records.ts'
import { useUsedTags } from './used-tags.ts'
import '../../i18n/texts/sheet.ts'
import './note-field.css'

const MAX_OFFERED = 200
const TAG = new RegExp(`^[\\p{L}\\p{N}-]{1,${MAX_TAG_CHARACTERS}}$`, 'u')

/** The tags of a record, each with a remove button, and a field to add one. */
export function TagField({ record, isLocked }: { record: DomainRecord; isLocked: boolean }) {
  const id = useId()
  const [text, setText] = useState('')
  const [isWrong, setWrong] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const used = useUsedTags(isOpen)
  const tags = record.tags ?? []
  /** Who was signed in when the text was typed. */
  const author = useRef<Owner>(undefined)
  const add = () => {
    const tag = text.trim().toLowerCase()
    if (tag === '') return
    if (!TAG.test(tag)) {
      setWrong(true)
      return
    }
    if (tags.includes(tag)) {
      setText('')
      return
    }
    const handle = setTags(record, author.current ?? keyFor('domainwatch'), [...tags, tag])
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
      <div className="tag-field">
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
                keyFor('domainwatch'),
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
            author.current = keyFor('domainwatch')
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
