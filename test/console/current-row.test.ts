import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { domainGrid, domainRow } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { record, records, stored, update } from '../support/domains.ts'

/** In the order of the table: registered on ever earlier days. */
const NAMES = Array.from({ length: 60 }, (_, i) => `veterinaria${String(i).padStart(2, '0')}`)
const nameAt = (index: number) => NAMES[index] ?? ''

const { service, browser } = await startConsole()
await stored(
  service,
  NAMES.map((name, i) => record(name, { date_reg: `2026-01-10 10:00:${String(59 - i).padStart(2, '0')}` })),
)

const open = () =>
  browser.open(service, 'dominios?search=veterinaria', { domainwatch: service.domainKey }, { height: 700 })
const discarded = async () => (await records(service, { discarded: 1 })).map(({ name }) => name)
const activeRow = (page: Page, name: string) =>
  domainGrid(page).locator('.table-row.active').getByText(`${name}.cl`, { exact: true })
const toast = (page: Page, text: string) => page.locator('.toast').filter({ hasText: text })

test('keys act on the highlighted row from the load on, and after a click on a filter', async () => {
  const { page, context, complaints } = await open()
  await activeRow(page, nameAt(0)).waitFor()
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowDown')
  await activeRow(page, nameAt(3)).waitFor()
  await page.keyboard.press('d')
  await toast(page, `1 dominio descartado: ${nameAt(3)}.cl`).waitFor()
  assert.deepEqual(await discarded(), [nameAt(3)])
  await page.getByRole('button', { name: /^Inscrito/ }).click()
  await activeRow(page, nameAt(0)).waitFor()
  await page.keyboard.press('ArrowDown')
  await activeRow(page, nameAt(1)).waitFor()
  await page.keyboard.press('Control+a')
  await page.getByRole('region', { name: `${NAMES.length} seleccionados` }).waitFor()
  await update(service, [{ domain: nameAt(3), discarded: 0 }])
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a key brings a row that was scrolled away back into sight, and only then acts on it', async () => {
  const { page, context, complaints } = await open()
  await activeRow(page, nameAt(0)).waitFor()
  await domainGrid(page).hover()
  await page.mouse.wheel(0, 1_500)
  await domainRow(page, nameAt(0)).waitFor({ state: 'detached' })
  await page.keyboard.press('d')
  await activeRow(page, nameAt(0)).waitFor()
  assert.deepEqual(await discarded(), [])
  await page.keyboard.press('d')
  await toast(page, `1 dominio descartado: ${nameAt(0)}.cl`).waitFor()
  assert.deepEqual(await discarded(), [nameAt(0)])
  await update(service, [{ domain: nameAt(0), discarded: 0 }])
  assert.deepEqual(complaints, [])
  await context.close()
})
