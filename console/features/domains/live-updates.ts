import { useQueryClient, type QueryClient, type QueryKey } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { readEvents } from '../../../clients/js/events.ts'
import { ApiError, streamApi } from '../../api/client.ts'
import { checkConnection, connection } from '../../api/connection.ts'
import { withRetries } from '../../api/retry.ts'
import { getAccount } from '../../api/scope.ts'
import { filterError } from '../filters/filter-errors.ts'
import { eventFilters, type Filters } from '../filters/filters.ts'
import {
  changedRecords,
  forgetSent,
  receiveRecords,
  withReceived,
  type ReceivedRecord,
} from './optimistic-updates.ts'
import { forgetCursors, type Page } from './rows.ts'
import type { DomainRecord } from './records.ts'

const FOLLOW_AFTER_MS = 600
/** A bulk change arrives as thousands of events, so rendering is batched. */
const DRAW_EVERY_MS = 300
/** Maximum number of added and removed names that are counted: an import may bring a million. */
export const MAX_WAITING = 100_000
/** The stream of a service that stopped is silent, like that of one where nothing happens. */
const SILENT_MS = 15_000

export interface LiveUpdates {
  /** Whether the event stream is connected. */
  readonly isOn: boolean
  /** Names that were added or removed since the rows were read. */
  readonly waiting: number
  /** Reloads the rows. */
  readonly show: () => void
}

/** Follows changes of others: updates visible rows in place, and announces new ones, which are shown on request. */
export function useLiveUpdates(filters: Filters): LiveUpdates {
  const queries = useQueryClient()
  const [isOn, setOn] = useState(false)
  const names = useRef(new Set<string>())
  const [waiting, setWaiting] = useState(0)
  useEffect(() => {
    names.current.clear()
    setWaiting(0)
    storeChanges(queries)
    changedRecords.set(new Map())
    let leave: (() => void) | undefined
    if (filterError(filters) !== undefined) return
    // Debounced while the user types.
    const timer = setTimeout(() => (leave = follow(filters, queries, tell, setOn)), FOLLOW_AFTER_MS)
    return () => {
      clearTimeout(timer)
      leave?.()
      setOn(false)
    }
    function tell(came: readonly string[], changed: readonly ReceivedRecord[]) {
      for (const name of came) if (names.current.size < MAX_WAITING) names.current.add(name)
      setWaiting(names.current.size)
      if (changed.length > 0) receiveRecords(changed)
    }
  }, [filters, queries])
  const show = useCallback(() => {
    forgetCursors()
    changedRecords.set(new Map())
    names.current.clear()
    setWaiting(0)
    void queries.resetQueries({ queryKey: ['domains', 'list'] })
    void queries.invalidateQueries({ queryKey: ['domains', 'stats'] })
  }, [queries])
  return { isOn, waiting, show }
}

type Tell = (came: readonly string[], changed: readonly ReceivedRecord[]) => void

/** Follows the event stream, which continues after its last event when it breaks, until the returned function is called. */
function follow(
  filters: Filters,
  queries: QueryClient,
  tell: Tell,
  say: (isOn: boolean) => void,
): () => void {
  const leaving = new AbortController()
  let broken = new AbortController()
  let came: string[] = []
  let changed: ReceivedRecord[] = []
  const silence = setInterval(checkConnection, SILENT_MS)
  const timer = setInterval(() => {
    if (came.length === 0 && changed.length === 0) return
    tell(came, changed)
    came = []
    changed = []
  }, DRAW_EVERY_MS)
  const leaveConnection = connection.subscribe(() => {
    if (connection.get() === 'reached') return
    say(false)
    broken.abort()
  })
  /** Reads again what may have changed unnoticed. */
  const readAgain = (parts: readonly string[]) => {
    forgetSent()
    for (const part of parts) void queries.invalidateQueries({ queryKey: ['domains', part] })
  }
  const open = async (headers: Readonly<Record<string, string>>, end: AbortSignal) => {
    say(false)
    const send = () => {
      broken = new AbortController()
      const signal = AbortSignal.any([end, broken.signal])
      return streamApi('/api/v1/domainwatch/events', eventFilters(filters), { headers, signal })
    }
    const response = await withRetries(send, end).catch((error: unknown) => {
      // The service would refuse it again.
      if (error instanceof ApiError && error.code !== undefined && error.status < 500) leaving.abort()
      throw error
    })
    say(true)
    if (headers['last-event-id'] === undefined) readAgain(['list', 'record'])
    return response
  }
  const listen = async () => {
    for await (const { event, data } of readEvents(open, { signal: leaving.signal })) {
      if (event === 'gap') readAgain(['list', 'record', 'stats'])
      else if (event === 'added' || event === 'deleted') came.push(data.record.name)
      else
        changed.push({
          record: data.record,
          isOwnAccount: data.account === (getAccount('domainwatch') ?? data.account),
        })
    }
  }
  void listen()
  return () => {
    leaving.abort()
    leaveConnection()
    clearInterval(silence)
    clearInterval(timer)
  }
}

/** Puts the changes that were received into the loaded rows and records, which are shown again when the user comes back. */
function storeChanges(queries: QueryClient): void {
  const changed = changedRecords.get()
  if (changed.size === 0) return
  const current = (record: DomainRecord) => withReceived(record, changed)
  const replace = <T>(key: QueryKey, data: T) =>
    queries.setQueryData<T>(key, () => data, { updatedAt: queries.getQueryState(key)?.dataUpdatedAt ?? 0 })
  for (const [key, page] of queries.getQueriesData<Page>({ queryKey: ['domains', 'list'] })) {
    if (page === undefined) continue
    const records = page.data.data[0] ?? []
    if (!records.some(({ name }) => changed.has(name))) continue
    replace<Page>(key, { ...page, data: { ...page.data, data: [records.map(current)] } })
  }
  for (const [key, record] of queries.getQueriesData<DomainRecord | null>({
    queryKey: ['domains', 'record'],
  }))
    if (record && changed.has(record.name)) replace(key, current(record))
}
