import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../api/client.ts'
import { useStore } from '../app/store.ts'
import { say } from '../app/toasts.tsx'
import { formatWords } from '../domains/filters.ts'
import { language, t } from '../i18n/index.ts'
import { filtersIn } from './new-watch.tsx'
import { ShownOnce, type Shown } from './shown-once.tsx'
import { WatchForm, type WatchFields } from './watch-form.tsx'
import type { Watch } from './watch-item.tsx'

/** Changes a watch; then shows the secret or the address of the feed that this made. */
export function EditWatch({ watch, onClose }: { watch: Watch; onClose: () => void }) {
  const spoken = useStore(language)
  const queries = useQueryClient()
  const [made, setMade] = useState<Shown>()
  const initial: WatchFields = {
    words: formatWords(watch.filters, spoken),
    similar: watch.filters['similar'] ?? '',
    name: watch.name,
    url: watch.url ?? '',
    hasFeed: watch.atom === 1,
    isAll: watch.changes === 'all',
    isShared: watch.shared === 1,
  }

  async function save(fields: WatchFields) {
    const { data } = await ask('POST /api/v1/domainwatch/watches/update', {
      query: { id: watch.id, ...newFilters(initial, fields), ...newSettings(initial, fields) },
    })
    await queries.invalidateQueries({ queryKey: ['watches'] })
    say(t('watch.saved', { name: fields.name }))
    if (data.secret === null && data.atom === null) onClose()
    else setMade(data)
  }

  if (made !== undefined) return <ShownOnce title={t('watch.isChanged')} shown={made} onClose={onClose} />
  return (
    <WatchForm
      title={t('watch.editTitle', { name: watch.name })}
      action={t('watch.save')}
      initial={initial}
      onSend={save}
      onClose={onClose}
    />
  )
}

/** Nothing where they stay: what has no words here must not be lost. An empty search alone removes all. */
function newFilters(initial: WatchFields, fields: WatchFields): Record<string, string> {
  if (initial.words === fields.words && initial.similar === fields.similar) return {}
  const filters = filtersIn(fields)
  return Object.keys(filters).length === 0 ? { search: '' } : filters
}

/** What somebody else changed meanwhile, and this form did not, stays. */
function newSettings(initial: WatchFields, fields: WatchFields) {
  const { name, url, hasFeed, isAll, isShared } = fields
  return {
    ...(name === initial.name ? {} : { name }),
    ...(url === initial.url ? {} : { url: url.trim() }),
    ...(hasFeed === initial.hasFeed ? {} : { atom: hasFeed ? '' : '0' }),
    ...(isAll === initial.isAll ? {} : { changes: isAll ? 'all' : 'new' }),
    ...(isShared === initial.isShared ? {} : { shared: isShared ? 1 : 0 }),
  }
}
