import { useQueryClient } from '@tanstack/react-query'
import { useRef, type RefObject } from 'react'
import { fetchCode } from '../../design/chunk.tsx'
import { showToast, showError } from '../../design/toasts.tsx'
import { t } from '../../i18n/index.ts'
import type { Filters } from '../filters/filters.ts'
import { readRecord, type DomainRecord } from './records.ts'
import type { LoadedRows } from './table.tsx'

/** Fetched when it is needed, and ahead of that by the screen. */
export const fetchAdjacentRecords = () => fetchCode(() => import('./adjacent-record.ts'))

/** Maximum queued key presses while the service is slow. */
const MAX_AHEAD = 50

/** Returns the position of a record among the loaded rows; -1 if absent. */
export function indexOf(rows: LoadedRows, name: string): number {
  if (rows.isStale) return -1
  for (let i = 0; i < rows.count; i++) if (rows.at(i)?.name === name) return i
  return -1
}

interface Details {
  readonly open: string | undefined
  readonly filters: Filters
  readonly rows: RefObject<LoadedRows>
  readonly show: (name: string, index: number | undefined) => void
}

/** Moves the details to the next record of the view, one step at a time. */
export function useStepping(details: Details): (by: 1 | -1) => void {
  const queries = useQueryClient()
  const now = useRef(details)
  now.current = details
  const wanted = useRef(0)
  const isRunning = useRef(false)

  async function run() {
    isRunning.current = true
    let here = now.current.open
    try {
      while (wanted.current !== 0 && here !== undefined) {
        const by = wanted.current > 0 ? 1 : -1
        wanted.current -= by
        const { filters, rows, show } = now.current
        const index = indexOf(rows.current, here)
        const loaded = index < 0 ? undefined : rows.current.at(index + by)
        const next = loaded ?? (await fetchNext(here, index, by))
        // The details were closed or changed, or the view changed, in the meantime.
        if (loaded === undefined && (now.current.open !== here || now.current.filters !== filters)) break
        if (next === undefined) break
        const place = indexOf(rows.current, next.name)
        queries.setQueryData(['domains', 'record', next.name], next)
        show(next.name, place < 0 ? undefined : place)
        here = next.name
      }
    } catch (error) {
      showError(error)
    }
    wanted.current = 0
    isRunning.current = false
  }

  async function fetchNext(name: string, index: number, by: 1 | -1): Promise<DomainRecord | undefined> {
    const { filters, rows } = now.current
    const known = index < 0 ? undefined : rows.current.at(index)
    const record =
      known ??
      (await queries.ensureQueryData({
        queryKey: ['domains', 'record', name],
        queryFn: () => readRecord(name),
      }))
    if (record !== null && record !== undefined) {
      const { adjacentRecord } = await fetchAdjacentRecords()
      return adjacentRecord(filters, record, by)
    }
    showToast(t('domains.gone'))
    return undefined
  }

  return (by) => {
    wanted.current = Math.max(-MAX_AHEAD, Math.min(MAX_AHEAD, wanted.current + by))
    if (!isRunning.current) void run()
  }
}
