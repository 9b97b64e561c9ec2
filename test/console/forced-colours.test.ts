import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import { domainGrid, domainRow, startBrowser } from '../support/browser.ts'
import { record, stored } from '../support/domains.ts'
import { startService } from '../support/service.ts'

const toStyle = (locator: Locator, name: 'outlineStyle' | 'backgroundColor') =>
  locator.evaluate(
    (element, property) => element.ownerDocument.defaultView?.getComputedStyle(element)[property],
    name,
  )

test('with forced colours, the row that the keyboard is on and the legend are shown', async () => {
  await using service = await startService()
  await using browser = await startBrowser()
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  await stored(service, [record('casa', { date_reg: `${yesterday} 12:00:00` })])
  const { page } = await browser.open(service, 'dominios', { domainwatch: service.domainKey })
  await page.emulateMedia({ forcedColors: 'active' })
  await domainRow(page, 'casa').waitFor()
  await domainGrid(page).focus()
  await page.keyboard.press('ArrowDown')
  assert.equal(await toStyle(domainRow(page, 'casa'), 'outlineStyle'), 'solid')
  const keys = page.locator('.days .key')
  await keys.first().waitFor()
  assert.notEqual(
    await toStyle(keys.first(), 'backgroundColor'),
    await toStyle(keys.last(), 'backgroundColor'),
  )
})
