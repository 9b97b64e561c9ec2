import { useCallback, useMemo, useRef, useState } from 'react'
import { usePlace, changed, replaceQuery, go } from '../app/router.ts'
import { useKeys } from '../app/shortcuts.ts'
import { Icon } from '../design/icon.tsx'
import { DayStrip } from '../facets/day-strip.tsx'
import { useFacets } from '../facets/facets.ts'
import { count, t, tn } from '../i18n/index.ts'
import { Chips } from './chips.tsx'
import { FILTER_NAMES, filtersOf, queryOf, withFilters, type Filters } from './filters.ts'
import { useLive } from './live.ts'
import { patched, patches, setMark, undo } from './marks.ts'
import { QueryBox } from './query-box.tsx'
import type { DomainRecord } from './records.ts'
import type { TableActions } from './row.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { Sheet } from './sheet.tsx'
import { DomainTable } from './table.tsx'
import { ViewMenu } from './view-menu.tsx'
import './domains.css'

const MAX_SELECTED = 1_000

export default function DomainsScreen() {
  const { path, query } = usePlace()
  const key = FILTER_NAMES.map((name) => query.get(name)).join('\n')
  // The same filters are the same object, so that what depends on them rests when something else changes.
  const filters = useMemo(() => filtersOf(query), [key])
  const open = query.get('ficha') ?? undefined
  const start = query.get('desde-aqui') ?? undefined
  const [active, setActive] = useState(0)
  const [selected, setSelected] = useState<ReadonlyMap<string, DomainRecord>>(new Map())
  const [isAscii, setAscii] = useState(false)
  const [total, setTotal] = useState({ count: 0, isAll: true })
  const rowAt = useRef<(index: number) => DomainRecord | undefined>(() => undefined)
  const box = useRef<HTMLInputElement>(null)
  const pivot = useRef(0)

  const apply = useCallback((next: Filters) => {
    setActive(0)
    setSelected(new Map())
    replaceQuery(queryOf(next))
  }, [])

  const toggle = (record: DomainRecord, isRange: boolean) => {
    setSelected((old) => {
      const next = new Map(old)
      if (!isRange) {
        if (!next.delete(record.name)) next.set(record.name, record)
      } else {
        const [from, to] = [Math.min(pivot.current, active), Math.max(pivot.current, active)]
        for (let i = from; i <= to && next.size < MAX_SELECTED; i++) {
          const one = rowAt.current(i)
          if (one !== undefined) next.set(one.name, one)
        }
        next.set(record.name, record)
      }
      return next
    })
    if (!isRange) pivot.current = active
  }

  const current = useRef({ query, filters, toggle })
  current.current = { query, filters, toggle }
  const actions: TableActions = useMemo(
    () => ({
      open: (record) => go('dominios', changed(current.current.query, { ficha: record.name })),
      toggle: (record, isRange) => current.current.toggle(record, isRange),
      sort: () => {
        const old = current.current.filters
        apply(withFilters(old, { sort: old['sort'] === 'asc' ? undefined : 'asc' }))
      },
      nextStretch: (cursor) =>
        go('dominios', changed(current.current.query, { 'desde-aqui': cursor, ficha: undefined })),
    }),
    [apply],
  )

  const close = () => go(path, changed(query, { ficha: undefined }))
  const step = (by: number) => {
    const index = Math.max(0, active + by)
    const record = rowAt.current(index)
    if (open === undefined || record === undefined) return
    setActive(index)
    replaceQuery(changed(query, { ficha: record.name }))
  }
  // Where details are open, theirs is the record that is meant: they may have been opened by a link.
  const aimed = (): readonly DomainRecord[] => {
    if (selected.size > 0) return [...selected.values()]
    const record = rowAt.current(active)
    return record === undefined || (open !== undefined && record.name !== open) ? [] : [record]
  }
  const mark = (name: 'revision' | 'discarded') => {
    const records = aimed().map((one) => patched(one, patches.get()))
    void setMark(records, name, records.every((one) => one[name] === 1) ? 0 : 1)
  }
  const focusBox = (event: KeyboardEvent) => {
    event.preventDefault()
    box.current?.focus()
    box.current?.select()
  }
  useKeys({
    '/': focusBox,
    'mod+k': focusBox,
    r: () => mark('revision'),
    d: () => mark('discarded'),
    z: () => void undo(),
    j: () => step(1),
    k: () => step(-1),
    x: () => {
      const record = rowAt.current(active)
      if (record !== undefined) toggle(record, false)
    },
    Escape: () => (open === undefined ? setSelected(new Map()) : close()),
  })

  const live = useLive(filters)
  const facets = useFacets(filters)
  const known = total.isAll ? total.count : facets?.total
  const onCount = useCallback((n: number, isAll: boolean) => setTotal({ count: n, isAll }), [])
  return (
    <div className={open === undefined ? 'domains' : 'domains with-sheet'}>
      <div className="domains-main">
        <h1 className="visually-hidden">{t('nav.domains')}</h1>
        <div className="domains-tools">
          <QueryBox box={box} filters={filters} onChange={apply} />
          <ViewMenu filters={filters} isAscii={isAscii} onAscii={setAscii} />
        </div>
        <Chips filters={filters} facets={facets} onChange={apply} />
        <DayStrip filters={filters} onChange={apply} />
        <DomainTable
          filters={filters}
          start={start}
          selected={selected}
          isAscii={isAscii}
          active={active}
          onActive={setActive}
          actions={actions}
          onCount={onCount}
          onRows={(at) => {
            rowAt.current = at
          }}
        />
        <p className="visually-hidden" role="status">
          {live.waiting > 0 ? tn('domains.changedRows', live.waiting) : ''}
        </p>
        {live.waiting > 0 && (
          <button type="button" className="button primary arrivals" onClick={live.show}>
            <Icon name="up" />
            {tn('domains.changedRows', live.waiting)}
          </button>
        )}
        <div className="domains-foot muted">
          <p className="figures" role="status">
            {known === undefined
              ? t('domains.rowsMore', { n: count(total.count) })
              : tn('domains.rows', known)}
          </p>
          {live.isOn && <p className="live">{t('domains.live')}</p>}
        </div>
        {selected.size > 0 && (
          <SelectionBar records={[...selected.values()]} onClear={() => setSelected(new Map())} />
        )}
      </div>
      {open !== undefined && <Sheet key={open} name={open} onClose={close} onStep={step} />}
    </div>
  )
}
