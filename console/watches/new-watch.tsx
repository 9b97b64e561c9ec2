import { useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { ask } from '../api/client.ts'
import { faultText } from '../app/fault-text.ts'
import { useStore } from '../app/store.ts'
import { Dialog, DialogFoot } from '../design/parts.tsx'
import { formatWords, parseWords, recordFilters, type Filters } from '../domains/filters.ts'
import { language, t } from '../i18n/index.ts'
import { MadeWatch, type Made } from './made-watch.tsx'

interface Props {
  /** Of the view that is to be watched. */
  readonly filters: Filters
  /** A name whose lookalikes are to be watched for. */
  readonly similar: string
  readonly onClose: () => void
}

/** Asks what to look for and whom to tell; then shows what is in no other place. */
export function NewWatch({ filters, similar, onClose }: Props) {
  const spoken = useStore(language)
  const queries = useQueryClient()
  const [words, setWords] = useState(() => formatWords(recordFilters(filters), spoken))
  const [like, setLike] = useState(similar)
  const [name, setName] = useState(() => nameFor(words, similar))
  const [url, setUrl] = useState('')
  const [hasFeed, setFeed] = useState(false)
  const [isAll, setAll] = useState(false)
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const [made, setMade] = useState<Made>()

  async function make(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    try {
      const query = {
        ...recordFilters(parseWords(words)),
        name,
        changes: isAll ? 'all' : 'new',
        ...(like.trim() === '' ? {} : { similar: like.trim() }),
        ...(url.trim() === '' ? {} : { url: url.trim() }),
        ...(hasFeed ? { atom: '' } : {}),
      }
      const { data } = await ask('POST /api/v1/domainwatch/watches', { query })
      setMade(data)
      await queries.invalidateQueries({ queryKey: ['watches'] })
    } catch (error) {
      setFault(faultText(error))
      setBusy(false)
    }
  }

  if (made !== undefined) return <MadeWatch made={made} onClose={onClose} />
  return (
    <Dialog title={t('watch.new')} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void make(event)}>
        <Field
          label={t('watch.filters')}
          hint={t('watch.filtersHint')}
          value={words}
          onChange={setWords}
          isMono
        />
        <Field
          label={t('watch.similar')}
          hint={t('watch.similarHint')}
          value={like}
          onChange={setLike}
          isMono
        />
        <Field label={t('watch.name')} value={name} onChange={setName} isRequired />
        <Field label={t('watch.url')} hint={t('watch.urlHint')} value={url} onChange={setUrl} isMono />
        <label className="check">
          <input type="checkbox" checked={hasFeed} onChange={(event) => setFeed(event.target.checked)} />
          {t('watch.wantsFeed')}
        </label>
        <label className="check">
          <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.target.checked)} />
          {t('watch.wantsAll')}
        </label>
        <DialogFoot fault={fault} action={t('watch.make')} isDisabled={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

const MAX_NAME = 100

function nameFor(words: string, similar: string): string {
  return [similar === '' ? '' : t('watch.nameLike', { name: `${similar}.cl` }), words]
    .filter((part) => part !== '')
    .join(' · ')
    .slice(0, MAX_NAME)
}

function Field(props: {
  label: string
  hint?: string
  value: string
  isMono?: boolean
  isRequired?: boolean
  onChange: (value: string) => void
}) {
  return (
    <label className="field">
      <span>{props.label}</span>
      <input
        className={props.isMono === true ? 'input mono' : 'input'}
        required={props.isRequired ?? false}
        maxLength={props.isRequired === true ? MAX_NAME : 2_048}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      />
      {props.hint !== undefined && <small className="muted">{props.hint}</small>}
    </label>
  )
}
