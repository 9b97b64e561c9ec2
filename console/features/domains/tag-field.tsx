import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import { callApi } from '../../api/client.ts'
import type { Owner } from '../../api/scope.ts'
import { keyFor } from '../../api/session.ts'
import { MAX_TAG_CHARACTERS, MAX_TAGS } from '../../base/constants.ts'
import { useStore } from '../../base/store.ts'
import { useGuard } from '../../base/unsaved-work.ts'
import { onFirstClick, Icon } from '../../design/elements.tsx'
import { setTags } from './annotations.ts'
import { patches } from './optimistic-updates.ts'
import type { DomainRecord } from './records.ts'
import { t } from '../../i18n/index.ts'
import '../../i18n/texts/sheet.ts'
import './note-field.css'

const MAX_OFFERED = 200
const TAG = new RegExp(`^[\\p{L}\\p{N}-]{1,${MAX_TAG_CHARACTERS}}$`, 'u')

export const isTag = (text: string): boolean => TAG.test(text)

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
    if (!isTag(tag)) {
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

const FRESH_MS = 5 * 60_000
const MAX_USED_TAGS = 1_000

/** The tags in use, the most frequent first, and those that were set here. */
export function useUsedTags(isWanted: boolean): readonly string[] {
  const { data } = useQuery({
    queryKey: ['tags'],
    enabled: isWanted,
    staleTime: FRESH_MS,
    queryFn: async ({ signal }) => {
      const query = { tags: MAX_USED_TAGS, agents: 1 }
      return (await callApi('GET /api/v1/domainwatch/stats', { query, signal })).data.tags?.tag ?? []
    },
  })
  const own = useStore(patches)
  return useMemo(() => {
    if (!isWanted) return []
    return [...new Set([...(data ?? []), ...[...own.values()].flatMap(({ tags = [] }) => tags)])]
  }, [data, own, isWanted])
}
