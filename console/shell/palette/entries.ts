import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import type { Permission } from '../../api/scope.ts'
import { SERVICES, session } from '../../api/session.ts'
import { MAX_LABEL_CHARACTERS } from '../../base/constants.ts'
import { useDebounced } from '../../base/hooks.ts'
import { navigate } from '../../base/router.ts'
import { useStore } from '../../base/store.ts'
import { chooseTheme, theme, THEMES } from '../../base/theme.ts'
import { type Action, currentActions } from '../../design/actions.ts'
import type { IconName } from '../../design/elements.tsx'
import type { DomainRecord } from '../../features/domains/records.ts'
import { bareName, fold } from '../../features/filters/filters.ts'
import type { SavedView } from '../../features/views/saved-views.ts'
import { chooseLanguage, language, t } from '../../i18n/index.ts'
import { SCREENS } from '../screens.ts'

/** An entry of the palette. */
export interface Entry {
  readonly id: string
  readonly label: string
  /** Other words that people look for it by. */
  readonly also?: string | undefined
  readonly icon: IconName
  /** Its shortcut, or why it is not available. */
  readonly hint?: string | undefined
  readonly run: () => void
}

/** All screens. Those that the session's keys do not open say which key they need. */
export function screenEntries(may: (ability: Permission) => boolean): Entry[] {
  const keys = session.get()
  const toScreen = (path: string) => () => {
    navigate(path)
    document.querySelector<HTMLElement>('#content')?.focus()
  }
  const home: Entry = { id: 'screen-home', label: t('nav.home'), icon: 'home', run: toScreen('') }
  const screens = SCREENS.map(({ path, title, icon, service, needs }): Entry => ({
    id: `screen-${path}`,
    label: t(title),
    icon,
    hint:
      keys[service] === undefined
        ? t('sign.needed', { service: t(`service.${service}`) })
        : needs === undefined || may(needs)
          ? undefined
          : t('scope.locked'),
    run: toScreen(path),
  }))
  return SERVICES.some((service) => service !== 'admin' && keys[service] !== undefined)
    ? [home, ...screens]
    : screens
}

/** The saved views. */
export const viewEntries = (views: readonly SavedView[]): Entry[] =>
  views.map(({ id, name, query, sharedBy }) => ({
    id: `view-${id}`,
    label: name,
    icon: 'layers',
    hint: sharedBy === undefined ? undefined : t('views.by', { owner: sharedBy }),
    run: () => navigate('dominios', new URLSearchParams(query)),
  }))

/** The actions of the current screen. */
export const actionEntries = (): Entry[] =>
  currentActions().map(({ id, label, also, icon, key, run }: Action) => ({
    id: `action-${id}`,
    label,
    also,
    icon,
    hint: key,
    run,
  }))

/** Preferences. */
export function choiceEntries(): Entry[] {
  const other = language.get() === 'es' ? 'en' : 'es'
  return [
    ...THEMES.filter((one) => one !== theme.get()).map((one): Entry => ({
      id: `theme-${one}`,
      label: t('palette.theme', { theme: t(`theme.${one}`) }),
      also: t('palette.themeAlso'),
      icon: one === 'dark' ? 'moon' : 'sun',
      run: () => chooseTheme(one),
    })),
    {
      id: 'language',
      label: t('palette.language'),
      icon: 'globe',
      run: () => chooseLanguage(other),
    },
  ]
}

/** Returns the entries that have every word of the text, matches at the start of words first. */
export function matching(entries: readonly Entry[], text: string): Entry[] {
  const words = fold(text)
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) return [...entries]
  const getRank = ({ label, also = '' }: Entry): number => {
    const folded = fold(`${label} ${also}`)
    if (!words.every((word) => folded.includes(word))) return -1
    return words.filter((word) => ` ${folded}`.includes(` ${word}`)).length
  }
  return entries
    .map((entry) => ({ entry, rank: getRank(entry) }))
    .filter(({ rank }) => rank >= 0)
    .toSorted((one, other) => other.rank - one.rank)
    .map(({ entry }) => entry)
}

const TYPED_MS = 180
const SHOWN = 8
const MIN_LETTERS = 2
const FRESH_MS = 30_000

/**
 * Recorded names that contain the typed text, an exact match first. Debounced; a request for an older text is
 * cancelled, and its names are shown only if they match the new text, too.
 */
export function useNames(text: string) {
  const hasKey = useStore(session).domainwatch !== undefined
  const name = bareName(text)
  const settled = useDebounced(name, TYPED_MS)
  const isWanted = hasKey && name.length >= MIN_LETTERS && !/\s/.test(name)
  const { data, error, isFetching } = useQuery({
    queryKey: ['domains', 'palette', settled],
    enabled: isWanted && settled === name,
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => findNames(settled ?? '', signal),
  })
  if (!isWanted) return { names: [], error: null, isAsking: false }
  const names = (data ?? [])
    .filter((record) => record.name.includes(name))
    .toSorted((one, other) => Number(other.name === name) - Number(one.name === name))
  return { names, error, isAsking: settled !== name || isFetching }
}

async function findNames(name: string, signal: AbortSignal): Promise<readonly DomainRecord[]> {
  const [same, containing] = await Promise.all([
    callApi('GET /api/v1/domainwatch/list', {
      query: { search: name, length: Math.min(MAX_LABEL_CHARACTERS, [...name].length), limit: 1 },
      signal,
    }),
    callApi('GET /api/v1/domainwatch/list', { query: { search: name, limit: SHOWN }, signal }),
  ])
  const all = [...(same.data.data[0] ?? []), ...(containing.data.data[0] ?? [])]
  return [...new Map(all.map((record) => [record.name, record])).values()].slice(0, SHOWN)
}
