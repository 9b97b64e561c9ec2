import { callApi } from '../../api/client.ts'
import { MAX_WATCH_NAME_CHARACTERS } from '../../base/constants.ts'
import { showOnce } from '../work/one-time-results.tsx'
import { useStore } from '../../base/store.ts'
import { showToast } from '../../design/toasts.tsx'
import { formatWords, parseWords, recordFilters, type Filters } from '../filters/filters.ts'
import { language, t } from '../../i18n/index.ts'
import { ShownOnce } from './shown-once.tsx'
import { destinationsIn, toParameter, WatchForm, type WatchFields } from './watch-form.tsx'

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
  const words = formatWords(recordFilters(filters), spoken)

  async function make(fields: WatchFields) {
    const { name, url, digest, language, hasFeed, changes, isRechecked, isShared } = fields
    const destinations = destinationsIn(fields)
    const { to: day, ...filters } = filtersIn(fields)
    const query = {
      ...filters,
      name,
      changes,
      ...(isRechecked ? { dns: 1 } : {}),
      ...(url.trim() === '' ? {} : { url: url.trim() }),
      ...toParameter(day, destinations === '' ? undefined : destinations),
      ...(destinations === '' ? {} : { language }),
      ...(digest === '' ? {} : { digest }),
      ...(hasFeed ? { atom: '' } : {}),
      ...(isShared ? { shared: 1 } : {}),
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
      action={t('watch.make')}
      initial={{
        words,
        similar,
        name: nameFor(words, similar),
        url: '',
        to: '',
        digest: '',
        language: spoken,
        hasFeed: false,
        changes: 'new',
        isRechecked: false,
        isShared: false,
      }}
      isOwner
      onSend={make}
      onClose={onClose}
    />
  )
}

/** The filters of a form, as the API takes them. */
export function filtersIn({ words, similar }: WatchFields): Record<string, string> {
  return {
    ...recordFilters(parseWords(words)),
    ...(similar.trim() === '' ? {} : { similar: similar.trim() }),
  }
}

function nameFor(words: string, similar: string): string {
  return [similar === '' ? '' : t('watch.nameLike', { name: `${similar}.cl` }), words]
    .filter((part) => part !== '')
    .join(' · ')
    .slice(0, MAX_WATCH_NAME_CHARACTERS)
}
