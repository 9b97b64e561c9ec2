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
