/** Uploads on a service that is slow, away, or refuses, while their reader does something else. */
import { imageErrors } from '../../src/imagestore/errors.ts'
import { startConsole } from '../support/console.ts'
import { errorResponse } from '../support/gate.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { gradient, ImageClient } from '../support/images.ts'

const { service, browser } = await startConsole()
const UPLOAD = '**/u/*'
const open = () => browser.open(service, 'imagenes', { imagestore: service.imageKey })

async function pictures(stem: string, width: number, count: number) {
  const made = Array.from({ length: count }, async (_, i) => ({
    name: `${stem}-${i}.png`,
    mimeType: 'image/png',
    buffer: await gradient(width, 20 + i)
      .png()
      .toBuffer(),
  }))
  return Promise.all(made)
}

test('uploads continue on other screens, on a slow service, while another member works', async () => {
  const { page, context, complaints } = await open()
  const gate = Promise.withResolvers<void>()
  await page.route(UPLOAD, async (route) => {
    await gate.promise
    await route.continue()
  })
  await page.locator('input[type=file]').setInputFiles(await pictures('lenta', 40, 4))
  const task = page.getByRole('link', { name: /^Subiendo \d/ })
  await task.waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Almacenamiento' }).click()
  await page.getByRole('heading', { name: 'Almacenamiento', level: 1 }).waitFor()
  const other = new ImageClient(service.url, service.imageKey)
  await other.upload(await gradient(41, 20).png().toBuffer(), { name: 'de-otra-persona.png' })
  gate.resolve()
  await task.waitFor({ state: 'detached' })
  await page.getByRole('navigation').getByRole('link', { name: 'Imágenes', exact: true }).click()
  await page.getByText('4 imágenes subidas').waitFor()
  await page.getByText('5 imágenes', { exact: true }).waitFor()
  assert.deepEqual(complaints, [])
  await context.close()
})

test('failed uploads can be retried, and the browser asks before the page is closed', async () => {
  const { page, context, complaints } = await open()
  let sent = 0
  await page.route(UPLOAD, (route) => {
    sent++
    // The first, whose line breaks, is repeated when the service responds again: it is the third.
    if (sent === 1) return route.abort()
    if (sent === 2) return route.fulfill(errorResponse(imageErrors.image_too_large(1)))
    // The fourth hangs.
    return sent === 4 ? undefined : route.continue()
  })
  await page.locator('input[type=file]').setInputFiles(await pictures('fallida', 50, 2))
  const list = page.getByRole('region', { name: 'Subidas' })
  await list.getByText('La imagen supera el máximo de 1 bytes').waitFor()
  await list.getByText('1 no se pudo subir').waitFor()
  await list.getByText('1 imagen subida').waitFor()
  // Nothing is under way: nobody is kept on the page.
  await page.locator('input[type=file]').setInputFiles(await pictures('colgada', 60, 1))
  await page.getByRole('link', { name: 'Subiendo 1 imagen' }).waitFor()
  const asked = page.waitForEvent('dialog')
  await page.evaluate('void setTimeout(() => location.reload())')
  assert.equal((await asked).type(), 'beforeunload')
  await list.getByRole('button', { name: 'Reintentar' }).click()
  await list.getByText('2 imágenes subidas').waitFor()
  assert.equal(sent, 5)
  const { body } = await new ImageClient(service.url, service.imageKey).list({ search: 'fallida' })
  assert.equal(body['count'], 2)
  assert.deepEqual(complaints, ['dialog: '])
  await context.close()
})

test('uploads that are refused for their number wait as long as the service says, and are sent again', async () => {
  const { page, context } = await open()
  let refusals = 0
  await page.route(UPLOAD, (route) => {
    if (refusals++ >= 2) return route.continue()
    const json = { status: 429, msg: 'Demasiadas solicitudes' }
    return route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json })
  })
  await page.locator('input[type=file]').setInputFiles(await pictures('muchas', 70, 2))
  const list = page.getByRole('region', { name: 'Subidas' })
  await list.getByText('2 imágenes subidas').waitFor()
  assert.equal(await list.getByText('no se', { exact: false }).count(), 0)
  await context.close()
})

test('an upload that makes no progress is repeated', async () => {
  const { page, context } = await open()
  await page.clock.install()
  let sent = 0
  await page.route(UPLOAD, (route) => (++sent === 1 ? undefined : route.continue()))
  await page.locator('input[type=file]').setInputFiles(await pictures('pausada', 75, 1))
  await eventually(() => sent === 1, 'the upload')
  await page.clock.fastForward(125_000)
  await page.getByRole('region', { name: 'Subidas' }).getByText('1 imagen subida').waitFor()
  assert.equal(sent, 2)
  await context.close()
})

test('a dropped folder fails with the reason, and is not taken for a lost connection', async () => {
  const { page, context, complaints } = await open()
  await page.getByRole('heading', { name: 'Imágenes', level: 1 }).waitFor()
  await using folder = await temporaryFolder()
  const hand = await context.newCDPSession(page)
  const data = { items: [], files: [folder.path], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await hand.send('Input.dispatchDragEvent', { type, x: 700, y: 500, data })
  const list = page.getByRole('region', { name: 'Subidas' })
  await list.getByText('No se pudo leer el archivo. Si es una carpeta, suelte lo que contiene.').waitFor()
  assert.equal(await page.locator('.lost').textContent(), '')
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a text that is dropped is left to the field where it falls', async () => {
  const { page, context } = await open()
  await page.getByRole('heading', { name: 'Imágenes', level: 1 }).waitFor()
  const isLeft = await page.evaluate(`{
    const dataTransfer = new DataTransfer()
    dataTransfer.setData('text/plain', 'faro')
    document.querySelector('input[type=search]').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
  }`)
  assert.equal(isLeft, true)
  await context.close()
})

test('uploads are stopped from the bar, and sent again on request', async () => {
  const { page, context, complaints } = await open()
  let sent = 0
  // The first three hang.
  await page.route(UPLOAD, (route) => (++sent > 3 ? route.continue() : undefined))
  await page.locator('input[type=file]').setInputFiles(await pictures('detenida', 80, 5))
  await eventually(() => sent === 3, 'three uploads')
  await page.getByRole('button', { name: 'Detener: Subiendo 5 imágenes' }).click()
  const list = page.getByRole('region', { name: 'Subidas' })
  await list.getByText('5 no se pudieron subir').waitFor()
  assert.equal(await list.getByText('Detenida', { exact: true }).count(), 5)
  assert.equal(await page.getByRole('link', { name: /^Subiendo/ }).count(), 0)
  await list.getByRole('button', { name: 'Reintentar' }).click()
  await list.getByText('5 imágenes subidas').waitFor()
  assert.deepEqual(complaints, [])
  await context.close()
})

test('the gallery stays as it is until the last upload has ended', async () => {
  const { page, context } = await open()
  await page
    .getByRole('status')
    .filter({ hasText: /imágenes$/ })
    .first()
    .waitFor()
  let lists = 0
  page.on('request', (request) => {
    if (request.url().includes('/imagestore/list?')) lists++
  })
  const gate = Promise.withResolvers<void>()
  let sent = 0
  await page.route(UPLOAD, async (route) => {
    if (++sent === 3) await gate.promise
    await route.continue()
  })
  await page.locator('input[type=file]').setInputFiles(await pictures('quieta', 90, 3))
  const list = page.getByRole('region', { name: 'Subidas' })
  await list.getByText('2 imágenes subidas').waitFor()
  gate.resolve()
  await page
    .getByRole('img', { name: /^quieta-\d.png$/ })
    .nth(2)
    .waitFor()
  assert.equal(lists, 1)
  await context.close()
})

test('a sign-out that would lose uploads, or names that are to be added, asks before', async () => {
  const { page, context, complaints } = await browser.open(service, 'imagenes', {
    domainwatch: service.domainKey,
    imagestore: service.imageKey,
  })
  const dialog = page.getByRole('dialog', { name: '¿Salir y perder lo que falta?' })
  const signOut = async () => {
    await page.getByRole('button', { name: 'Mi sesión' }).click()
    await page.getByRole('button', { name: 'Salir', exact: true }).click()
  }
  const gate = Promise.withResolvers<void>()
  await page.route(UPLOAD, async (route) => {
    await gate.promise
    await route.continue()
  })
  const asked = page.waitForRequest(/\/u\//)
  await page.locator('input[type=file]').setInputFiles(await pictures('pendiente', 42, 1))
  await asked
  await signOut()
  await dialog.getByRole('button', { name: 'Cancelar' }).click()
  gate.resolve()
  await page.getByText('1 imagen subida').waitFor()

  await page.goto(`${service.url}/console/agregar`)
  await page.getByRole('textbox', { name: 'Nombres' }).fill('coihue')
  await page.getByText('1 nuevo', { exact: true }).waitFor()
  await signOut()
  await dialog.getByRole('button', { name: 'Salir igual' }).click()
  await page.getByLabel('Clave de API').waitFor()
  assert.deepEqual(complaints, [])
  await context.close()
})
