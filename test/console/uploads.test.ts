/** Uploads on a service that is slow, away, or refuses; what others may upload by tickets, and what nobody may. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { imageErrors } from '../../src/imagestore/errors.ts'
import { startConsole } from '../support/console.ts'
import { errorResponse } from '../support/gate.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { gradient, ImageClient, postBytes, noise } from '../support/images.ts'
import { sql } from '../../src/storage/database/sql.ts'
import {
  accessibilityViolations,
  copyWith,
  resultCount,
  openScreen,
  chooseMore,
  signOut,
  showsCount,
  toast,
} from '../support/browser.ts'

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
  const { page } = await open()
  const gate = Promise.withResolvers<void>()
  await page.route(UPLOAD, async (route) => {
    await gate.promise
    await route.continue()
  })
  await page.locator('input[type=file]').setInputFiles(await pictures('lenta', 40, 4))
  const task = page.getByRole('link', { name: /^Subiendo \d/ })
  await task.waitFor()
  await openScreen(page, 'Almacenamiento')
  await page.getByRole('heading', { name: 'Almacenamiento', level: 1 }).waitFor()
  const other = new ImageClient(service.url, service.imageKey)
  await other.upload(await gradient(41, 20).png().toBuffer(), { name: 'de-otra-persona.png' })
  gate.resolve()
  await task.waitFor({ state: 'detached' })
  await openScreen(page, 'Imágenes')
  await page.getByRole('region', { name: 'Subidas' }).getByText('4 imágenes subidas').waitFor()
  await resultCount(page, '5 imágenes').waitFor()
})

test('failed uploads can be retried, and the browser asks before the page is closed', async () => {
  const { page } = await open()
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
})

test('uploads that are refused for their number wait as long as the service says, and are sent again', async () => {
  const { page } = await open()
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
  const { page, context } = await open()
  await page.getByRole('heading', { name: 'Imágenes', level: 1 }).waitFor()
  await using folder = await temporaryFolder()
  const hand = await context.newCDPSession(page)
  const data = { items: [], files: [folder.path], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await hand.send('Input.dispatchDragEvent', { type, x: 700, y: 500, data })
  const list = page.getByRole('region', { name: 'Subidas' })
  await list.getByText('No se pudo leer el archivo. Si es una carpeta, suelte lo que contiene.').waitFor()
  assert.equal(await page.locator('.lost').textContent(), '')
  // A text is left to the field where it falls.
  const isLeft = await page.evaluate(`{
    const dataTransfer = new DataTransfer()
    dataTransfer.setData('text/plain', 'faro')
    document.querySelector('input[type=search]').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
  }`)
  assert.equal(isLeft, true)
})

test('uploads are stopped from the bar, and sent again on request', async () => {
  const { page } = await open()
  let sent = 0
  // The first three hang.
  await page.route(UPLOAD, (route) => (++sent > 3 ? route.continue() : undefined))
  await page.locator('input[type=file]').setInputFiles(await pictures('detenida', 80, 5))
  await eventually(() => sent === 3, 'three uploads')
  await page.getByRole('button', { name: 'Detener: Subiendo 5 imágenes' }).click()
  const list = page.getByRole('region', { name: 'Subidas' })
  await list.getByText('5 no se pudieron subir').waitFor()
  await showsCount(list.getByText('Detenida', { exact: true }), 5)
  assert.equal(await page.getByRole('link', { name: /^Subiendo/ }).count(), 0)
  await list.getByRole('button', { name: 'Reintentar' }).click()
  await list.getByText('5 imágenes subidas').waitFor()
})

test('the gallery stays as it is until the last upload has ended', async () => {
  const { page } = await open()
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
})

test('a sign-out that would lose uploads, or names that are to be added, asks before', async () => {
  const { page } = await browser.open(service, 'imagenes', {
    domainwatch: service.domainKey,
    imagestore: service.imageKey,
  })
  const dialog = page.getByRole('dialog', { name: '¿Salir y perder lo que falta?' })
  const gate = Promise.withResolvers<void>()
  await page.route(UPLOAD, async (route) => {
    await gate.promise
    await route.continue()
  })
  const asked = page.waitForRequest(/\/u\//)
  await page.locator('input[type=file]').setInputFiles(await pictures('pendiente', 42, 1))
  await asked
  await signOut(page)
  await dialog.getByRole('button', { name: 'Cancelar' }).click()
  gate.resolve()
  await page.getByRole('region', { name: 'Subidas' }).getByText('1 imagen subida').waitFor()

  await page.goto(`${service.url}/console/agregar`)
  await page.getByRole('textbox', { name: 'Nombres' }).fill('coihue')
  await page.getByText('1 nuevo', { exact: true }).waitFor()
  await signOut(page)
  await dialog.getByRole('button', { name: 'Salir igual' }).click()
  await page.getByLabel('Clave de API').waitFor()
})

const client = new ImageClient(service.url, service.imageKey)

test('a ticket is created with its terms, of which the form shows refused ones, and its address is shown once', async () => {
  const { page, context } = await open()
  await chooseMore(page, 'Permiso de subida')
  const form = page.getByRole('dialog', { name: 'Permiso de subida', exact: true })
  await form.getByLabel('Duración').selectOption('1 día')
  await form.getByLabel('Imágenes que se pueden subir').fill('2')
  await form.getByLabel('Tamaño máximo de cada una (MB)').fill('0.01')
  await form.getByLabel('png').check()
  await form.getByLabel('webp').check()
  await form.getByLabel('Etiquetas').fill('x'.repeat(61))
  await form.getByLabel('Nombre de las imágenes').fill('visita.png')
  await form.getByLabel('Días hasta que las imágenes expiran').fill('30')
  assert.deepEqual(await accessibilityViolations(page), [])
  await form.getByRole('button', { name: 'Crear' }).click()
  await form.getByText(/1 a 60 caracteres/).waitFor()
  await form.getByLabel('Etiquetas').fill('visitas, verano')
  await form.getByRole('button', { name: 'Crear' }).click()
  const shown = page.getByRole('dialog', { name: 'Permiso de subida creado' })
  await shown.getByText('se muestra una sola vez').waitFor()
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const url = await copyWith(shown.getByRole('button', { name: 'Copiar', exact: true }))
  await shown.getByRole('button', { name: 'Ya lo guardé' }).click()
  await shown.waitFor({ state: 'detached' })

  const jpeg = await postBytes(url, await gradient(20, 20).jpeg().toBuffer())
  assert.equal(jpeg.code, 'ticket_type')
  const large = await postBytes(url, await noise(90, 90).png().toBuffer())
  assert.equal(large.code, 'ticket_bytes')
  for (const width of [21, 22])
    assert.equal((await postBytes(url, await gradient(width, 20).png().toBuffer())).status, 200)
  const spent = await postBytes(url, await gradient(23, 20).png().toBuffer())
  assert.equal(spent.code, 'ticket_spent')
  const { body } = await client.list({ tag: 'verano' })
  assert.partialDeepStrictEqual(body, { total: 2, data: [{ name: 'visita.png' }, { name: 'visita.png' }] })
  const rows = await service.app.context.database.all(
    sql<{ days: number }>`SELECT (expires - date) / 86400 AS days FROM images WHERE name = 'visita.png'`,
  )
  assert.ok(rows.length === 2 && rows.every(({ days }) => days >= 29 && days <= 30))
})

test('banned images go to the trash, are refused with what looks like them, and can be allowed again', async () => {
  const source = await noise(64, 48).resize(320, 240).png().toBuffer()
  const { body } = await client.upload(source, { name: 'prohibida.png' })
  const copy = await sharp(source).webp({ quality: 80 }).toBuffer()
  const { page } = await open()
  await page.getByLabel('Seleccionar prohibida.png').check()
  await page.locator('.selection').getByRole('button', { name: 'Bloquear' }).click()
  const dialog = page.getByRole('dialog', { name: '¿Bloquear 1 imagen?' })
  await dialog.getByLabel('Lo que también se bloquea').selectOption('También lo parecido')
  assert.deepEqual(await accessibilityViolations(page), [])
  await dialog.getByRole('button', { name: 'Bloquear' }).click()
  await toast(page, '1 imagen en la papelera').waitFor()
  await page.getByRole('img', { name: 'prohibida.png' }).waitFor({ state: 'detached' })
  const { body: bans } = await client.call('GET', 'bans')
  assert.partialDeepStrictEqual(bans, { data: [{ hash: body['hash'], dhash: body['dhash'], distance: 8 }] })

  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'copia.webp', mimeType: 'image/webp', buffer: copy })
  const list = page.getByRole('region', { name: 'Subidas' })
  await list.getByText('La imagen está bloqueada').waitFor()
  await chooseMore(page, 'Imágenes bloqueadas')
  const bansDialog = page.getByRole('dialog', { name: 'Imágenes bloqueadas' })
  await bansDialog.getByText('Hasta 8 de 64 bits distintos').waitFor()
  // The image is in the trash, so that its hash stands for it.
  await bansDialog.locator('.mono', { hasText: String(body['hash']) }).waitFor()
  await bansDialog.getByRole('button', { name: 'Copiar', exact: true }).waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.keyboard.press('Escape')
  const restored = await client.call('POST', 'trash', { hash: String(body['hash']), restore: '1' })
  assert.equal(restored.status, 200)
  await chooseMore(page, 'Imágenes bloqueadas')
  await bansDialog.getByRole('img', { name: String(body['hash']) }).waitFor()
  await bansDialog.getByRole('button', { name: `Desbloquear ${String(body['hash'])}` }).click()
  await bansDialog.getByText('No hay imágenes bloqueadas').waitFor()
  await page.keyboard.press('Escape')
  await list.getByRole('button', { name: 'Reintentar' }).click()
  await list.getByText('1 imagen subida').waitFor()
})

test('the address of the uploader is recorded, and similar images are counted', async () => {
  const source = await noise(64, 48).resize(300, 200).png().toBuffer()
  await client.upload(await sharp(source).webp({ quality: 90 }).toBuffer(), { name: 'original.webp' })
  const { page } = await open()
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'desde-aqui.png', mimeType: 'image/png', buffer: source })
  await page.getByRole('link', { name: 'Hay 1 similar' }).waitFor()
  const rows = await service.app.context.database.all(
    sql<{ ip: string }>`SELECT ip FROM images WHERE name = 'desde-aqui.png'`,
  )
  assert.deepEqual(
    rows.map(({ ip }) => ip),
    ['127.0.0.1'],
  )
})
