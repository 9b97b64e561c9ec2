import { useEffect, useImperativeHandle, useMemo, useState, type ReactNode, type RefObject } from 'react'
import { usePermissions } from '../../api/scope.ts'
import { session } from '../../api/session.ts'
import { errorMessage } from '../../api/error-message.ts'
import { navigate } from '../../base/router.ts'
import { Icon } from '../../design/elements.tsx'
import { bareName } from '../../features/filters/filters.ts'
import { StatusTag } from '../../features/domains/tags.tsx'
import { DomainName } from '../../features/domains/domain-name.tsx'
import { t, tn } from '../../i18n/index.ts'
import '../../i18n/texts/palette.ts'
import { useViews, type SavedView } from '../../features/views/saved-views.ts'
import {
  actionEntries,
  choiceEntries,
  screenEntries,
  viewEntries,
  type Entry,
  matching,
  useNames,
} from './entries.ts'
import type { ListControl } from './palette.tsx'

interface Shown extends Entry {
  readonly content?: ReactNode
}

interface Group {
  readonly title: string
  readonly entries: readonly Shown[]
}

interface Props {
  readonly text: string
  readonly control: RefObject<ListControl | undefined>
  /** Called with the id of the option that Enter would choose. */
  readonly onActive: (id: string | undefined) => void
  readonly onPick: (run: () => void) => void
}

/** The list of the palette: actions of this screen, screens, choices and names that match what is typed. */
export default function Results({ text, control, onActive, onPick }: Props) {
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

const nameEntries = (names: ReturnType<typeof useNames>['names'], match: string): Shown[] =>
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
function searchEntries(text: string): Shown[] {
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
