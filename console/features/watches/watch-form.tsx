import { useId, type ComponentProps } from 'react'
import {
  MAX_ADDRESS_CHARACTERS,
  MAX_TO_CHARACTERS,
  MAX_WATCH_NAME_CHARACTERS,
  OBJECTION_DAYS,
  WATCH_CHOICES,
} from '../../base/constants.ts'
import { CHANNELS } from '../../base/server.ts'
import { parseWords } from '../filters/filters.ts'
import { unsentForms } from '../work/forms.tsx'
import { FormDialog } from '../../design/dialog.tsx'
import { t, type Language } from '../../i18n/index.ts'
import { Check, SelectField, TextField } from '../../design/field.tsx'
import { LANGUAGES, languageName } from '../../i18n/preferred.ts'

/** The webhook has a separate field. */
const FOR_PEOPLE = CHANNELS.filter((name) => name !== 'webhook')
const EXAMPLES: Readonly<Record<string, string>> = {
  telegram: 'telegram:-1001234567890',
  ntfy: 'ntfy:https://ntfy.sh/mitema',
  discord: 'discord:https://discord.com/api/webhooks/…',
  slack: 'slack:https://hooks.slack.com/services/…',
  mailto: 'mailto:ana@example.cl',
}

/** What a watch may notify of. */
export type Changes = (typeof WATCH_CHOICES)[number]

/** The properties of a watch that users choose. */
export interface WatchFields {
  /** Filters in the syntax of the search box. */
  readonly words: string
  readonly similar: string
  readonly maxDistance: string
  readonly name: string
  readonly url: string
  /** Other destinations, one per line. */
  readonly to: string
  /** HH:MM of the daily message; empty for immediate messages. */
  readonly digest: string
  readonly language: Language
  readonly hasFeed: boolean
  /** What it notifies of. */
  readonly changes: Changes
  /** Days before the end of the time for objections at which it reminds of its names; empty for never. */
  readonly remind: string
  /** Whether the name servers of its names are looked up every day. */
  readonly isRechecked: boolean
  readonly isShared: boolean
}

const useFields = unsentForms<WatchFields>('domainwatch')

interface Props {
  /** What it edits: it shows again what was entered for that before. */
  readonly subject: string
  readonly title: string
  readonly action: string
  readonly initial: WatchFields
  /** Whether the account may change destinations, and who sees the watch. */
  readonly isOwner: boolean
  /** Resolves when the form is done; rejects with the error that it shows. */
  readonly onSend: (fields: WatchFields) => Promise<void>
  readonly onClose: () => void
}

/** The form of a new or existing watch. */
export function WatchForm({ subject, title, action, initial, isOwner, onSend, onClose }: Props) {
  const { fields, isChanged, set, forget } = useFields(subject, initial)
  return (
    <FormDialog
      title={title}
      action={action}
      hasInput={isChanged}
      shownBy="watches"
      onSend={() => onSend(fields)}
      onDone={forget}
      onClose={onClose}
    >
      <Field
        label={t('watch.filters')}
        hint={t('watch.filtersHint')}
        value={fields.words}
        onText={(words) => set({ words })}
        isMono
      />
      <Field
        label={t('watch.similar')}
        hint={t('watch.similarHint')}
        value={fields.similar}
        onText={(similar) => set({ similar })}
        isMono
      />
      {fields.similar.trim() !== '' && (
        <Field
          label={t('watch.maxDistance')}
          hint={t('watch.maxDistanceHint')}
          value={fields.maxDistance}
          onText={(maxDistance) => set({ maxDistance })}
          isMono
        />
      )}
      <Field
        label={t('watch.name')}
        value={fields.name}
        required
        maxLength={MAX_WATCH_NAME_CHARACTERS}
        onText={(name) => set({ name })}
      />
      {isOwner && (
        <>
          <Field
            label={t('watch.url')}
            hint={t('watch.urlHint')}
            value={fields.url}
            onText={(url) => set({ url })}
            isMono
          />
          {(FOR_PEOPLE.length > 0 || initial.to !== '') && <Destinations fields={fields} onChange={set} />}
          <Check
            label={t('watch.wantsFeed')}
            value={fields.hasFeed}
            onChange={(hasFeed) => set({ hasFeed })}
          />
        </>
      )}
      <SelectField
        label={t('watch.wants')}
        value={fields.changes}
        options={WATCH_CHOICES}
        textOf={(one) => t(`watch.of.${one}`)}
        onChoose={(changes) => set({ changes })}
      />
      {(fields.remind !== '' || canObject(fields)) && (
        <Field
          label={t('watch.remind')}
          hint={t('watch.remindHint', { n: OBJECTION_DAYS })}
          type="number"
          min={1}
          max={OBJECTION_DAYS - 1}
          value={fields.remind}
          onText={(remind) => set({ remind })}
        />
      )}
      <Check
        label={t('watch.wantsDns')}
        value={fields.isRechecked}
        onChange={(isRechecked) => set({ isRechecked })}
      />
      {isOwner && (
        <Check
          label={t('watch.wantsShared')}
          value={fields.isShared}
          onChange={(isShared) => set({ isShared })}
        />
      )}
    </FormDialog>
  )
}

/** Whether names with a time for objections can match: free ones have none. */
function canObject({ words }: WatchFields): boolean {
  const { status, objection } = parseWords(words)
  return status !== '0' && objection !== '0'
}

/** Destination, time and language of messages. */
function Destinations(props: { fields: WatchFields; onChange: (change: Partial<WatchFields>) => void }) {
  const { fields, onChange } = props
  const id = useId()
  return (
    <>
      <div className="field">
        <label htmlFor={id}>{t('watch.to')}</label>
        <textarea
          id={id}
          aria-describedby={`${id}-hint`}
          className="input mono"
          rows={2}
          maxLength={MAX_TO_CHARACTERS}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={fields.to}
          onChange={(event) => onChange({ to: event.target.value })}
        />
        <small id={`${id}-hint`} className="muted">
          {t('watch.toHint', { examples: FOR_PEOPLE.map((name) => EXAMPLES[name] ?? `${name}:`).join(', ') })}
        </small>
      </div>
      <div className="row">
        <TextField
          label={t('watch.digest')}
          className="grow"
          type="time"
          value={fields.digest}
          onText={(digest) => onChange({ digest })}
        />
        <SelectField
          label={t('watch.language')}
          className="grow"
          value={fields.language}
          options={LANGUAGES}
          textOf={languageName}
          onChoose={(language) => onChange({ language })}
        />
      </div>
      <small className="muted">{t('watch.digestHint')}</small>
    </>
  )
}

const Field = (props: ComponentProps<typeof TextField>) => (
  <TextField maxLength={MAX_ADDRESS_CHARACTERS} autoCapitalize="none" spellCheck={false} {...props} />
)

/** Destinations as the API takes them: separated by commas. */
export function destinationsIn({ to }: WatchFields): string {
  return to
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(',')
}

/**
 * Destinations and the last day of registration have the same name in the API, which takes both in one list.
 * @param destinations empty for none; undefined to keep them
 */
export function toParameter(day: string | undefined, destinations: string | undefined): { to?: string } {
  if (day === undefined) return destinations === undefined ? {} : { to: destinations }
  return { to: destinations === undefined ? day : `${day},${destinations}` }
}
