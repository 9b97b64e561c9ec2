import type { ComponentProps } from 'react'
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
import { Check, SelectField, TextArea, TextField } from '../../design/field.tsx'
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
  const { fields, bind, ...form } = useFields(subject, initial)
  return (
    <FormDialog
      title={title}
      action={action}
      form={form}
      shownBy="watches"
      onSend={() => onSend(fields)}
      onClose={onClose}
    >
      <Field label={t('filter.title')} hint={t('watch.filtersHint')} {...bind('words')} isMono />
      <Field label={t('watch.similar')} hint={t('watch.similarHint')} {...bind('similar')} isMono />
      {fields.similar.trim() !== '' && (
        <Field
          label={t('watch.maxDistance')}
          hint={t('watch.maxDistanceHint')}
          {...bind('maxDistance')}
          isMono
        />
      )}
      <Field label={t('watch.name')} {...bind('name')} required maxLength={MAX_WATCH_NAME_CHARACTERS} />
      {isOwner && (
        <>
          <Field label={t('watch.url')} hint={t('watch.urlHint')} {...bind('url')} isMono />
          {(FOR_PEOPLE.length > 0 || initial.to !== '') && <Destinations bind={bind} />}
          <Check label={t('watch.wantsFeed')} {...bind('hasFeed')} />
        </>
      )}
      <SelectField
        label={t('watch.wants')}
        {...bind('changes')}
        options={WATCH_CHOICES}
        textOf={(one) => t(`watch.of.${one}`)}
      />
      {(fields.remind !== '' || canObject(fields)) && (
        <Field
          label={t('watch.remind')}
          hint={t('watch.remindHint', { n: OBJECTION_DAYS })}
          type="number"
          min={1}
          max={OBJECTION_DAYS - 1}
          {...bind('remind')}
        />
      )}
      <Check label={t('watch.wantsDns')} {...bind('isRechecked')} />
      {isOwner && <Check label={t('watch.wantsShared')} {...bind('isShared')} />}
    </FormDialog>
  )
}

/** Whether names with a time for objections can match: free ones have none. */
function canObject({ words }: WatchFields): boolean {
  const { status, objection } = parseWords(words)
  return status !== '0' && objection !== '0'
}

/** Destination, time and language of messages. */
function Destinations({ bind }: Pick<ReturnType<typeof useFields>, 'bind'>) {
  const examples = FOR_PEOPLE.map((name) => EXAMPLES[name] ?? `${name}:`).join(', ')
  return (
    <>
      <TextArea
        label={t('watch.to')}
        hint={t('watch.toHint', { examples })}
        look="mono"
        rows={2}
        maxLength={MAX_TO_CHARACTERS}
        autoCapitalize="none"
        spellCheck={false}
        {...bind('to')}
      />
      <div className="row">
        <TextField label={t('watch.digest')} className="grow" type="time" {...bind('digest')} />
        <SelectField
          label={t('watch.language')}
          className="grow"
          options={LANGUAGES}
          textOf={languageName}
          {...bind('language')}
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
export function toParameter(day: string | undefined, destinations: string | undefined): string | undefined {
  if (day === undefined || destinations === undefined) return day ?? destinations
  return `${day},${destinations}`
}
