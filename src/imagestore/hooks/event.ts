import type { LoggedEvent } from '../../deliveries/change-pages.ts'
import type { Notice } from '../../deliveries/transport.ts'
import type { Change } from '../../storage/database/changes/change.ts'

/** What applications can be notified of. */
export const HOOK_EVENTS = [
  'image.created',
  'image.updated',
  'image.deleted',
  'image.expired',
  'alias.changed',
] as const
export type HookEvent = (typeof HOOK_EVENTS)[number]

/** A change of an image or an alias of an application. */
export interface ImageEvent extends LoggedEvent {
  readonly account: number
  readonly type: HookEvent
  /** What receivers get of it. */
  readonly data: Readonly<Record<string, string | number | null>>
}

const GAP = 'Pueden faltar cambios anteriores: vuelva a leer la lista de imágenes'

/** Returns undefined for a change of anything else. */
export function toImageEvent({
  cursor,
  at,
  topic,
  kind,
  key,
  accountId: account,
  before,
  after,
}: Change): ImageEvent | undefined {
  if (account === null) return undefined
  const event = { cursor, at, account }
  if (topic === 'alias') {
    const data = { alias: key, hash: after?.['hash'] ?? null, previous: before?.['hash'] ?? null }
    return { ...event, type: 'alias.changed', data }
  }
  const type = topic === 'image' ? toType(kind, before !== null) : undefined
  const { name = null, date = null } = after ?? before ?? {}
  return type && { ...event, type, data: { hash: key, name, date } }
}

/** Returns undefined for a kind that a newer version writes. */
function toType(kind: string, existed: boolean): HookEvent | undefined {
  switch (kind) {
    case 'stored':
      return existed ? 'image.updated' : 'image.created'
    case 'deleted':
    case 'expired':
      return `image.${kind}`
    default:
      return undefined
  }
}

/** Returns the body of a delivery. Its events are of one type. */
export function payload(hook: string, notice: Notice<ImageEvent>): string {
  if (notice.kind !== 'changes') {
    const timestamp = new Date(notice.at).toISOString()
    return JSON.stringify({ type: 'images.gap', timestamp, data: { hook: { id: hook }, msg: GAP } })
  }
  const { events } = notice
  const changes = events.map(({ at, data }) => ({ at: new Date(at).toISOString(), ...data }))
  return JSON.stringify({
    type: events[0]?.type,
    timestamp: changes.at(-1)?.at,
    data: { hook: { id: hook }, count: changes.length, changes },
  })
}
