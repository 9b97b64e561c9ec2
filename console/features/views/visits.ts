import { useEffect } from 'react'
import { browserStorage, onOtherTab } from '../../base/browser-storage.ts'
import { localNow, SERVICE_URL } from '../../base/server.ts'
import { createStore, useStore } from '../../base/store.ts'

/** When a view was last open in this browser. */
interface Visit {
  /** The view's filters, as in the URL; empty for all records. */
  readonly query: string
  /** In the service's time zone: `YYYY-MM-DD HH:MM:SS`. */
  readonly visited: string
  /** Name of a view that an earlier console kept here, until the service has it. */
  readonly name?: string
}

interface Kept {
  readonly account: string | undefined
  readonly visits: readonly Visit[]
}

/** Services may share an origin, and users a browser. */
const placeOf = (account: string): string => `catalejo.views ${SERVICE_URL.pathname} ${account}`

export const visits = createStore<Kept>({ account: undefined, visits: [] })

/** Switches to the visits of an account; undefined after a sign-out. */
export function openVisits(account: string | undefined): void {
  if (visits.get().account === account) return
  visits.set({ account, visits: account === undefined ? [] : (load(account) ?? []) })
  // What is new counts from the first visit on.
  if (account !== undefined) change((kept) => [...kept, ...missing(kept, [''])])
}

/** Calls a listener when another tab has saved, opened or removed a view. */
export function onVisitElsewhere(listener: () => void): void {
  onOtherTab((name) => {
    const { account } = visits.get()
    if (account === undefined || name !== placeOf(account)) return
    visits.set({ account, visits: load(account) ?? [] })
    listener()
  })
}

/** Counts what is new in views from now on, unless they have been open before, and forgets all others. */
export function keepVisits(account: string, queries: readonly string[]): void {
  if (visits.get().account !== account) return
  const known = ['', ...queries]
  change((kept) => [
    ...kept.filter(({ query, name }) => name !== undefined || known.includes(query)),
    ...missing(kept, known),
  ])
}

function missing(kept: readonly Visit[], queries: readonly string[]): Visit[] {
  const unknown = [...new Set(queries)].filter((query) => !kept.some((visit) => visit.query === query))
  return unknown.map((query) => ({ query, visited: localNow() }))
}

/** Notes that the service has a view that was kept here. */
export const forgetName = (moved: string): void =>
  change((kept) =>
    kept.map(({ query, visited, name }) => ({
      query,
      visited,
      ...(name !== undefined && query !== moved && { name }),
    })),
  )

/** Records that a view was opened, so that its count of new records restarts. */
const visitView = (opened: string): void => visitViews(({ query }) => query === opened)

/** Notes that what is new in every view has been read. */
export const visitAllViews = (): void => visitViews(() => true)

const visitViews = (isMeant: (visit: Visit) => boolean): void =>
  change((kept) => kept.map((visit) => (isMeant(visit) ? { ...visit, visited: localNow() } : visit)))

/** Changes what is stored, which other tabs change, too. */
function change(edit: (kept: readonly Visit[]) => readonly Visit[]): void {
  const { account, visits: shown } = visits.get()
  if (account === undefined) return
  const edited = edit(load(account) ?? shown)
  const text = JSON.stringify(edited)
  if (text === JSON.stringify(shown)) return
  visits.set({ account, visits: edited })
  browserStorage.write(placeOf(account), text)
}

/** The stored visits of an account; undefined if there are none, or the browser forbids storage. */
function load(account: string): readonly Visit[] | undefined {
  try {
    const found: unknown = JSON.parse(browserStorage.read(placeOf(account)) ?? 'null')
    return Array.isArray(found) ? found.flatMap(readVisit) : undefined
  } catch {
    return undefined
  }
}

function readVisit(found: unknown): Visit[] {
  if (typeof found !== 'object' || found === null) return []
  const { name, query, visited }: Partial<Record<keyof Visit, unknown>> = found
  if (typeof query !== 'string' || typeof visited !== 'string') return []
  return [{ query, visited, ...(typeof name === 'string' && query !== '' && { name }) }]
}

/** Notes when the view at this address is open and when it is left. */
export function useVisit(query: string | undefined): void {
  const { account } = useStore(visits)
  useEffect(() => {
    if (query === undefined || account === undefined) return
    visitView(query)
    return () => visitView(query)
  }, [query, account])
}
