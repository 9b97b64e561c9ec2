import assert from 'node:assert/strict'
import { after, afterEach } from 'node:test'
import { startBrowser, type TestBrowser, type TestPage } from './browser.ts'
import { startService, type TestService, type TestServiceOptions } from './service.ts'

/**
 * Starts a service and a browser for the tests of a file, and stops both after them. After each test its pages are closed, and
 * must neither have complained of anything nor asked other hosts.
 */
export async function startConsole(
  options?: TestServiceOptions,
): Promise<{ readonly service: TestService; readonly browser: Pick<TestBrowser, 'open'> }> {
  const [service, browser] = await Promise.all([startService(options), startBrowser()])
  const opened: TestPage[] = []
  afterEach(async () => {
    const pages = opened.splice(0)
    for (const { context } of pages) await context.close()
    for (const { complaints, foreign } of pages) assert.deepEqual([complaints, foreign], [[], []])
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await service[Symbol.asyncDispose]()
  })
  return {
    service,
    browser: {
      async open(...visit) {
        const page = await browser.open(...visit)
        opened.push(page)
        return page
      },
    },
  }
}
