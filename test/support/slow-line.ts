import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'

/** A mobile connection at the edge of its network. Rates in bytes per second. */
const SLOW = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 }

/** The line between one page and the service. */
export interface SlowLine {
  break(): Promise<void>
  mend(): Promise<void>
}

/** Makes the line of a page slow. Other pages keep theirs. */
export async function slowLine(page: Page): Promise<SlowLine> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const emulate = (offline: boolean) =>
    session.send('Network.emulateNetworkConditions', { ...SLOW, offline }).then(() => undefined)
  await emulate(false)
  return { break: () => emulate(true), mend: () => emulate(false) }
}

/** How long each request takes on a bad line, and which ones fail. */
const BAD = { delayMs: 300, failing: 5 }

/**
 * Delays the API requests of a page, and lets every fifth fail: by turns before the service gets it, and before its answer
 * arrives.
 * @returns the number that failed
 */
export async function badLine(page: Page): Promise<() => number> {
  let requests = 0
  let failed = 0
  await page.route('**/api/v1/**', async (route) => {
    const isFailing = ++requests % BAD.failing === 0
    if (isFailing && ++failed % 2 === 0) await route.fetch().catch(() => undefined)
    // Streams begin immediately, or not at all.
    if (!route.request().url().includes('/events')) await sleep(BAD.delayMs)
    const answered = isFailing ? route.abort('connectionreset') : route.continue()
    await answered.catch(() => undefined)
  })
  return () => failed
}
