import { useState } from 'react'
import { lazyComponent } from '../../design/chunk.tsx'
import { useStore } from '../../base/store.ts'
import { Dialog } from '../../design/dialog.tsx'
import { Spinner } from '../../design/notice.tsx'
import { Icon, Menu, type IconName } from '../../design/elements.tsx'
import { withAgent, type FilterCounts, type ValueCount } from './filter-counts.tsx'
import { count, language, t, tn, type TextKey } from '../../i18n/index.ts'
import { formatWords, withFilters, type Filters } from './filters.ts'
import './filters.css'

const FilterForm = lazyComponent(() => import('./filter-form.tsx'), <Spinner />)

interface Toggle {
  readonly name: string
  readonly value: string
  readonly label: TextKey
  readonly icon: IconName | undefined
}

const TOGGLES: readonly Toggle[] = [
  { name: 'status', value: '0', label: 'domains.free', icon: 'check' },
  { name: 'status', value: '1', label: 'domains.registered', icon: 'lock' },
  { name: 'rev', value: '', label: 'domains.review', icon: 'flag' },
  { name: 'dis', value: '', label: 'domains.discarded', icon: 'clock' },
  { name: 'reserve', value: '', label: 'domains.reserved', icon: undefined },
  { name: 'seen', value: '0', label: 'domains.unseen', icon: undefined },
  { name: 'hidden', value: '1', label: 'domains.hidden', icon: undefined },
  { name: 'words', value: '1', label: 'domains.oneWord', icon: undefined },
]
/** Filters with a button for one of their values. Other values are shown as a chip while set. */
const ONE_VALUE = new Set(['words', 'seen', 'hidden'])
/** Whether a filter has a button of its own or another place. */
const isToggled = (name: string, value: string) =>
  name === 'search' ||
  name === 'sort' ||
  TOGGLES.some((toggle) => toggle.name === name && (!ONE_VALUE.has(name) || toggle.value === value))

interface Props {
  readonly filters: Filters
  /** Counts, if they are known. */
  readonly facets: FilterCounts | undefined
  readonly onChange: (filters: Filters) => void
}

/** The filters as chips: frequent ones always, with their counts, others while they are active. */
export function FilterChips({ filters, facets, onChange }: Props) {
  const spoken = useStore(language)
  const [isFormOpen, setFormOpen] = useState(false)
  const closeForm = () => setFormOpen(false)
  const others = Object.entries(filters).filter(([name, value]) => !isToggled(name, value))
  return (
    <div className="chips domains-chips">
      {TOGGLES.map(({ name, value, label, icon }) => {
        const isOn = filters[name] === value
        return (
          <button
            key={label}
            type="button"
            className="chip"
            aria-pressed={isOn}
            onClick={() => onChange(withFilters(filters, { [name]: isOn ? undefined : value }))}
          >
            {icon !== undefined && <Icon name={icon} />}
            {t(label)} {(isOn || !ONE_VALUE.has(name)) && <Count n={facets?.countOf(name, value)} />}
          </button>
        )
      })}
      <ValueMenu
        label={t('domains.length')}
        choices={facets?.lengths ?? []}
        chosen={filters['length']}
        nameOf={(value) => tn('facets.length', Number(value))}
        onChoose={(length) => onChange(withFilters(filters, { length }))}
      />
      <ValueMenu
        label={t('domains.agent')}
        choices={facets?.agents ?? []}
        chosen={filters['agent'] === undefined ? undefined : filters['search']}
        nameOf={(value) => value}
        rest={
          facets === undefined || facets.otherAgents === 0
            ? undefined
            : t('facets.others', { n: facets.otherAgents })
        }
        onChoose={(agent) => onChange(withAgent(filters, agent))}
      />
      {others.map(([name, value]) => (
        <button
          key={name}
          type="button"
          className="chip on mono"
          onClick={() => onChange(withFilters(filters, { [name]: undefined }))}
        >
          {formatWords({ [name]: value }, spoken)}
          <Icon name="close" />
        </button>
      ))}
      <button type="button" className="chip" aria-haspopup="dialog" onClick={() => setFormOpen(true)}>
        <Icon name="plus" />
        {t('filter.more')}
      </button>
      {isFormOpen && (
        <Dialog title={t('filter.title')} onClose={closeForm}>
          <FilterForm filters={filters} onChange={onChange} onClose={closeForm} />
        </Dialog>
      )}
      {Object.keys(filters).length > 0 && (
        <button type="button" className="chip plain-chip" onClick={() => onChange({})}>
          {t('domains.clear')}
        </button>
      )}
    </div>
  )
}

/** Keeps its place until it is counted, so that the chips do not wrap later and move the table. */
function Count({ n }: { n: number | undefined }) {
  return (
    <span className="chip-count figures">
      {n !== undefined && (
        <>
          {count(n)}
          <span className="visually-hidden"> {t('nav.domains')}</span>
        </>
      )}
    </span>
  )
}

interface MenuProps {
  readonly label: string
  readonly choices: readonly ValueCount[]
  /** The active value; undefined for none. */
  readonly chosen: string | undefined
  readonly nameOf: (value: string) => string
  /** Text below the choices. */
  readonly rest?: string | undefined
  readonly onChoose: (value: string | undefined) => void
}

/** A chip whose menu lists values with their counts. */
function ValueMenu({ label, choices, chosen, nameOf, rest, onChoose }: MenuProps) {
  const most = Math.max(1, ...choices.map((one) => one.count))
  return (
    <Menu
      label={label}
      icon="fold"
      isNamed
      className={chosen === undefined ? 'chip' : 'chip on'}
      panelClassName="facet-panel"
      isDisabled={choices.length === 0}
    >
      {choices.map(({ value, count: n }) => (
        <button
          key={value}
          type="button"
          data-closes
          aria-pressed={value === chosen}
          onClick={() => onChoose(value === chosen ? undefined : value)}
        >
          <span className="facet-bar" style={{ width: `${(n / most) * 100}%` }} />
          <span className="grow ellipsis">{nameOf(value)}</span>
          <span className="figures muted">{count(n)}</span>
        </button>
      ))}
      {rest !== undefined && <p className="muted figures">{rest}</p>}
    </Menu>
  )
}
