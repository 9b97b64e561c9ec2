import { useState, type FormEvent } from 'react'
import { faultText } from '../app/fault-text.ts'
import { Dialog, DialogFoot } from '../design/parts.tsx'
import { t } from '../i18n/index.ts'

export const MAX_NAME = 100
const MAX_TEXT = 2_048

/** What a person chooses about a watch. */
export interface WatchFields {
  /** Filters in the words of the search box. */
  readonly words: string
  readonly similar: string
  readonly name: string
  readonly url: string
  readonly hasFeed: boolean
  readonly isAll: boolean
  readonly isShared: boolean
}

interface Props {
  readonly title: string
  readonly action: string
  readonly initial: WatchFields
  /** Rejects with what is wrong, which the form shows. */
  readonly onSend: (fields: WatchFields) => Promise<void>
  readonly onClose: () => void
}

/** Asks what to look for and whom to tell: for a new watch as for one that is there. */
export function WatchForm({ title, action, initial, onSend, onClose }: Props) {
  const [fields, setFields] = useState(initial)
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const set = (change: Partial<WatchFields>) => setFields({ ...fields, ...change })

  async function send(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    try {
      await onSend(fields)
    } catch (error) {
      setFault(faultText(error))
      setBusy(false)
    }
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void send(event)}>
        <Field
          label={t('watch.filters')}
          hint={t('watch.filtersHint')}
          value={fields.words}
          onChange={(words) => set({ words })}
          isMono
        />
        <Field
          label={t('watch.similar')}
          hint={t('watch.similarHint')}
          value={fields.similar}
          onChange={(similar) => set({ similar })}
          isMono
        />
        <Field label={t('watch.name')} value={fields.name} onChange={(name) => set({ name })} isRequired />
        <Field
          label={t('watch.url')}
          hint={t('watch.urlHint')}
          value={fields.url}
          onChange={(url) => set({ url })}
          isMono
        />
        <Check label={t('watch.wantsFeed')} value={fields.hasFeed} onChange={(hasFeed) => set({ hasFeed })} />
        <Check label={t('watch.wantsAll')} value={fields.isAll} onChange={(isAll) => set({ isAll })} />
        <Check
          label={t('watch.wantsShared')}
          value={fields.isShared}
          onChange={(isShared) => set({ isShared })}
        />
        <DialogFoot fault={fault} action={action} isDisabled={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

function Check(props: { label: string; value: boolean; onChange: (value: boolean) => void }) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={props.value}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      {props.label}
    </label>
  )
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
        maxLength={props.isRequired === true ? MAX_NAME : MAX_TEXT}
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
