import { after } from 'node:test'
import { startBrowser, type TestBrowser } from './browser.ts'
import { startService, type TestService, type TestServiceOptions } from './service.ts'

/** Starts a service and a browser for the tests of a file, and stops both after them. */
export async function startConsole(
  options?: TestServiceOptions,
): Promise<{ readonly service: TestService; readonly browser: TestBrowser }> {
  const [service, browser] = await Promise.all([startService(options), startBrowser()])
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await service[Symbol.asyncDispose]()
  })
  return { service, browser }
}
