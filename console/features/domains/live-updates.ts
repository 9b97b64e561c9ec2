import { useQueryClient, type QueryClient, type QueryKey } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { RECORD_EVENTS } from '../../base/constants.ts'
import { apiUrl, callApi } from '../../api/client.ts'
import { checkConnection, connection } from '../../api/connection.ts'
import { withRetries } from '../../api/retry.ts'
import { getAccount } from '../../api/scope.ts'
import { keyFor } from '../../api/session.ts'
import { localTime, serverNow } from '../../base/server.ts'
import { filterError } from '../filters/filter-errors.ts'
import { hasValues, type Values } from './changes.ts'
import { eventFilters, type Filters } from '../filters/filters.ts'
import { changedRecords, forgetSent, receiveRecords, type ReceivedRecord } from './optimistic-updates.ts'
import { forgetCursors, FRESH_MS, type Page } from './rows.ts'
import type { DomainRecord } from './records.ts'

const FOLLOW_AFTER_MS = 600
/** A bulk change arrives as thousands of events, so rendering is batched. */
const DRAW_EVERY_MS = 300
/** Maximum number of added and removed names that are counted: an import may bring a million. */
export const MAX_WAITING = 100_000
/** Maximum number of missed changes that are read; if there are more, the rows are read again. */
const MAX_MISSED = 500
const REOPEN_MS = 5_000
/** The stream of a service that stopped is silent, like that of one where nothing happens. */
const SILENT_MS = 15_000
const MAX_REOPEN_MS = 60_000
/** Difference of clocks, and records read while they were changed. */
const SLACK_MS = 5_000

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

/** Follows the event stream until the returned function is called. Opens it again if the service or a proxy ends it. */
function follow(
  filters: Filters,
  queries: QueryClient,
  tell: Tell,
  say: (isOn: boolean) => void,
): () => void {
  const query = { api: keyFor('domainwatch') ?? '', ...eventFilters(filters) }
  const stop = new AbortController()
  /** Later changes may be unknown, by the service's clock. Shown rows may have been read a while ago. */
  let knownUntil = serverNow() - FRESH_MS
  let source: EventSource | undefined
  let reopening: ReturnType<typeof setTimeout> | undefined
  let wait = REOPEN_MS
  let came: string[] = []
  let changed: ReceivedRecord[] = []
  const silence = setInterval(checkConnection, SILENT_MS)
  const timer = setInterval(() => {
    if (came.length === 0 && changed.length === 0) return
    tell(came, changed)
    came = []
    changed = []
  }, DRAW_EVERY_MS)
  const hear = ({ type, data }: MessageEvent<string>) => {
    knownUntil = serverNow()
    const { record, account } = JSON.parse(data)
    if (type === 'added' || type === 'deleted') came.push(String(record.name))
    else changed.push({ record, isOwnAccount: account === (getAccount('domainwatch') ?? account) })
  }
  /** Reads what changed before the stream began. */
  const catchUp = async () => {
    const since = knownUntil - SLACK_MS
    const missed = await withRetries(() => changedSince(since, stop.signal), stop.signal)
    if (missed.length >= MAX_MISSED) {
      void queries.invalidateQueries({ queryKey: ['domains', 'list'] })
      return
    }
    const loaded = loadedRecords(queries)
    // What the stream brought in the meantime is newer, and comes after it.
    changed.unshift(
      ...missed
        .filter((record) => isNewer(record, loaded.get(record.name)))
        .map((record) => ({ record, isOwnAccount: true })),
    )
  }
  const catchUpOrReload = () => {
    catchUp().catch(() => {
      // What was missed is unknown, so the rows are read again.
      if (!stop.signal.aborted) void queries.invalidateQueries({ queryKey: ['domains', 'list'] })
    })
  }
  const open = () => {
    clearTimeout(reopening)
    const opened = new EventSource(apiUrl('/api/v1/domainwatch/events', query))
    source = opened
    let isFirst = true
    opened.onopen = () => {
      say(true)
      wait = REOPEN_MS
      // A browser that reconnects says what it received last.
      if (!isFirst) return
      isFirst = false
      forgetSent()
      catchUpOrReload()
    }
    opened.onerror = () => {
      say(false)
      // Browsers reconnect after a break, but not after an error response.
      if (opened.readyState !== EventSource.CLOSED) return
      reopening = setTimeout(open, wait)
      wait = Math.min(MAX_REOPEN_MS, wait * 2)
    }
    for (const type of RECORD_EVENTS) opened.addEventListener(type, hear)
    opened.addEventListener('gap', catchUpOrReload)
  }
  open()
  const leaveConnection = connection.subscribe(() => {
    source?.close()
    say(false)
    if (connection.get() === 'reached') open()
  })
  return () => {
    stop.abort()
    leaveConnection()
    clearInterval(silence)
    clearInterval(timer)
    clearTimeout(reopening)
    source?.close()
  }
}

/** The loaded rows, by name. */
function loadedRecords(queries: QueryClient): ReadonlyMap<string, DomainRecord> {
  const pages = queries.getQueriesData<Page>({ queryKey: ['domains', 'list'] })
  const records = pages.flatMap(([, page]) => page?.data.data[0] ?? [])
  return new Map(records.map((record) => [record.name, record]))
}

/** Puts the changes that were received into the loaded rows and records, which are shown again when the user comes back. */
function storeChanges(queries: QueryClient): void {
  const changed = changedRecords.get()
  if (changed.size === 0) return
  const current = (record: DomainRecord): DomainRecord => {
    const change = changed.get(record.name)
    // It may have been read after the change.
    return change === undefined || change.date_mod < record.date_mod ? record : { ...record, ...change }
  }
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

/** Whether a loaded record was changed since. */
const isNewer = (record: DomainRecord, loaded: DomainRecord | undefined): boolean =>
  loaded !== undefined && (loaded.date_mod !== record.date_mod || !hasValues(loaded, toMarks(record)))

const toMarks = ({ revision, discarded, seen = 0, note = '', tags = [] }: DomainRecord): Values => ({
  revision,
  discarded,
  seen,
  note,
  tags,
})

/** The records that changed last, since a time of the service. */
async function changedSince(since: number, signal: AbortSignal): Promise<readonly DomainRecord[]> {
  const query = {
    modified_from: localTime(since),
    order: 'modified' as const,
    limit: MAX_MISSED,
    fields: 'seen,note,tags',
  }
  const { data } = await callApi('GET /api/v1/domainwatch/list', { query, signal })
  return data.data[0] ?? []
}
