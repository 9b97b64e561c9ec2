/** Gestures that fail: their messages, and how to repeat them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { keyErrors } from '../../src/http/auth/authenticator.ts'
import { HttpError, commonErrors } from '../../src/lib/errors.ts'
import { startConsole } from '../support/console.ts'
import { domainRow, waitForExpression, toast, chooseMore, enterKey, openScreen } from '../support/browser.ts'
import { record, records, stored } from '../support/domains.ts'
import { errorResponse, holdRequests } from '../support/gate.ts'
import { gradient, ImageClient } from '../support/images.ts'

/** Answers with half a response. */
const endless = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"status":200,')
})

const { service, browser } = await startConsole()
await stored(
  service,
  ['casa', 'perro', 'sol'].map((name) => record(name)),
)

after(async () => {
  endless.close()
  endless.closeAllConnections()
})
const png = (height: number) => gradient(40, height).png().toBuffer()
const PAGE = { status: 200, contentType: 'text/html', body: '<h1>Inicie sesión</h1>' }

async function exportAsCsv(page: Page) {
  await chooseMore(page, 'Exportar CSV')
}

/** Pastes a key where a screen asks for one. */
async function enter(page: Page, key: string) {
  await enterKey(page, key)
}

test('an export with a revoked key says so and asks for another one', async () => {
  const { page } = await browser.open(service, 'dominios', {
    domainwatch: service.domainKey,
  })
  await domainRow(page, 'casa').waitFor()
  const gate = await holdRequests(page, 'domainwatch/export')
  await exportAsCsv(page)
  await (await gate.next()).answer(keyErrors.key_invalid())
  await toast(page, 'La clave de API no es válida').waitFor()
  await page.getByText('La clave de dominios ya no es válida. Pegue una nueva.').waitFor()
  await gate.open()
  await enter(page, service.domainKey)
  await domainRow(page, 'casa').waitFor()
  const saved = page.waitForEvent('download')
  await exportAsCsv(page)
  await saved
})

test('an upload with a revoked key asks for another one, and is repeated with that', async () => {
  const { key, id } = await service.newKey('fotos', 'imagestore')
  const { key: next } = await service.newKey('fotos', 'imagestore')
  const { page } = await browser.open(service, 'imagenes', { imagestore: key })
  await page.getByText('Todavía no hay imágenes').waitFor()
  // Not before: another request may find first that the key was revoked, and take the field away.
  await page.route('**/imagestore/tickets?*', async (route) => {
    await service.revokeKey(id)
    await route.continue()
  })
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'roja.png', mimeType: 'image/png', buffer: await png(20) })
  await page.getByText('La clave de imágenes ya no es válida. Pegue una nueva.').waitFor()
  await enter(page, next)
  await page.getByText('1 no se pudo subir').waitFor()
  await page.getByRole('button', { name: 'Reintentar' }).click()
  await page.getByText('1 imagen subida').waitFor()
  const { body } = await new ImageClient(service.url, next).list()
  assert.partialDeepStrictEqual(body, { data: [{ name: 'roja.png' }] })
})

test('deleting images tells those that a colleague deleted, and does not take an unknown address for that', async () => {
  const client = new ImageClient(service.url, service.imageKey)
  await client.upload(await png(21), { name: 'verde.png' })
  const { body } = await client.upload(await png(22), { name: 'azul.png' })
  const { page } = await browser.open(service, 'imagenes', {
    imagestore: service.imageKey,
  })
  for (const name of ['verde.png', 'azul.png'])
    await page.getByRole('checkbox', { name: `Seleccionar ${name}` }).click()
  const confirm = () =>
    page.locator('.selection').getByRole('button', { name: 'Enviar a la papelera' }).click()
  await page.route('**/imagestore/trash?*', (route) =>
    route.fulfill({ status: 404, contentType: 'text/html', body: '<h1>404</h1>' }),
  )
  await confirm()
  await toast(page, 'No se pudo enviar').filter({ hasText: 'No existe. y 1 más' }).waitFor()
  await page.unroute('**/imagestore/trash?*')
  await page.getByRole('region', { name: '2 seleccionadas' }).waitFor()
  await client.remove(String(body['hash']))
  await confirm()
  await toast(page, '1 imagen en la papelera. 1 imagen ya estaba borrada').waitFor()
})

test('a deletion whose answer was lost is not taken for that of a colleague', async () => {
  const client = new ImageClient(service.url, service.imageKey)
  const { body } = await client.upload(await png(23), { name: 'gris.png' })
  await fetch(client.endpoint('trash', { hash: String(body['hash']) }), { method: 'POST' })
  const { page } = await browser.open(service, 'imagenes?papelera', { imagestore: service.imageKey })
  await page.getByRole('checkbox', { name: 'Seleccionar gris.png' }).click()
  const gate = await holdRequests(page, 'imagestore/delete')
  await page.locator('.selection').getByRole('button', { name: 'Borrar definitivamente' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Borrar definitivamente' }).click()
  await (await gate.next()).loseAnswer()
  await (await gate.next()).pass()
  await toast(page, '1 imagen borrada').waitFor()
})

test('a failure goes when another gesture succeeds, once there was time to read it, or when the change is repeated', async () => {
  const { page } = await browser.open(service, 'dominios', { domainwatch: service.domainKey })
  await domainRow(page, 'casa').click()
  await page.getByRole('complementary').waitFor()
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 1_000)
  const press = (name: string) => page.getByRole('complementary').getByRole('button', { name }).click()
  const failure = toast(page, 'No se pudo descartar casa.cl')
  const fail = async () => {
    await page.route('**/domainwatch/update?*', (route) => route.fulfill(PAGE), { times: 1 })
    await press('Descartar')
    await failure.waitFor()
  }
  await fail()
  await domainRow(page, 'perro').click()
  // The details come with the clock.
  await page.clock.runFor(200)
  await press('Revisión')
  await toast(page, '1 dominio en revisión: perro.cl').waitFor()
  assert.equal(await failure.count(), 1)
  await page.clock.runFor(2_000)
  await page.keyboard.press('z')
  await toast(page, 'Deshecho: perro.cl').waitFor()
  await failure.waitFor({ state: 'detached' })

  await domainRow(page, 'casa').click()
  await page.clock.runFor(200)
  await fail()
  await press('Descartar')
  await toast(page, '1 dominio descartado: casa.cl').waitFor()
  await failure.waitFor({ state: 'detached' })
  await page.keyboard.press('z')
  await toast(page, 'Deshecho: casa.cl').waitFor()
})

test('a page of a proxy in place of a response is a failure', async () => {
  const { page } = await browser.open(service, 'dominios', { domainwatch: service.domainKey })
  await domainRow(page, 'casa').locator('.pick').click()
  await page.route('**/domainwatch/update?*', (route) => route.fulfill(PAGE))
  await page.locator('.selection').getByRole('button', { name: 'Descartar' }).click()
  await toast(page, 'No se pudo descartar casa.cl').filter({ hasText: 'no vino del servicio' }).waitFor()
  await page.route('**/domainwatch/export?*', (route) => route.fulfill(PAGE))
  await exportAsCsv(page)
  await page.getByText(/^La respuesta no vino del servicio/).waitFor()
  assert.equal((await records(service, { search: 'casa' }))[0]?.discarded, 0)
})

test('a mark that a revoked key could not store is reported on the screen that asks for another key', async () => {
  const { key } = await service.newKey('Carla', 'domainwatch')
  const { page } = await browser.open(service, 'dominios', { domainwatch: key })
  await domainRow(page, 'perro').locator('.pick').click()
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.locator('.selection').getByRole('button', { name: 'Descartar' }).click()
  await (await gate.next()).answer(keyErrors.key_invalid())
  await page.getByText('La clave de dominios ya no es válida. Pegue una nueva.').waitFor()
  await toast(page, 'No se pudo descartar perro.cl: La clave de API no es válida').waitFor()
  await enter(page, service.domainKey)
  await domainRow(page, 'perro').waitFor()
  assert.equal(await domainRow(page, 'perro').getByText('Descartado').count(), 0)
})

test('a revoked key of one service takes neither a new key of another from the page, nor what can be undone', async () => {
  const { key: imageKey, id } = await service.newKey('tienda', 'imagestore')
  const { key: admin } = await service.newKey('dueña', 'admin')
  const keys = { domainwatch: service.domainKey, imagestore: imageKey, admin }
  const { page } = await browser.open(service, 'imagenes', keys)
  await page.getByText('Todavía no hay imágenes').waitFor()
  const upload = Promise.withResolvers<Route>()
  await page.route('**/imagestore/tickets?*', upload.resolve)
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'roja.png', mimeType: 'image/png', buffer: await png(24) })
  await openScreen(page, 'Dominios')
  await domainRow(page, 'sol').locator('.pick').click()
  await page.locator('.selection').getByRole('button', { name: 'Descartar' }).click()
  await toast(page, '1 dominio descartado: sol.cl').waitFor()
  await openScreen(page, 'Claves')
  await page.getByRole('button', { name: 'Nueva clave' }).click()
  await page.getByRole('dialog').getByLabel('Cuenta').fill('nueva')
  await page.getByRole('dialog').getByRole('button', { name: 'Crear' }).click()
  const shown = page.getByRole('dialog', { name: /nueva/ })
  await shown.locator('.secret').waitFor()
  await service.revokeKey(id)
  const refused = page.waitForResponse((response) => response.url().includes('/imagestore/tickets'))
  await (await upload.promise).continue()
  await (await refused).finished()
  await shown.locator('.secret').waitFor()
  await shown.getByRole('button', { name: 'Ya lo guardé' }).click()
  await openScreen(page, 'Imágenes')
  await page.getByText('La clave de imágenes ya no es válida. Pegue una nueva.').waitFor()
  await openScreen(page, 'Dominios')
  await domainRow(page, 'sol').getByText('Descartado').waitFor()
  await page.keyboard.press('z')
  await toast(page, 'Deshecho: sol.cl').waitFor()
})

test('a tag that could not be saved is in its field again', async () => {
  const { page } = await browser.open(service, 'dominios?ficha=casa', {
    domainwatch: service.domainKey,
  })
  const field = page.getByRole('combobox', { name: 'Etiquetas' })
  const gate = await holdRequests(page, 'domainwatch/update')
  await field.fill('costa')
  await field.press('Enter')
  await (await gate.next()).answer(commonErrors.overloaded())
  await toast(page, 'El servicio está ocupado').waitFor()
  await waitForExpression(page, "document.querySelector('.tag-field input').value === 'costa'")
  await gate.open()
  await field.press('Enter')
  await page.getByRole('button', { name: 'Quitar la etiqueta costa' }).waitFor()
})

test('a tag that is refused because 200 changes are waiting stays in its field', async () => {
  const { page } = await browser.open(service, 'dominios?ficha=casa', {
    domainwatch: service.domainKey,
  })
  const field = page.getByRole('combobox', { name: 'Etiquetas' })
  await field.waitFor()
  await holdRequests(page, 'domainwatch/update')
  await page.getByRole('heading', { name: 'casa.cl' }).focus()
  for (let i = 0; i < 200; i++) await page.keyboard.press('r')
  await field.fill('playa')
  await field.press('Enter')
  await toast(page, 'Hay demasiadas acciones en curso').waitFor()
  assert.equal(await field.inputValue(), 'playa')
})

test('leaving a screen while its answer arrives does not count as a lost connection', async () => {
  endless.listen(0, '127.0.0.1')
  await once(endless, 'listening')
  const address = endless.address()
  assert.ok(typeof address === 'object' && address !== null)
  const { page } = await browser.open(service, 'claves', {
    domainwatch: service.domainKey,
  })
  await page.route('**/domainwatch/list?*', (route) =>
    route.continue({ url: `http://127.0.0.1:${address.port}` }),
  )
  await page.evaluate(
    `new MutationObserver(() => { if (document.body.innerText.includes('Sin conexión')) globalThis.wasLost = true })
      .observe(document.body, { childList: true, subtree: true })`,
  )
  await page.evaluate(
    `{ const ask = fetch
      globalThis.fetch = async (...request) => {
        const response = await ask(...request)
        if (String(request[0]).includes('domainwatch/list')) globalThis.hasBegun = true
        return response
      } }`,
  )
  await openScreen(page, 'Dominios')
  await waitForExpression(page, 'globalThis.hasBegun === true')
  await openScreen(page, 'Estadísticas')
  await page.getByRole('heading', { name: 'Estadísticas', level: 1 }).waitFor()
  assert.equal(await page.evaluate('globalThis.wasLost === true'), false)
})

test('failures stay until they were shown for 30 seconds, also behind three others, in a hidden tab and under the pointer', async () => {
  const names = ['fallo-a', 'fallo-b', 'fallo-c', 'fallo-d']
  await stored(
    service,
    names.map((name) => record(name)),
  )
  const { page } = await browser.open(service, 'dominios?starts=fallo', {
    domainwatch: service.domainKey,
  })
  await domainRow(page, 'fallo-a').waitFor()
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 1_000)
  await page.route('**/domainwatch/update?*', (route) =>
    route.fulfill(errorResponse(new HttpError(400, 'impossible', 'No se puede'))),
  )
  const shown = page.locator('.toast.fault')
  for (const [i, name] of names.entries()) {
    await domainRow(page, name).click({ modifiers: ['ControlOrMeta'] })
    await page.keyboard.press('r')
    await shown.nth(i).waitFor()
    await page.keyboard.press('Escape')
  }
  const show = (isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} })
      document.dispatchEvent(new Event('visibilitychange'))`)
  await show(true)
  await page.clock.runFor(60_000)
  await show(false)
  await page.clock.runFor(29_000)
  assert.equal(await shown.count(), 4)
  await shown.first().hover()
  await page.clock.runFor(10_000)
  assert.equal(await shown.count(), 4)
  await page.mouse.move(0, 0)
  await page.clock.runFor(30_000)
  assert.equal(await shown.count(), 0)
})
