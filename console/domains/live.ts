import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import { addressOf } from '../api/client.ts'
import { keyFor } from '../api/session.ts'
import { filterFault } from '../facets/filter-fault.ts'
import { recordFilters, type Filters } from './filters.ts'
import { changedRecords, isOwnMark, noteRecord } from './overlay.ts'
import { forgetWalks } from './pages.ts'
import type { DomainRecord } from './records.ts'

const FOLLOW_AFTER_MS = 600
const MAX_RECORDS = 5_000
/** A bulk change arrives as thousands of events, so rendering is batched. */
const DRAW_EVERY_MS = 300

export interface Live {
  /** Whether the event stream is connected. */
  readonly isOn: boolean
  /** Names that were added or removed since the rows were read. */
  readonly waiting: number
  /** Reloads the rows. */
  readonly show: () => void
}

/** Follows changes of others: updates visible rows in place, and announces new ones, which are shown on request. */
export function useLive(filters: Filters): Live {
  const queries = useQueryClient()
  const [isOn, setOn] = useState(false)
  const [names, setNames] = useState<ReadonlySet<string>>(new Set())
  useEffect(() => {
    setNames(new Set())
    changedRecords.set(new Map())
    let leave: (() => void) | undefined
    if (filterFault(filters) !== undefined) return
    // Debounced while the user types.
    const timer = setTimeout(() => (leave = follow(filters, tell, setOn)), FOLLOW_AFTER_MS)
    return () => {
      clearTimeout(timer)
      leave?.()
      setOn(false)
    }
    function tell(came: readonly string[], changed: readonly DomainRecord[]) {
      if (came.length > 0) setNames((old) => new Set([...old, ...came]))
      if (changed.length === 0) return
      for (const record of changed) noteRecord(record)
      const next = new Map([
        ...changedRecords.get(),
        ...changed.map((record) => [record.name, record] as const),
      ])
      changedRecords.set(new Map([...next].slice(-MAX_RECORDS)))
    }
  }, [filters])
  const show = useCallback(() => {
    forgetWalks()
    changedRecords.set(new Map())
    setNames(new Set())
    void queries.resetQueries({ queryKey: ['domains', 'list'] })
    void queries.invalidateQueries({ queryKey: ['domains', 'stats'] })
  }, [queries])
  return { isOn, waiting: names.size, show }
}

type Tell = (came: readonly string[], changed: readonly DomainRecord[]) => void

function follow(filters: Filters, tell: Tell, say: (isOn: boolean) => void): () => void {
  const query = { api: keyFor('domainwatch') ?? '', ...recordFilters(filters) }
  const source = new EventSource(addressOf('/api/v1/domainwatch/events', query))
  source.onopen = () => say(true)
  source.onerror = () => say(false)
  let came: string[] = []
  let changed: DomainRecord[] = []
  const timer = setInterval(() => {
    if (came.length === 0 && changed.length === 0) return
    tell(came, changed)
    came = []
    changed = []
  }, DRAW_EVERY_MS)
  const hear = ({ type, data }: MessageEvent<string>) => {
    const { record } = JSON.parse(data)
    if (type === 'added' || type === 'deleted') came.push(String(record.name))
    else if (!isOwnMark(record)) changed.push(record)
  }
  for (const type of ['added', 'changed', 'discarded', 'deleted']) source.addEventListener(type, hear)
  return () => {
    clearInterval(timer)
    source.close()
  }
}
