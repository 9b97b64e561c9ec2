import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useIsNarrow, useStore } from '../../base/store.ts'
import { Button, IconButton } from '../../design/elements.tsx'
import { ConfirmDialog } from '../../design/dialog.tsx'
import { ErrorBoundary, lazyComponent } from '../../design/chunk.tsx'
import { undoLast } from '../work/operations.ts'
import { useRoute, changeQuery, navigate, replaceQuery, withParameters } from '../../base/router.ts'
import { once, useShortcuts } from '../../base/shortcuts.ts'
import { showError, showToast } from '../../design/toasts.tsx'
import { Loading } from '../../design/notice.tsx'
import { keepingRange, useFilterCounts, useFilters } from '../filters/filter-counts.tsx'
import { count, t, tn } from '../../i18n/index.ts'
import { FilterChips } from '../filters/filter-chips.tsx'
import { queryOf, type Filters } from '../filters/filters.ts'
import { MAX_WAITING, useLiveUpdates } from './live-updates.ts'
import { setMark } from './marks.ts'
import { currentRecord, type Mark } from './optimistic-updates.ts'
import { QueryBox } from '../filters/query-box.tsx'
import { readRecord, type DomainRecord } from './records.ts'
import type { TableActions } from './row.tsx'
import { useSelection } from './selection.ts'
import { useVisibleColumns, sortedBy } from './columns.ts'
import { fetchBulk, recount } from './changes.ts'
import { DomainTable, indexOf, type LoadedRows } from './table.tsx'
import { viewQuery, useVisit } from '../views/saved-views.ts'
import { ViewMenu } from './view-menu.tsx'
import './domains.css'

/** The code of the details is fetched after the rows, so that they open without waiting. */
const Sheet = lazyComponent(
  () => import('./sheet.tsx'),
  <aside className="sheet" aria-busy="true">
    <Loading />
  </aside>,
)
/** Fetched later, because they wait for counts anyway. */
const SelectionBar = lazyComponent(
  () => import('./selection-bar.tsx'),
  <div className="selection row floating" aria-busy="true" />,
)
const DayStrip = lazyComponent(() => import('../filters/day-histogram.tsx'))
const ColumnsMenu = lazyComponent(() => import('./columns-menu.tsx'), <span className="button quiet icon" />)
const FETCH_DETAILS_MS = 1_500

const NO_ROWS: LoadedRows = {
  count: 0,
  at: () => undefined,
  current: () => undefined,
  isStale: false,
  pagingOrder: { filters: {}, start: undefined, toPosition: (place) => place },
}

export default function DomainsScreen() {
  const { path, query } = useRoute()
  const filters = useFilters(query)
  useVisit(viewQuery(filters))
  const open = query.get('ficha') || undefined
  const start = query.get('desde-aqui') || undefined
  /** -1 if the record of open details is not among the loaded rows. */
  const [active, setActive] = useState(0)
  const [isAscii, setAscii] = useState(false)
  const isNarrow = useIsNarrow()
  /** On a phone, rows come before the chips and the chart. */
  const [isFiltering, setFiltering] = useState(false)
  const [total, setTotal] = useState<{ count: number | undefined; isAll: boolean }>({ count: 0, isAll: true })
  const rows = useRef(NO_ROWS)
  const box = useRef<HTMLInputElement>(null)
  const queries = useQueryClient()
  const selection = useSelection(
    filters,
    start,
    () => {
      const record = rows.current.at(active)
      return record === undefined ? undefined : { index: active, name: record.name }
    },
    () => rows.current.pagingOrder,
  )

  // Also when the view changes by a link or the back button: keys act on the active row, which must be in sight.
  useEffect(() => setActive(open === undefined ? 0 : -1), [filters, start])
  const hasRows = (total.count ?? 0) > 0
  useEffect(() => {
    // A link or the back button may have opened the details of another row.
    const index = open === undefined ? -1 : indexOf(rows.current, open)
    if (index >= 0) setActive(index)
  }, [open, filters, start, hasRows])
  const apply = useCallback((next: Filters) => changeQuery(keepingRange(query, queryOf(next))), [query])

  const toggle = (record: DomainRecord, index: number, isRange: boolean) =>
    isRange ? selection.extend(record, index) : selection.toggle(record, index)
  const current = useRef({ query, filters, toggle })
  current.current = { query, filters, toggle }
  const actions: TableActions = useMemo(
    () => ({
      open: (record) => navigate('dominios', withParameters(current.current.query, { ficha: record.name })),
      toggle: (record, index, isRange) => current.current.toggle(record, index, isRange),
      sort: (column) => apply(sortedBy(current.current.filters, column)),
      nextStretch: (cursor) =>
        navigate(
          'dominios',
          withParameters(current.current.query, { 'desde-aqui': cursor, ficha: undefined }),
        ),
    }),
    [apply],
  )

  useEffect(() => {
    const timer = setTimeout(() => {
      const parts = [
        import('./sheet.tsx'),
        import('./selection-bar.tsx'),
        import('../filters/filter-form.tsx'),
        fetchBulk(),
      ]
      for (const part of parts) part.catch(() => undefined)
    }, FETCH_DETAILS_MS)
    return () => clearTimeout(timer)
  }, [])
  const close = () => navigate(path, withParameters(query, { ficha: undefined }))
  /** The table fetches further rows before the last ones are reached. */
  const step = (by: 1 | -1) => {
    const index = open === undefined ? -1 : indexOf(rows.current, open)
    if (index < 0) {
      if (open !== undefined) showToast(t('domains.notLoaded'))
      return
    }
    const next = rows.current.at(index + by)
    if (next === undefined) return
    queries.setQueryData(['domains', 'record', next.name], next)
    setActive(index + by)
    replaceQuery(withParameters(query, { ficha: next.name }))
  }
  // Actions apply to the record in open details, which may have been opened by a link.
  const aimed = async (): Promise<readonly DomainRecord[]> => {
    if (selection.records.size > 0) return [...selection.records.values()]
    const loaded = open === undefined ? rows.current.current() : rows.current.at(indexOf(rows.current, open))
    if (loaded !== undefined || open === undefined) return loaded === undefined ? [] : [loaded]
    const record = await queries.ensureQueryData({
      queryKey: ['domains', 'record', open],
      queryFn: () => readRecord(open),
    })
    return record === null ? [] : [record]
  }
  /** The rows of the previous filters are not those that the user means. */
  const isEarly = () => open === undefined && selection.records.size === 0 && rows.current.isStale
  const mark = (name: Mark) => {
    if (selection.isBusy) return
    if (isEarly()) {
      showToast(t('app.loading'))
      return
    }
    if (selection.isWhole) {
      const set = { [name]: 1, seen: 1 } as const
      fetchBulk().then(({ changeInBulk }) => {
        if (changeInBulk({ filters, count: known }, set) !== undefined) selection.clear()
      }, showError)
      return
    }
    aimed().then((records) => {
      const isMarked = records.map(currentRecord).every((one) => one[name] === 1)
      setMark(records, name, isMarked ? 0 : 1)
    }, showError)
  }
  const focusBox = (event: KeyboardEvent) => {
    event.preventDefault()
    box.current?.focus()
    box.current?.select()
  }
  const pick = (isRange: boolean) => {
    const record = rows.current.current()
    if (record !== undefined) toggle(record, active, isRange)
  }
  useShortcuts('domains', {
    '/': focusBox,
    r: once(() => mark('revision')),
    d: once(() => mark('discarded')),
    z: once(undoLast),
    j: () => step(1),
    k: () => step(-1),
    x: () => pick(false),
    X: () => pick(true),
    Escape: () => (open === undefined ? selection.clear() : close()),
  })

  const live = useLiveUpdates(filters)
  const arrivals =
    live.waiting < MAX_WAITING
      ? tn('domains.changedRows', live.waiting)
      : t('domains.changedMany', { n: MAX_WAITING })
  const facets = useFilterCounts(filters)
  const { columns, common } = useVisibleColumns(facets)
  const changed = useStore(recount)
  const known = total.isAll ? total.count : facets?.total
  const onCount = useCallback((n: number | undefined, isAll: boolean) => setTotal({ count: n, isAll }), [])
  return (
    <div className={open === undefined ? 'domains' : 'domains with-sheet'}>
      <div className="domains-main">
        <h1 className="visually-hidden">{t('nav.domains')}</h1>
        <div className="domains-tools">
          <QueryBox box={box} filters={filters} facets={facets} onChange={apply} />
          {isNarrow ? (
            <IconButton
              icon="filter"
              label={t('filter.title')}
              aria-expanded={isFiltering}
              onClick={() => setFiltering(!isFiltering)}
            />
          ) : (
            <ColumnsMenu columns={columns} />
          )}
          <ViewMenu filters={filters} total={known} isAscii={isAscii} onAscii={setAscii} onChange={apply} />
        </div>
        {(!isNarrow || isFiltering) && (
          <>
            <FilterChips filters={filters} facets={facets} onChange={apply} />
            <div className="days-place">
              <DayStrip filters={filters} onChange={apply} />
            </div>
          </>
        )}
        <DomainTable
          filters={filters}
          start={start}
          total={facets?.total}
          columns={columns}
          selected={selection.records}
          isAscii={isAscii}
          active={active}
          onActive={setActive}
          onSelectLoaded={(loaded) => (loaded.length === 0 ? selection.clear() : selection.add(loaded))}
          actions={actions}
          onCount={onCount}
          onRows={(loaded) => {
            rows.current = loaded
          }}
        />
        <p className="visually-hidden" role="status">
          {live.waiting > 0 ? arrivals : ''}
        </p>
        {live.waiting > 0 && (
          <Button look="primary" icon="up" label={arrivals} className="arrivals" onClick={live.show} />
        )}
        <div className="domains-foot muted">
          <p className="figures" role="status">
            {known !== undefined
              ? tn('domains.rows', known)
              : total.count === undefined
                ? t('app.loading')
                : total.count > 0 && t('domains.rowsMore', { n: count(total.count) })}
          </p>
          {common.length > 0 && (
            <p className="ellipsis">{t('columns.common', { values: common.join(' · ') })}</p>
          )}
          {live.isOn && <p className="live">{t('domains.live')}</p>}
        </div>
        {(selection.records.size > 0 || selection.isBusy) && (
          <SelectionBar selection={selection} filters={filters} total={known} />
        )}
      </div>
      {changed !== undefined && (
        <ConfirmDialog
          title={t('bulk.recount')}
          text={tn('bulk.recountText', changed.count)}
          action={t('bulk.changeAll', { n: changed.count })}
          onConfirm={() => {
            recount.set(undefined)
            changed.again()
          }}
          onClose={() => recount.set(undefined)}
        />
      )}
      {open !== undefined && (
        <ErrorBoundary key={open}>
          <Sheet name={open} onClose={close} onStep={step} />
        </ErrorBoundary>
      )}
    </div>
  )
}
