import { createStore } from '../base/store.ts'
import { SERVICE_URL } from '../base/server.ts'

/** The first probe comes soon, because most breaks are short. */
const FIRST_RETRY_MS = 500
const RETRY_MS = 2_000
const PROBE_TIMEOUT_MS = 5_000

/** Whether the service responds. */
export const connection = createStore<'reached' | 'lost'>('reached')

/** @param status of a response; 502 to 504 are those of a proxy that does not reach the service, or may be */
export function markConnected(status: number): void {
  if (status < 502) connection.set('reached')
}

/** Probes the service until it responds. */
export function markDisconnected(): void {
  if (connection.get() === 'lost') return
  connection.set('lost')
  setTimeout(probe, FIRST_RETRY_MS)
}

// The browser knows of some breaks before a request fails.
addEventListener('offline', markDisconnected)

function probe(): void {
  if (connection.get() === 'reached') return
  void isThere().then((is) => (is ? connection.set('reached') : void setTimeout(probe, RETRY_MS)))
}

/** Finds out whether the service responds. */
export function checkConnection(): void {
  void isThere().then((is) => is || markDisconnected())
}

async function isThere(): Promise<boolean> {
  const url = new URL('healthz', SERVICE_URL)
  try {
    return (await fetch(url, { cache: 'no-store', signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })).ok
  } catch {
    return false
  }
}
