import { useEffect, useImperativeHandle, useMemo, useState, type ReactNode, type RefObject } from 'react'
import { usePermissions, type Permission } from '../api/scope.ts'
import { session, SERVICES } from '../api/session.ts'
import { errorMessage } from '../api/error-message.ts'
import { navigate } from '../base/router.ts'
import { Icon } from '../design/elements.tsx'
import { bareName, fold } from '../features/filters/filters.ts'
import { StatusTag, DomainName } from '../features/domains/tags.tsx'
import { t, tn, chooseLanguage, language } from '../i18n/index.ts'
import { useViews, type SavedView } from '../features/views/saved-views.ts'
import type { ListControl } from './palette.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { callApi } from '../api/client.ts'
import { MAX_LABEL_CHARACTERS } from '../base/constants.ts'
import { useDebounced, useStore } from '../base/store.ts'
import { chooseTheme, theme, THEMES } from '../base/theme.ts'
import { type Action, currentActions } from '../design/actions.ts'
import type { DomainRecord } from '../features/domains/records.ts'
import { SCREENS } from './screens.ts'
import '../i18n/texts/palette.ts'

interface Group {
  readonly title: string
  readonly entries: readonly Entry[]
}

interface ResultsProps {
  readonly text: string
  readonly control: RefObject<ListControl | undefined>
  /** Called with the id of the option that Enter would choose. */
  readonly onActive: (id: string | undefined) => void
  readonly onPick: (run: () => void) => void
}

/** The list of the palette: actions of this screen, screens, choices and names that match what is typed. */
export default function Results({ text, control, onActive, onPick }: ResultsProps) {
  const may = usePermissions()
  const { names, error, isAsking } = useNames(text)
  const [actions] = useState(actionEntries)
  const { views } = useViews()
  const groups = useGroups(text, actions, views, names, may)
  const all = groups.flatMap(({ entries }) => entries)
  const [chosen, setChosen] = useState<string>()
  // An entry that arrives later does not change the selected one.
  const index = Math.max(
    0,
    all.findIndex(({ id }) => id === chosen),
  )
  const active = all[index]
  useEffect(() => setChosen(undefined), [text])
  useEffect(() => onActive(active === undefined ? undefined : optionId(active)), [active?.id, onActive])
  useEffect(() => {
    if (active !== undefined) document.getElementById(optionId(active))?.scrollIntoView({ block: 'nearest' })
  }, [active?.id])
  useImperativeHandle(control, () => ({
    move(by) {
      const to =
        by === 'first'
          ? 0
          : by === 'last'
            ? all.length - 1
            : (index + by + all.length) % Math.max(1, all.length)
      setChosen(all[to]?.id)
    },
    run() {
      if (active !== undefined) onPick(active.run)
    },
  }))
  const said = isAsking ? t('palette.asking') : tn('palette.found', all.length)
  return (
    <>
      <p className="visually-hidden" role="status">
        {said}
      </p>
      <div id="palette-list" className="palette-list" role="listbox" aria-label={t('palette.title')}>
        {groups.map(({ title, entries }) => (
          <div key={title} role="group" aria-label={title}>
            <div className="palette-group" role="presentation">
              {title}
            </div>
            {entries.map((entry) => (
              <div
                key={entry.id}
                id={optionId(entry)}
                className="palette-option"
                role="option"
                aria-selected={entry === active}
                onPointerMove={() => setChosen(entry.id)}
                onClick={() => onPick(entry.run)}
              >
                <Icon name={entry.icon} />
                <span className="grow ellipsis">{entry.content ?? entry.label}</span>
                {entry.hint !== undefined &&
                  (entry.hint.length <= 2 ? (
                    <kbd aria-hidden="true">{entry.hint}</kbd>
                  ) : (
                    <span className="muted">{entry.hint}</span>
                  ))}
              </div>
            ))}
          </div>
        ))}
      </div>
      {isAsking && (
        <p className="palette-note row muted" aria-hidden="true">
          <span className="spinner" /> {t('palette.asking')}
        </p>
      )}
      {error !== null && <p className="palette-note row fault-text">{errorMessage(error)}</p>}
      {all.length === 0 && !isAsking && <p className="palette-note row muted">{t('palette.nothing')}</p>}
    </>
  )
}

const optionId = ({ id }: Entry): string => `palette-${id}`

function useGroups(
  text: string,
  actions: readonly Entry[],
  views: readonly SavedView[],
  names: ReturnType<typeof useNames>['names'],
  may: ReturnType<typeof usePermissions>,
): readonly Group[] {
  return useMemo(() => {
    const groups: Group[] = [
      { title: t('palette.actions'), entries: matching(actions, text) },
      { title: t('nav.label'), entries: matching(screenEntries(may), text) },
      { title: t('views.title'), entries: matching(viewEntries(views), text) },
      { title: t('palette.choices'), entries: matching(choiceEntries(), text) },
      { title: t('palette.names'), entries: nameEntries(names, bareName(text)) },
      { title: t('nav.domains'), entries: searchEntries(text) },
    ]
    return groups.filter(({ entries }) => entries.length > 0)
  }, [text, actions, views, names, may])
}

const nameEntries = (names: ReturnType<typeof useNames>['names'], match: string): Entry[] =>
  names.map(({ name, status }) => ({
    id: `name-${name}`,
    label: `${name}.cl`,
    icon: 'globe',
    content: (
      <span className="palette-name">
        <DomainName name={name} match={match} />
        <StatusTag status={status} />
      </span>
    ),
    run: () => navigate('dominios', new URLSearchParams({ search: name, ficha: name })),
  }))

/** The last entry: the full list of names that contain the text. */
function searchEntries(text: string): Entry[] {
  const search = bareName(text)
  if (search === '' || session.get().domainwatch === undefined) return []
  return [
    {
      id: 'search',
      label: t('palette.search', { text: search }),
      icon: 'search',
      run: () => navigate('dominios', new URLSearchParams({ search })),
    },
  ]
}

/** An entry of the palette. */
interface Entry extends Action {
  /** Shown in place of its label. */
  readonly content?: ReactNode
  /** Its shortcut, or why it is not available. */
  readonly hint?: string | undefined
}

/** All screens. Those that the session's keys do not open say which key they need. */
function screenEntries(may: (ability: Permission) => boolean): Entry[] {
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
const viewEntries = (views: readonly SavedView[]): Entry[] =>
  views.map(({ id, name, query, sharedBy }) => ({
    id: `view-${id}`,
    label: name,
    icon: 'layers',
    hint: sharedBy === undefined ? undefined : t('views.by', { owner: sharedBy }),
    run: () => navigate('dominios', new URLSearchParams(query)),
  }))

/** The actions of the current screen. */
const actionEntries = (): Entry[] =>
  currentActions().map((action) => ({ ...action, id: `action-${action.id}`, hint: action.key }))

/** Preferences. */
function choiceEntries(): Entry[] {
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
function matching(entries: readonly Entry[], text: string): Entry[] {
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
const MAX_NAMES = 8
const MIN_LETTERS = 2
const FRESH_MS = 30_000

/**
 * Recorded names that contain the typed text, an exact match first. Debounced; a request for an older text is
 * cancelled, and its names are shown only if they match the new text, too.
 */
function useNames(text: string) {
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
    callApi('GET /api/v1/domainwatch/list', { query: { search: name, limit: MAX_NAMES }, signal }),
  ])
  const all = [...(same.data.data[0] ?? []), ...(containing.data.data[0] ?? [])]
  return [...new Map(all.map((record) => [record.name, record])).values()].slice(0, MAX_NAMES)
}
