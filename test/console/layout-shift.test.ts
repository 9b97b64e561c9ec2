/** What comes late on a slow line does not move what is read or pressed already. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { domainGrid, domainRow, startBrowser, type TestBrowser } from '../support/browser.ts'
import { record, stored } from '../support/domains.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let browser: TestBrowser

before(async () => {
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  await stored(service, [record('casa', { date_reg: `${yesterday} 12:00:00` })])
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

for (const width of [390, 1_440]) {
  test(`at ${width} pixels, the rows stay where they are when the days are counted`, async () => {
    const keys = { domainwatch: service.domainKey }
    const { page, context } = await browser.open(service, 'no-existe', keys, { width })
    await page.getByRole('heading', { name: 'Página no encontrada' }).waitFor()
    const counted = Promise.withResolvers<void>()
    await page.route('**/domainwatch/stats?*', async (route) => {
      await counted.promise
      await route.continue()
    })
    await page.goto(`${service.url}/console/dominios`)
    await domainRow(page, 'casa').waitFor()
    const early = await domainGrid(page).boundingBox()
    counted.resolve()
    await page.getByRole('slider').waitFor()
    assert.deepEqual((await domainGrid(page).boundingBox())?.y, early?.y)
    await context.close()
  })
}
