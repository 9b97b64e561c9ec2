const PLACE = 'catalejo.triage.skipped'
/** Of all views together; the names skipped first are forgotten first. */
const MAX_SKIPPED = 10_000

/** Names skipped in this session, by view: a name passed over in one view may matter in another. */
type Skipped = Readonly<Record<string, readonly string[]>>

export function skippedIn(view: string): ReadonlySet<string> {
  return new Set(load()[view] ?? [])
}

export function keepSkipped(view: string, names: ReadonlySet<string>): void {
  const { [view]: _old, ...others } = load()
  const kept: Record<string, readonly string[]> = {}
  let room = MAX_SKIPPED
  // The view at hand last in the list, so first to be kept.
  for (const [name, list] of [...Object.entries(others), [view, [...names]] as const].reverse()) {
    if (room > 0 && list.length > 0) kept[name] = list.slice(-room)
    room -= Math.min(room, list.length)
  }
  try {
    sessionStorage.setItem(PLACE, JSON.stringify(Object.fromEntries(Object.entries(kept).reverse())))
  } catch {
    // Without storage they are remembered for as long as the page stays.
  }
}

function load(): Skipped {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(PLACE) ?? '{}')
    if (typeof found !== 'object' || found === null) return {}
    const entries = Object.entries(found).filter((entry): entry is [string, readonly string[]] =>
      Array.isArray(entry[1]),
    )
    return Object.fromEntries(entries)
  } catch {
    return {}
  }
}
