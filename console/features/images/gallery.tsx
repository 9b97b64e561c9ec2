import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { callApi } from '../../api/client.ts'
import { useApi } from '../../api/query-client.ts'
import type { Operations } from '../../../clients/js/schema.ts'
import { TRASH_DAYS, IMAGE_TYPES } from '../../base/constants.ts'
import { serverNow, SERVICE_URL } from '../../base/server.ts'
import { DAYS } from '../filters/day-buckets.ts'
import { changeQuery, useRoute, withParameters } from '../../base/router.ts'
import { Button, Menu } from '../../design/elements.tsx'
import { SelectField, TextField } from '../../design/field.tsx'
import { t } from '../../i18n/index.ts'
import { listPages } from '../../api/client.ts'

const PAGE_IMAGES = 200

/** The images that the address of the gallery selects, in its order, as far as the user has scrolled. */
export function useGallery(address: URLSearchParams) {
  const parameters = toListParameters(address)
  const query = useInfiniteQuery({
    queryKey: ['images', 'list', parameters],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      callApi('GET /api/v1/imagestore/list', {
        query: { ...parameters, limit: PAGE_IMAGES, cursor: pageParam || undefined },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
  const images = useMemo(() => query.data?.pages.flatMap(({ data }) => data.data) ?? [], [query.data])
  return { ...query, images, total: query.data?.pages[0]?.data.total }
}

/** Returns every image of the trash. */
export async function loadTrash(): Promise<readonly ImageRecord[]> {
  const images: ImageRecord[] = []
  const fetchPage = (cursor: string | undefined) =>
    callApi('GET /api/v1/imagestore/list', { query: { trash: '1', limit: PAGE_IMAGES, cursor } })
  for await (const { data } of listPages(fetchPage)) images.push(...data.data)
  return images
}

export type ImageRecord = Operations['GET /api/v1/imagestore/list']['answer']['data'][number]

/** The subject of operations that move an image. */
export const toSubject = ({ hash }: ImageRecord): string => `image:${hash}`

/** Returns the public URL of an image, with a modifier if given. */
export function linkOf(hash: string, modifier = ''): string {
  return new URL(`i/${hash}${modifier === '' ? '' : `&m=${modifier}`}`, SERVICE_URL).href
}

/** Heights of thumbnails: few, so that few derivatives are made. */
const STEPS = [160, 320, 480] as const

/** Returns a thumbnail for this height on this screen. */
export function thumbOf({ hash }: ImageRecord, height: number): string {
  const wanted = height * Math.min(2, devicePixelRatio)
  const step = STEPS.find((one) => one >= wanted) ?? STEPS[2]
  // The maximum aspect ratio shown is 2:1.
  return linkOf(hash, `w_${step * 2},h_${step},f_webp`)
}

/** The days until an image of the trash is deleted. @param trashedAt seconds since 1970 */
export const trashDaysLeft = (trashedAt: number): number =>
  Math.max(0, Math.ceil(TRASH_DAYS - (serverNow() / 1_000 - trashedAt) / 86_400))

export type ImageStats = Operations['GET /api/v1/imagestore/stats']['answer']

/** The usage of the application. */
export function useUsage() {
  return useApi(['images', 'stats'], 'GET /api/v1/imagestore/stats', { query: { days: DAYS } })
}

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
function toListParameters(query: URLSearchParams): Readonly<Record<string, string>> {
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
