import { useState } from 'react'
import { callApi } from '../../api/client.ts'
import { useAccounts } from '../../api/scope.ts'
import { MAX_WATCH_NAME_CHARACTERS } from '../../base/constants.ts'
import { useStore } from '../../base/store.ts'
import { showToast } from '../../design/toasts.tsx'
import { takenError } from '../filters/filter-errors.ts'
import { type Filters, formatWords, parseWords, eventFilters } from '../filters/filters.ts'
import { ShownOnce } from './confirm.tsx'
import { destinationsIn, toParameter, type WatchFields, WatchForm } from './watch-form.tsx'
import type { Watch } from './watch.ts'
import { showOnce } from '../work/forms.tsx'
import { language, type Language, t } from '../../i18n/index.ts'

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
    await showOnce('domainwatch', async () => {
      const { data } = await callApi('POST /api/v1/domainwatch/watches/update', {
        query: { id: watch.id, ...changesIn(initial, fields) },
      })
      showToast(t('watch.saved', { name: fields.name }))
      return data.secret === null && data.atom === null
        ? undefined
        : (close) => <ShownOnce title={t('watch.isChanged')} shown={data} onClose={close} />
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
  const hasNewFilters = differences(initial, fields).includes('words')
  const { to: day, ...filters } = hasNewFilters ? filtersIn(fields) : {}
  // Any filter replaces all: an empty search alone removes them.
  const hasNone = hasNewFilters && day === undefined && Object.keys(filters).length === 0
  return {
    ...(hasNone ? { search: '' } : filters),
    to: toParameter(day, fields.to === initial.to ? undefined : destinationsIn(fields)),
    name: name === initial.name ? undefined : name,
    url: url === initial.url ? undefined : url.trim(),
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

interface Props {
  /** The filters of the view to watch. */
  readonly filters: Filters
  /** A name whose lookalikes to watch. */
  readonly similar: string
  readonly onClose: () => void
}

/** Asks for the filters and destinations, then shows the secrets, once. */
export function NewWatch({ filters, similar, onClose }: Props) {
  const spoken = useStore(language)
  const words = formatWords(eventFilters(filters), spoken)

  async function make(fields: WatchFields) {
    const { name, url, digest, language, hasFeed, changes, remind, isRechecked, isShared } = fields
    const destinations = destinationsIn(fields)
    const { to: day, ...filters } = filtersIn(fields)
    const query = {
      ...filters,
      name,
      changes,
      remind: remind || undefined,
      dns: isRechecked ? 1 : undefined,
      url: url.trim() || undefined,
      to: toParameter(day, destinations || undefined),
      language: destinations === '' ? undefined : language,
      digest: digest || undefined,
      atom: hasFeed ? '' : undefined,
      shared: isShared ? 1 : undefined,
    }
    await showOnce('domainwatch', async () => {
      const { data } = await callApi('POST /api/v1/domainwatch/watches', { query })
      if (data.secret !== null || data.atom !== null)
        return (close) => <ShownOnce title={t('watch.isMade')} shown={data} onClose={close} />
      showToast(t('watch.isMade'))
      return undefined
    })
  }

  return (
    <WatchForm
      subject={`new ${similar} ${words}`}
      title={t('watch.new')}
      action={t('app.create')}
      initial={{
        words,
        similar,
        maxDistance: '',
        name: nameFor(words, similar),
        url: '',
        to: '',
        digest: '',
        language: spoken,
        hasFeed: false,
        changes: 'new',
        remind: '',
        isRechecked: false,
        isShared: false,
      }}
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
