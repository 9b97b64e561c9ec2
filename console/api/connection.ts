import { createStore } from '../app/store.ts'
import { SERVICE } from './server.ts'

const RETRY_MS = 2_000
const PROBE_TIMEOUT_MS = 5_000

/** Whether the service answers. */
export const connection = createStore<'reached' | 'lost'>('reached')

export function noteReached(): void {
  connection.set('reached')
}

/** From now on the service is asked again and again whether it is there, until it is. */
export function noteLost(): void {
  if (connection.get() === 'lost') return
  connection.set('lost')
  setTimeout(probe, RETRY_MS)
}

function probe(): void {
  if (connection.get() === 'reached') return
  const url = new URL('healthz', SERVICE)
  fetch(url, { cache: 'no-store', signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })
    .then(({ ok }) => ok)
    .catch(() => false)
    .then((isThere) => (isThere ? noteReached() : void setTimeout(probe, RETRY_MS)))
    .catch(() => undefined)
}
