import { keepPreviousData, useInfiniteQuery, type QueryKey } from '@tanstack/react-query'
import { useLayoutEffect, useRef, type ReactNode } from 'react'
import { Button, Link } from './elements.tsx'
import { QueryResult } from './notice.tsx'
import { t, type TextKey } from '../i18n/index.ts'

interface PageProps {
  readonly title: string
  /** The id of the title, for a table that it labels. */
  readonly id?: string
  readonly isWide?: boolean
  /** A search field next to the title. */
  readonly search?: ReactNode
  /** Controls at the end of the line of the title. */
  readonly tools?: ReactNode
  readonly explained?: string
  readonly children: ReactNode
}

/** A screen with its title. */
export const Page = ({ title, id, isWide = false, search, tools, explained, children }: PageProps) => (
  <div className={isWide ? 'page wide' : 'page'}>
    <header>
      <h1 id={id} className={tools === undefined ? undefined : 'grow'}>
        {title}
      </h1>
      {search}
      {tools}
    </header>
    {explained !== undefined && <p className="muted">{explained}</p>}
    {children}
  </div>
)

interface Fetched<T> {
  readonly data: { readonly data: readonly T[] }
  /** The cursor of the next page. */
  readonly next: string | undefined
}

/** Reads a list page by page. Its data are the rows of the pages so far. */
export function usePages<T>(
  queryKey: QueryKey,
  fetchPage: (cursor: string | undefined, signal: AbortSignal) => Promise<Fetched<T>>,
  options: { refetchInterval?: (rows: readonly T[]) => number | false } = {},
) {
  const toRows = ({ pages }: { readonly pages: readonly Fetched<T>[] }) =>
    pages.flatMap(({ data }) => data.data)
  return useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
    select: toRows,
    refetchInterval: ({ state: { data } }) => (data && options.refetchInterval?.(toRows(data))) ?? false,
  })
}

interface PagedListProps<T> {
  readonly of: ReturnType<typeof usePages<T>>
  /** Shown in their place if there are no rows. */
  readonly none?: ReactNode
  readonly moreLabel?: string
  readonly children: (rows: readonly T[]) => ReactNode
}

/** The rows of a list, and a button for the next page if there is one. */
export const PagedList = <T,>({ of, none, moreLabel = t('app.showMore'), children }: PagedListProps<T>) => (
  <>
    <QueryResult of={of}>{(rows) => (rows.length === 0 && none) || children(rows)}</QueryResult>
    {of.hasNextPage && (
      <div className="row">
        <Button
          label={moreLabel}
          aria-disabled={of.isFetchingNextPage}
          onClick={() => of.isFetchingNextPage || void of.fetchNextPage()}
        />
      </div>
    )}
  </>
)

interface HeadsProps {
  /** Head of each column. */
  readonly heads: readonly string[]
  /** Columns of numbers, by their heads. */
  readonly numbers?: readonly string[]
  /** The head of a last column with buttons, which is not shown. */
  readonly actions?: string | undefined
}

/** The first row of a table. */
export const Heads = ({ heads, numbers = [], actions }: HeadsProps) => (
  <thead>
    <tr>
      {heads.map((head) => (
        <th key={head} scope="col" className={numbers.includes(head) ? 'number' : undefined}>
          {head}
        </th>
      ))}
      {actions !== undefined && (
        <th scope="col">
          <span className="visually-hidden">{actions}</span>
        </th>
      )}
    </tr>
  </thead>
)

interface TableProps extends HeadsProps {
  readonly labelledBy: string
  readonly children: ReactNode
}

/**
 * A table with many columns. On narrow screens each row becomes a card with labelled cells, so that no button is
 * off screen.
 */
export function WideTable({ labelledBy, children, ...heads }: TableProps) {
  const table = useRef<HTMLTableElement>(null)
  useLayoutEffect(() => {
    for (const row of table.current?.tBodies[0]?.rows ?? []) {
      for (const [i, cell] of [...row.cells].entries()) cell.dataset['label'] = heads.heads[i] ?? ''
    }
  })
  return (
    <div className="wide-table" role="region" aria-labelledby={labelledBy}>
      <table ref={table} className="plain">
        <Heads {...heads} />
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

interface TileProps {
  readonly label: TextKey
  readonly value: string
  /** The screen that it links to. */
  readonly to?: string
  readonly query?: Readonly<Record<string, string>>
  /** Further details. */
  readonly children?: ReactNode
}

/** A figure with its label, in a row of tiles. */
export function Tile({ label, value, to, query, children }: TileProps) {
  const inside = (
    <>
      <span className="muted">{t(label)}</span>
      <strong className="figures">{value}</strong>
      {children}
    </>
  )
  if (to === undefined) return <li className="tile-figure">{inside}</li>
  return (
    <li>
      <Link to={to} className="tile-figure plain-link" query={new URLSearchParams(query)}>
        {inside}
      </Link>
    </li>
  )
}

/**
 * A bar that shows a share of a total, next to its figures.
 * @param isGood whether a high value is good; otherwise it warns from 90 % on
 */
export function Meter({ part, isGood = false }: { part: number; isGood?: boolean }) {
  const width = `${Math.min(1, Math.max(0, part)) * 100}%`
  return (
    <span className="bar-of" aria-hidden="true">
      <span className={part >= 0.9 && !isGood ? 'part full' : 'part'} style={{ width }} />
    </span>
  )
}

const SPARK_WIDTH = 120
const SPARK_HEIGHT = 28

/** A small chart without values, next to their text. */
export function Sparkline({ values }: { values: readonly number[] }) {
  const most = Math.max(1, ...values)
  const step = SPARK_WIDTH / Math.max(1, values.length - 1)
  const points = values.map(
    (value, i) =>
      `${(i * step).toFixed(1)},${(SPARK_HEIGHT - 2 - (value / most) * (SPARK_HEIGHT - 4)).toFixed(1)}`,
  )
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <polyline points={points.join(' ')} />
    </svg>
  )
}
