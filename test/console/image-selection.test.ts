import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { imageErrors } from '../../src/imagestore/errors.ts'
import { commonErrors } from '../../src/lib/errors.ts'
import { startConsole } from '../support/console.ts'
import { toast, resultCount, openScreen, showsCount } from '../support/browser.ts'
import { holdRequests } from '../support/gate.ts'
import { answerOf, ImageClient, noise, stamped } from '../support/images.ts'

/** More than a page of the list. */
const COUNT = 205

const { service, browser } = await startConsole()
const client = new ImageClient(service.url, service.imageKey)
const picture = await noise(30, 20).png().toBuffer()
for (let i = COUNT - 1; i >= 0; i--) {
  const { status } = await client.upload(stamped(picture, String(i)), { name: `foto-${i}.png` })
  assert.equal(status, 200)
}

const open = () => browser.open(service, 'imagenes', { imagestore: service.imageKey })
const box = (page: Page, name: string) => page.getByLabel(`Seleccionar ${name}`, { exact: true })
const bar = (page: Page, count: string) => page.getByRole('region', { name: count, exact: true })
/** The names in the order of the gallery. */
async function listed(): Promise<readonly string[]> {
  const { body } = await answerOf(await fetch(client.endpoint('list', { limit: '1024' })))
  assert.ok(Array.isArray(body['data']))
  return body['data'].map(({ name }) => String(name))
}

async function scrollTo(page: Page, name: string) {
  while ((await box(page, name).count()) === 0) {
    await page.mouse.wheel(0, 2_000)
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
  }
  await box(page, name).scrollIntoViewIfNeeded()
}

test('a range selects all images between, by boxes or pictures, across pages loaded while scrolling', async () => {
  const names = await listed()
  const nameAt = (index: number) => names[index] ?? ''
  const { page } = await open()
  await resultCount(page, `${COUNT} imágenes`).waitFor()
  assert.equal(await page.getByText('o más').count(), 0)
  await box(page, nameAt(0)).click()
  await box(page, nameAt(9)).click({ modifiers: ['Shift'] })
  await bar(page, '10 seleccionadas').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('img', { name: nameAt(2), exact: true }).click({ modifiers: ['Control'] })
  await page.getByRole('img', { name: nameAt(6), exact: true }).click({ modifiers: ['Shift'] })
  await bar(page, '5 seleccionadas').waitFor()
  await page.getByRole('button', { name: 'Quitar selección' }).click()
  // By keys: the space key with Shift on the focused box.
  await box(page, nameAt(1)).focus()
  await page.keyboard.press('Space')
  await scrollTo(page, nameAt(COUNT - 1))
  await box(page, nameAt(COUNT - 1)).focus()
  await page.keyboard.press('Shift+Space')
  await bar(page, `${COUNT - 1} seleccionadas`).waitFor()
})

test('deleting many tells images that were gone already; failures stay selected with the reason', async () => {
  const names = await listed()
  const [first = '', second = '', third = ''] = names
  const { page } = await open()
  await box(page, first).click()
  await box(page, third).click({ modifiers: ['Shift'] })
  const gate = await holdRequests(page, 'imagestore/trash')
  await bar(page, '3 seleccionadas').getByRole('button', { name: 'Enviar a la papelera' }).click()
  const one = await gate.next()
  await toast(page, 'Enviando a la papelera… 0 de 3').waitFor()
  await showsCount(page.locator('.tile.going'), 3)
  await one.answer(imageErrors.image_not_found())
  await (await gate.next()).answer(commonErrors.overloaded())
  await (await gate.next()).pass()
  await toast(
    page,
    `1 imagen en la papelera. 1 imagen ya estaba borrada. No se pudo enviar ${second} a la papelera: El servicio está ocupado. Espere un momento`,
  ).waitFor()
  await bar(page, '1 seleccionada').waitFor()
  assert.equal(await box(page, second).isChecked(), true)
  await box(page, third).waitFor({ state: 'detached' })
  assert.deepEqual(
    await listed(),
    names.filter((name) => name !== third),
  )
})

test('two concurrent deletions on a slow service each show their own outcome', async () => {
  const [first = '', second = ''] = await listed()
  const { page } = await open()
  const gate = await holdRequests(page, 'imagestore/trash')
  for (const name of [first, second]) {
    await box(page, name).click()
    await bar(page, '1 seleccionada').getByRole('button', { name: 'Enviar a la papelera' }).click()
  }
  const held = [await gate.next(), await gate.next()]
  await held[1]?.pass()
  await box(page, second).waitFor({ state: 'detached' })
  await held[0]?.pass()
  await box(page, first).waitFor({ state: 'detached' })
  const left = await listed()
  assert.equal(left.includes(first) || left.includes(second), false)
})

test('images that were scrolled out of sight before they arrived are no longer fetched', async () => {
  const { page } = await browser.open(service, 'espacio', { imagestore: service.imageKey })
  await page.route('**/i/**', () => undefined)
  const first = page.waitForRequest('**/i/**')
  await openScreen(page, 'Imágenes')
  const asked = await first
  const cancelled = page.waitForEvent('requestfailed', (request) => request === asked)
  await page.locator('.tile').first().waitFor()
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  await cancelled
})

test('the trash is emptied of all its images after a confirmation', async () => {
  await service.sql('UPDATE images SET trashed_at = date')
  await client.upload(await noise(17, 17).png().toBuffer(), { name: 'queda.png' })
  const { page } = await browser.open(service, 'imagenes?papelera', { imagestore: service.imageKey })
  await page.getByRole('button', { name: 'Vaciar la papelera' }).click()
  const dialog = page.getByRole('dialog', { name: /^¿Borrar 20\d imágenes definitivamente\?$/ })
  await dialog.getByText('No se puede deshacer.').waitFor()
  await dialog.getByRole('button', { name: 'Borrar definitivamente' }).click()
  await page.getByText('La papelera está vacía').waitFor()
  assert.equal((await client.list({ trash: '1' })).body['total'], 0)
  assert.equal((await client.list()).body['total'], 1)
})
