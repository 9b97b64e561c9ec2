import { IMAGE_TYPES } from '../../base/constants.ts'
import { changeQuery, useRoute, withParameters } from '../../base/router.ts'
import { Button, Menu } from '../../design/elements.tsx'
import { SelectField, TextField } from '../../design/field.tsx'
import { t } from '../../i18n/index.ts'

/** Orders of the gallery as the address names them, with their parameters. */
const ORDERS = {
  nuevas: {},
  antiguas: { sort: 'asc' },
  nombre: { order: 'name' },
  pesadas: { order: 'size' },
  livianas: { order: 'size', sort: 'asc' },
} as const

type Order = keyof typeof ORDERS

const ORDER_NAMES = Object.keys(ORDERS).filter((name): name is Order => name in ORDERS)
const FILTERS = ['tipo', 'etiqueta', 'desde', 'hasta'] as const
const DAY_SECONDS = 86_400

const orderOf = (query: URLSearchParams): Order =>
  ORDER_NAMES.find((name) => name === query.get('orden')) ?? 'nuevas'

const typeOf = (query: URLSearchParams) => IMAGE_TYPES.find((type) => type === query.get('tipo'))

/** Whether the address selects some images. */
export const isFiltered = (query: URLSearchParams): boolean =>
  ['search', ...FILTERS].some((name) => (query.get(name) ?? '') !== '')

/** The parameters of the list that the address of the gallery asks for. */
export function toListParameters(query: URLSearchParams): Readonly<Record<string, string>> {
  const dayOf = (name: string) => Date.parse(query.get(name) ?? '') / 1_000
  const [from, to] = [dayOf('desde'), dayOf('hasta')]
  const wanted = {
    search: query.get('search') ?? '',
    tag: query.get('etiqueta') ?? '',
    mime: typeOf(query) ?? '',
    from: Number.isNaN(from) ? '' : String(from),
    to: Number.isNaN(to) ? '' : String(to + DAY_SECONDS - 1),
  }
  const given = Object.entries(wanted).filter(([, value]) => value !== '')
  return {
    ...Object.fromEntries(given),
    ...(query.has('agrupar') ? { group: '' } : {}),
    ...(query.has('papelera') ? { trash: '' } : {}),
    ...ORDERS[orderOf(query)],
  }
}

/** Order and filters of the gallery. */
export function FilterMenu() {
  const { query } = useRoute()
  const set = (name: string, value: string) =>
    changeQuery(withParameters(query, { [name]: value || undefined }))
  const active = FILTERS.filter((name) => (query.get(name) ?? '') !== '').length
  return (
    <Menu
      icon="filter"
      isNamed
      className={active > 0 ? 'chip on' : 'chip'}
      label={active > 0 ? t('images.filtersOn', { n: active }) : t('images.filters')}
    >
      <div className="gallery-filters stack">
        <SelectField
          label={t('images.order')}
          value={orderOf(query)}
          options={ORDER_NAMES}
          textOf={(name) => t(`images.order.${name}`)}
          onChange={(name) => set('orden', name === 'nuevas' ? '' : name)}
        />
        <SelectField
          label={t('images.kind')}
          value={typeOf(query) ?? ''}
          options={['', ...IMAGE_TYPES]}
          textOf={(type) => (type === '' ? t('images.anyKind') : type)}
          onChange={(type) => set('tipo', type)}
        />
        <TextField
          label={t('images.tag')}
          value={query.get('etiqueta') ?? ''}
          maxLength={60}
          onChange={(text) => set('etiqueta', text)}
        />
        {(['desde', 'hasta'] as const).map((name) => (
          <TextField
            key={name}
            type="date"
            label={t(`images.${name}`)}
            value={query.get(name) ?? ''}
            onChange={(day) => set(name, day)}
          />
        ))}
        {active > 0 && (
          <Button
            look="quiet"
            label={t('images.noFilters')}
            onClick={() =>
              changeQuery(withParameters(query, Object.fromEntries(FILTERS.map((name) => [name, undefined]))))
            }
          />
        )}
      </div>
    </Menu>
  )
}
