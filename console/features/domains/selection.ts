import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { showToast, showError } from '../../design/toasts.tsx'
import { t } from '../../i18n/index.ts'
import type { Filters } from '../filters/filters.ts'
import { fetchRange, type RowPosition, type PagingOrder } from './rows.ts'
import type { DomainRecord } from './records.ts'

/** Maximum size of a selection, and of one operation. */
const MAX_SELECTED = 1_000

export interface Selection {
  /** By name, because rows may move. */
  readonly records: ReadonlyMap<string, DomainRecord>
  /** Rows of a range are loading: until then the selection cannot be used. */
  readonly isBusy: boolean
  readonly toggle: (record: DomainRecord, index: number) => void
  /** Adds all rows from the last one toggled to this one. */
  readonly extend: (record: DomainRecord, index: number) => void
  readonly add: (records: readonly DomainRecord[]) => void
  /** Every record of the view is selected, loaded or not. */
  readonly isWhole: boolean
  readonly addWhole: () => void
  readonly clear: () => void
}

const NONE: ReadonlyMap<string, DomainRecord> = new Map()

/** The selected rows of a view. Changing the view clears the selection. */
export function useSelection(
  filters: Filters,
  start: string | undefined,
  active: () => RowPosition | undefined,
  pagingOrder: () => PagingOrder,
): Selection {
  const queries = useQueryClient()
  const [records, setRecords] = useState(NONE)
  const [isBusy, setBusy] = useState(false)
  const [isWhole, setWhole] = useState(false)
  const pivot = useRef<RowPosition>(undefined)
  /** Number of the range being fetched; a different number means that it was superseded. */
  const turn = useRef(0)
  const clear = () => {
    turn.current++
    setBusy(false)
    setWhole(false)
    setRecords(NONE)
  }
  useEffect(() => {
    pivot.current = undefined
    clear()
  }, [filters, start])

  const view = useRef(filters)
  view.current = filters
  const add = (more: readonly DomainRecord[]) => {
    // What could not be changed is selected again, unless another view is open by then.
    if (view.current !== filters) return
    setRecords((old) => {
      const next = new Map(old)
      for (const one of more) if (next.size < MAX_SELECTED) next.set(one.name, one)
      return next
    })
  }

  async function extend(record: DomainRecord, index: number) {
    setWhole(false)
    const to = { index, name: record.name }
    const from = pivot.current ?? active() ?? to
    pivot.current = from
    const mine = ++turn.current
    setBusy(true)
    try {
      const { filters: f, start: s, toPosition } = pagingOrder()
      const range = await fetchRange(queries, f, s, toPosition(from), toPosition(nearer(from, to)))
      if (mine !== turn.current) return
      const isCut = Math.abs(to.index - from.index) >= MAX_SELECTED || isFull(records, range)
      // From its start, up to the maximum.
      add(range[0]?.name === from.name ? range : range.toReversed())
      if (isCut) showToast(t('domains.selectionFull', { n: MAX_SELECTED }), { isError: true })
    } catch (error) {
      if (mine === turn.current) showError(error)
    }
    if (mine === turn.current) setBusy(false)
  }

  return {
    records,
    isBusy,
    add,
    isWhole,
    addWhole: () => setWhole(true),
    clear,
    toggle(record, index) {
      setWhole(false)
      pivot.current = { index, name: record.name }
      if (!records.has(record.name) && records.size >= MAX_SELECTED) {
        showToast(t('domains.selectionFull', { n: MAX_SELECTED }), { isError: true })
        return
      }
      setRecords((old) => {
        const next = new Map(old)
        if (!next.delete(record.name)) next.set(record.name, record)
        return next
      })
    },
    extend: (record, index) => void extend(record, index),
  }
}

/** Returns the end of a range within the maximum. */
function nearer(from: RowPosition, to: RowPosition): RowPosition {
  const most = MAX_SELECTED - 1
  if (Math.abs(to.index - from.index) <= most) return to
  return { index: from.index + (to.index > from.index ? most : -most), name: '' }
}

function isFull(old: ReadonlyMap<string, DomainRecord>, range: readonly DomainRecord[]): boolean {
  return new Set([...old.keys(), ...range.map(({ name }) => name)]).size > MAX_SELECTED
}
