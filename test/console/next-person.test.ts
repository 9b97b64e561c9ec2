import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startConsole } from '../support/console.ts'
import { record, records, stored } from '../support/domains.ts'
import { holdRequests } from '../support/gate.ts'

const { service, browser } = await startConsole()
const otherKey = (await service.newKey('otra', 'domainwatch')).key
for (const key of [service.domainKey, otherKey]) {
  await stored(service, [record('bravo', { date_reg: '2025-01-01 00:00:00' })], { key })
  await stored(service, [record('alfa', { date_reg: '2025-01-02 00:00:00' })], { key })
}

test('marks in progress at sign-out are stored for their author, and the next user cannot undo them', async () => {
  const { page, context, complaints } = await browser.open(service, 'dominios', {
    domainwatch: service.domainKey,
  })
  const toast = (text: string) => page.locator('.toast').filter({ hasText: text })
  const grid = page.getByRole('grid', { name: 'Dominios' })
  const row = (name: string) => grid.getByRole('row').filter({ hasText: `${name}.cl` })
  await row('alfa').waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  await grid.focus()
  await page.keyboard.press('d')
  const first = await gate.next()
  // Waits for the one before.
  await page.keyboard.press('r')
  await row('alfa').getByText('Revisión').waitFor()

  await page.getByRole('button', { name: 'Mi sesión' }).click()
  await page.getByRole('button', { name: 'Salir' }).click()
  await page.getByLabel('Clave de API').fill(otherKey)
  await page.getByRole('button', { name: 'Entrar' }).click()
  await row('alfa').waitFor()
  assert.equal(await row('alfa').getByText('Descartado').count(), 0)
  await first.pass()
  await (await gate.next()).pass()
  await gate.open()
  await page.locator('.table-row.pending').waitFor({ state: 'detached' })
  await page.keyboard.press('z')
  await toast('No hay nada que deshacer').waitFor()
  const marks = async (key?: string) =>
    (await records(service, { search: 'alfa', ...(key === undefined ? {} : { api: key }) })).map((one) => [
      one.revision,
      one.discarded,
    ])
  assert.deepEqual(await marks(), [[1, 1]])
  assert.deepEqual(complaints, [])
  await context.close()
})

test('two clicks on one row are one history entry', async () => {
  const { page, context } = await browser.open(service, 'dominios', { domainwatch: service.domainKey })
  const grid = page.getByRole('grid', { name: 'Dominios' })
  await grid.getByText('bravo.cl', { exact: true }).dblclick()
  const sheet = page.getByRole('complementary', { name: 'Detalles de bravo.cl' })
  await sheet.waitFor()
  await page.goBack()
  await sheet.waitFor({ state: 'detached' })
  await context.close()
})
