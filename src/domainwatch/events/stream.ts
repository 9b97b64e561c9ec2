import type { Cursor } from '../../storage/database/changes/change.ts'
import type { Filters } from '../filters.ts'
import type { EventPages } from './pages.ts'

/** Without anything to tell, a reader hears this often that all is well. */
const HEARTBEAT_MS = 15_000
/** When readers whose connection broke should come back. */
const RETRY_MS = 3_000

const GAP = JSON.stringify({
  msg: 'Los cambios desde el último evento ya no están disponibles: vuelva a leer la lista',
})

export interface StreamRequest {
  readonly filters: Filters
  /** The last event that the reader has; without it, it wants what comes from now on. */
  readonly after: Cursor | undefined
  /** The reader's, by its id. */
  readonly account: number
  /** Whether the reader may still read. */
  readonly isCurrent: () => Promise<boolean>
  /** Milliseconds until it may not any more by itself. */
  readonly expiresIn: () => number
  /** Its end. */
  readonly signal: AbortSignal
}

/**
 * A stream of server-sent events (HTML Living Standard, section 9.2), from the reader's last event on, until its end. An
 * `id` without data goes ahead of the first event and beside heartbeats: it is no event, but where the reader may resume.
 */
export async function* eventStream(
  pages: EventPages,
  request: StreamRequest,
): AsyncGenerator<string | Buffer> {
  const { filters, account, isCurrent, expiresIn, signal } = request
  const key = JSON.stringify(filters)
  let place = request.after ?? (await pages.head())
  let told = place
  let toldAt = performance.now()
  let checkedAt = toldAt
  yield `retry: ${RETRY_MS}\nid: ${place}\n\n`
  for (;;) {
    const heartbeatIn = toldAt + HEARTBEAT_MS - performance.now()
    const step = await pages.next(place, signal, Math.min(heartbeatIn, expiresIn()), account)
    if (expiresIn() <= 0) return
    let text: string | Buffer | undefined
    if (step.kind === 'ended') return
    if (step.kind === 'gap') {
      place = told = await pages.head()
      text = `id: ${place}\nevent: gap\ndata: ${GAP}\n\n`
    } else if (step.kind === 'page') {
      place = step.page.cursor
      text = step.page.text(filters, key)
    }
    const touchesKeys = step.kind === 'page' && step.page.touchesKeys
    if (touchesKeys || performance.now() - checkedAt >= HEARTBEAT_MS) {
      // A database that is away says nothing about the key.
      if (!(await isCurrent().catch(() => true))) return
      checkedAt = performance.now()
    }
    if (text === undefined && performance.now() - toldAt >= HEARTBEAT_MS) {
      text = told === place ? ':\n\n' : `:\nid: ${place}\n\n`
      told = place
    }
    if (text === undefined) continue
    toldAt = performance.now()
    yield text
  }
}
