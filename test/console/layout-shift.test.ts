/** What comes late on a slow line does not move what is read or pressed already; people who prefer less motion or other colours. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Request } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { domainGrid, domainRow, waitForExpression, openScreen } from '../support/browser.ts'
import { record, stored } from '../support/domains.ts'
import { holdRequests } from '../support/gate.ts'

const { service, browser } = await startConsole()
const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
await stored(service, [
  record('casa', { date_reg: `${yesterday} 12:00:00` }),
  record('antiguo', { date_reg: '2020-01-01 12:00:00' }),
  record('libre', { status: 0, date_reg: `${yesterday} 11:00:00` }),
])
for (const [when, name] of [
  ['', 'casa'],
  [' without records of the last days', 'antiguo'],
] as const) {
  for (const width of [390, 1_440]) {
    test(`at ${width} pixels, the rows of a view${when} stay where they are when the days are counted`, async () => {
      const keys = { domainwatch: service.domainKey }
      const { page, context } = await browser.open(service, 'no-existe', keys, { width })
      await page.getByRole('heading', { name: 'Página no encontrada' }).waitFor()
      const counted = Promise.withResolvers<void>()
      await page.route('**/domainwatch/stats?*', async (route) => {
        await counted.promise
        await route.continue()
      })
      await page.goto(`${service.url}/console/dominios?starts=${name}`)
      await domainRow(page, name).waitFor()
      if (width === 390) await page.getByRole('button', { name: 'Filtros', exact: true }).click()
      const places = async () => {
        const parts = [domainGrid(page), ...(await page.locator('.domains-chips .chip').all())]
        return Promise.all(parts.map(async (part) => await part.boundingBox()))
      }
      await page.locator('.days-place').waitFor({ state: 'attached' })
      const early = await places()
      counted.resolve()
      await waitForExpression(page, `document.querySelector('.days-place').childElementCount > 0`)
      await page.getByRole('button', { name: /^Revisión 0/ }).waitFor()
      assert.deepEqual(await places(), early)
      await context.close()
    })
  }
}

for (const width of [390, 1_440]) {
  test(`at ${width} pixels, nothing on the home screen moves when its figures arrive one by one`, async () => {
    const keys = { domainwatch: service.domainKey, imagestore: service.imageKey }
    const { page } = await browser.open(service, 'no-existe', keys, { width })
    await page.getByRole('heading', { name: 'Página no encontrada' }).waitFor()
    await page.addInitScript(`{
      globalThis.moved = []
      new PerformanceObserver((list) => {
        const nodes = list.getEntries().flatMap(({ sources }) => sources.map(({ node }) => node))
        const screen = document.querySelector('main')
        moved.push(...nodes.filter((node) => screen.contains(node)).map((node) => node.outerHTML ?? node.data))
      }).observe({ type: 'layout-shift', buffered: true })
    }`)
    let last = Promise.resolve()
    await page.route('**/api/v1/**', async (route) => {
      // A stream has no end that others could wait for.
      if (route.request().url().includes('/events')) return route.continue()
      const before = last
      const { promise, resolve } = Promise.withResolvers<void>()
      last = promise
      await before
      const isThis = (one: Request) => one === route.request()
      const ended = Promise.race([
        page.waitForEvent('requestfinished', isThis),
        page.waitForEvent('requestfailed', isThis),
      ])
      try {
        await route.continue()
        await ended
        await page.evaluate('new Promise((draw) => requestAnimationFrame(() => requestAnimationFrame(draw)))')
      } catch {
        // A request of the page before.
      } finally {
        resolve()
      }
    })
    await page.goto(`${service.url}/console/`)
    await page.getByRole('region', { name: 'Le espera' }).waitFor()
    await page.getByRole('region', { name: 'Últimos eliminados' }).getByText('libre.cl').waitFor()
    await page.getByRole('link', { name: 'Suba la primera imagen' }).waitFor()
    await last
    assert.deepEqual(await page.evaluate('moved'), [])
  })
}

test('nothing turns or fades for people who prefer reduced motion', async () => {
  const keys = { domainwatch: service.domainKey }
  const { page } = await browser.open(service, 'no-existe', keys)
  const gate = await holdRequests(page, 'domainwatch/watches')
  await openScreen(page, 'Alertas')
  await gate.next()
  await page.locator('main .spinner').waitFor()
  const moving = () => page.evaluate('document.getAnimations().length')
  assert.equal(await moving(), 0)
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  assert.equal(await moving(), 1)
})

const toStyle = (locator: Locator, name: 'outlineStyle' | 'backgroundColor') =>
  locator.evaluate(
    (element, property) => element.ownerDocument.defaultView?.getComputedStyle(element)[property],
    name,
  )

test('with forced colours, the row that the keyboard is on and the legend are shown', async () => {
  const { page } = await browser.open(service, 'dominios', { domainwatch: service.domainKey })
  await page.emulateMedia({ forcedColors: 'active' })
  await domainRow(page, 'libre').waitFor()
  await domainGrid(page).focus()
  await page.keyboard.press('ArrowDown')
  assert.equal(await toStyle(domainRow(page, 'libre'), 'outlineStyle'), 'solid')
  const keys = page.locator('.days .swatch')
  await keys.first().waitFor()
  assert.notEqual(
    await toStyle(keys.first(), 'backgroundColor'),
    await toStyle(keys.last(), 'backgroundColor'),
  )
})
