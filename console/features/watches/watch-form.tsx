import { useState, type ComponentProps } from 'react'
import type { Watch } from '../../../clients/js/schema.ts'
import { callApi } from '../../api/client.ts'
import { useAccounts } from '../../api/scope.ts'
import {
  MAX_WATCH_NAME_CHARACTERS,
  MAX_ADDRESS_CHARACTERS,
  MAX_TO_CHARACTERS,
  OBJECTION_DAYS,
  WATCH_CHOICES,
} from '../../base/constants.ts'
import { useStore } from '../../base/store.ts'
import { showToast } from '../../design/toasts.tsx'
import { takenError } from '../filters/filter-errors.ts'
import { type Filters, formatWords, parseWords, eventFilters } from '../filters/filters.ts'
import { toSecrets } from './watch-item.tsx'
import { showOnce, unsentForms } from '../work/forms.tsx'
import { language, type Language, t, LANGUAGES, languageName } from '../../i18n/index.ts'
import { CHANNELS } from '../../base/server.ts'
import { FormDialog, ShownOnce } from '../../design/dialog.tsx'
import { Check, SelectField, TextArea, TextField } from '../../design/field.tsx'

/** Edits a watch, then shows a secret or feed address that the edit created. */
export function EditWatch({ watch, onClose }: { watch: Watch; onClose: () => void }) {
  const spoken = useStore(language)
  const isOwner = watch.owner === useAccounts()('domainwatch')
  const [initial, setInitial] = useState(() => fieldsOf(watch, spoken))

  async function save(fields: WatchFields) {
    const watches = await callApi('GET /api/v1/domainwatch/watches')
    const now = watches.data.data.find(({ id }) => id === watch.id)
    const present = now === undefined ? initial : fieldsOf(now, spoken)
    if (hasConflict(initial, present, fields)) {
      setInitial(present)
      throw new Error(t('watch.changedMeanwhile'))
    }
    await showOnce(async () => {
      const { data } = await callApi('POST /api/v1/domainwatch/watches/update', {
        query: { id: watch.id, ...changesIn(initial, fields) },
      })
      showToast(t('watch.saved', { name: fields.name }))
      return toDialog(t('watch.isChanged'), data)
    })
  }

  return (
    <WatchForm
      subject={watch.id}
      title={t('app.editTitle', { name: watch.name })}
      action={t('app.save')}
      initial={initial}
      isOwner={isOwner}
      onSend={save}
      onClose={onClose}
    />
  )
}

/** Returns the dialog of what is shown once; undefined if there is nothing. */
function toDialog(title: string, shown: Parameters<typeof toSecrets>[0]) {
  const secrets = toSecrets(shown)
  if (secrets.length === 0) return undefined
  return (close: () => void) => <ShownOnce title={title} secrets={secrets} onClose={close} />
}

function fieldsOf(watch: Watch, spoken: Language): WatchFields {
  return {
    words: formatWords(watch.filters, spoken),
    similar: watch.filters['similar'] ?? '',
    maxDistance: watch.filters['max_distance'] ?? '',
    name: watch.name,
    url: watch.url ?? '',
    to: (watch.to ?? '').replaceAll(',', '\n'),
    digest: watch.digest ?? '',
    language: watch.language,
    hasFeed: watch.atom === 1,
    changes: watch.changes,
    remind: (watch.filters['remind'] ?? '').replace(/^0$/, ''),
    isRechecked: watch.filters['dns'] === '1',
    isShared: watch.shared === 1,
  }
}

/** Whether someone else has changed a property that the user changes to another value. */
function hasConflict(initial: WatchFields, present: WatchFields, fields: WatchFields): boolean {
  const [theirs, mine, left] = [
    differences(initial, present),
    differences(initial, fields),
    differences(present, fields),
  ]
  return theirs.some((name) => mine.includes(name) && left.includes(name))
}

function differences(one: WatchFields, other: WatchFields): readonly string[] {
  const values = new Map<string, unknown>(Object.entries(one))
  const names = Object.entries(other).flatMap(([name, value]) => (values.get(name) === value ? [] : [name]))
  // Filters are replaced together.
  return names.map((name) => (name === 'similar' || name === 'maxDistance' ? 'words' : name))
}

/** Sends only the changed properties, so that changes of others and unknown filters are kept. */
function changesIn(initial: WatchFields, fields: WatchFields) {
  const { name, url, digest, language, hasFeed, changes, remind, isRechecked, isShared } = fields
  const destinations = destinationsIn(fields)
  const hasNewFilters = differences(initial, fields).includes('words')
  const { to: day, ...filters } = hasNewFilters ? filtersIn(fields) : {}
  // Any filter replaces all: an empty search alone removes them.
  const hasNone = hasNewFilters && day === undefined && Object.keys(filters).length === 0
  return {
    ...(hasNone ? { search: '' } : filters),
    to: toParameter(day, destinations === destinationsIn(initial) ? undefined : destinations),
    name: name === initial.name ? undefined : name,
    url: url.trim() === initial.url ? undefined : url.trim(),
    digest: digest === initial.digest ? undefined : digest,
    language: language === initial.language ? undefined : language,
    atom: hasFeed === initial.hasFeed ? undefined : hasFeed ? '' : '0',
    changes: changes === initial.changes ? undefined : changes,
    // 0 for never.
    remind: remind === initial.remind ? undefined : Number(remind),
    dns: isRechecked === initial.isRechecked ? undefined : Number(isRechecked),
    shared: isShared === initial.isShared ? undefined : Number(isShared),
  }
}

/** The form of a watch of which nothing is chosen. */
const EMPTY: WatchFields = {
  words: '',
  similar: '',
  maxDistance: '',
  name: '',
  url: '',
  to: '',
  digest: '',
  language: 'es',
  hasFeed: false,
  changes: 'new',
  remind: '',
  isRechecked: false,
  isShared: false,
}

interface NewWatchProps {
  /** The filters of the view to watch. */
  readonly filters: Filters
  /** A name whose lookalikes to watch. */
  readonly similar: string
  readonly onClose: () => void
}

/** Asks for the filters and destinations, then shows the secrets, once. */
export function NewWatch({ filters, similar, onClose }: NewWatchProps) {
  const spoken = useStore(language)
  const words = formatWords(eventFilters(filters), spoken)

  async function make(fields: WatchFields) {
    const { changes, language } = fields
    // The language is that of messages.
    const spokenTo = destinationsIn(fields) === '' ? undefined : language
    const query = { ...changesIn(EMPTY, fields), changes, language: spokenTo }
    await showOnce(async () => {
      const { data } = await callApi('POST /api/v1/domainwatch/watches', { query })
      const dialog = toDialog(t('watch.isMade'), data)
      if (dialog === undefined) showToast(t('watch.isMade'))
      return dialog
    })
  }

  return (
    <WatchForm
      subject={`new ${similar} ${words}`}
      title={t('watch.new')}
      action={t('app.create')}
      initial={{ ...EMPTY, words, similar, name: nameFor(words, similar), language: spoken }}
      isOwner
      onSend={make}
      onClose={onClose}
    />
  )
}

/** The filters of a form, as the API takes them. @throws if watches do not take one of them */
function filtersIn({ words, similar, maxDistance }: WatchFields): Record<string, string> {
  const given = parseWords(words)
  const filters = eventFilters(given)
  const fault = takenError(given, filters)
  if (fault !== undefined) throw new Error(fault)
  return {
    ...filters,
    ...(similar.trim() === '' ? {} : { similar: similar.trim() }),
    ...(maxDistance.trim() === '' ? {} : { max_distance: maxDistance.trim() }),
  }
}

function nameFor(words: string, similar: string): string {
  return [similar === '' ? '' : t('watch.nameLike', { name: `${similar}.cl` }), words]
    .filter((part) => part !== '')
    .join(' · ')
    .slice(0, MAX_WATCH_NAME_CHARACTERS)
}

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

const useFields = unsentForms<WatchFields>()

interface FormProps {
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
function WatchForm({ subject, title, action, initial, isOwner, onSend, onClose }: FormProps) {
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
function destinationsIn({ to }: WatchFields): string {
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
function toParameter(day: string | undefined, destinations: string | undefined): string | undefined {
  if (day === undefined || destinations === undefined) return day ?? destinations
  return `${day},${destinations}`
}
