/** What a gallery gives to others, and what it refuses: upload tickets, and banned images. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { sql } from '../../src/storage/database/sql.ts'
import { accessibilityViolations, copyWith } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { answerOf, gradient, ImageClient, noise } from '../support/images.ts'

const { service, browser } = await startConsole()
const client = new ImageClient(service.url, service.imageKey)
const open = () => browser.open(service, 'imagenes', { imagestore: service.imageKey })

async function send(url: string, bytes: Buffer, type: string) {
  const body = new Uint8Array(bytes)
  return answerOf(await fetch(url, { method: 'POST', headers: { 'content-type': type }, body }))
}

test('a ticket is created with its terms, and its address is shown once', async () => {
  const { page, context, complaints } = await open()
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: 'Permiso de subida' }).click()
  const form = page.getByRole('dialog', { name: 'Permiso de subida', exact: true })
  await form.getByLabel('Duración').selectOption('1 día')
  await form.getByLabel('Imágenes que se pueden subir').fill('2')
  await form.getByLabel('Tamaño máximo de cada una (MB)').fill('0.01')
  await form.getByLabel('png').check()
  await form.getByLabel('webp').check()
  await form.getByLabel('Etiquetas').fill('visitas, verano')
  await form.getByLabel('Nombre de las imágenes').fill('visita.png')
  await form.getByLabel('Días hasta que las imágenes expiran').fill('30')
  assert.deepEqual(await accessibilityViolations(page), [])
  await form.getByRole('button', { name: 'Crear' }).click()
  const shown = page.getByRole('dialog', { name: 'Permiso de subida creado' })
  await shown.getByText('se muestra una sola vez').waitFor()
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const url = await copyWith(shown.getByRole('button', { name: 'Copiar la dirección' }))
  await shown.getByRole('button', { name: 'Ya la guardé' }).click()
  await shown.waitFor({ state: 'detached' })

  const jpeg = await send(url, await gradient(20, 20).jpeg().toBuffer(), 'image/jpeg')
  assert.equal(jpeg.code, 'ticket_type')
  const large = await send(url, await noise(90, 90).png().toBuffer(), 'image/png')
  assert.equal(large.code, 'ticket_bytes')
  for (const width of [21, 22])
    assert.equal((await send(url, await gradient(width, 20).png().toBuffer(), 'image/png')).status, 200)
  const spent = await send(url, await gradient(23, 20).png().toBuffer(), 'image/png')
  assert.equal(spent.code, 'ticket_spent')
  const { body } = await client.list({ tag: 'verano' })
  assert.partialDeepStrictEqual(body, { total: 2, data: [{ name: 'visita.png' }, { name: 'visita.png' }] })
  const rows = await service.app.context.database.all(
    sql<{ days: number }>`SELECT (expires - date) / 86400 AS days FROM images WHERE name = 'visita.png'`,
  )
  assert.ok(rows.length === 2 && rows.every(({ days }) => days >= 29 && days <= 30))
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a refused term is shown in the form', async () => {
  const { page, context } = await open()
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: 'Permiso de subida' }).click()
  const form = page.getByRole('dialog', { name: 'Permiso de subida' })
  await form.getByLabel('Etiquetas').fill('x'.repeat(61))
  await form.getByRole('button', { name: 'Crear' }).click()
  await form.getByText(/1 a 60 caracteres/).waitFor()
  await context.close()
})

test('banned images go to the trash, are refused with what looks like them, and can be allowed again', async () => {
  const source = await noise(64, 48).resize(320, 240).png().toBuffer()
  const { body } = await client.upload(source, { name: 'prohibida.png' })
  const copy = await sharp(source).webp({ quality: 80 }).toBuffer()
  const { page, context, complaints } = await open()
  await page.getByLabel('Seleccionar prohibida.png').check()
  await page.locator('.selection').getByRole('button', { name: 'Bloquear' }).click()
  const dialog = page.getByRole('dialog', { name: '¿Bloquear 1 imagen?' })
  await dialog.getByLabel('Lo que también se bloquea').selectOption('También lo parecido')
  assert.deepEqual(await accessibilityViolations(page), [])
  await dialog.getByRole('button', { name: 'Bloquear' }).click()
  await page.getByText('1 imagen en la papelera').waitFor()
  await page.getByRole('img', { name: 'prohibida.png' }).waitFor({ state: 'detached' })
  const { body: bans } = await answerOf(await fetch(client.endpoint('bans')))
  assert.partialDeepStrictEqual(bans, { data: [{ hash: body['hash'], dhash: body['dhash'], distance: 8 }] })

  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'copia.webp', mimeType: 'image/webp', buffer: copy })
  const list = page.getByRole('region', { name: 'Subidas' })
  await list.getByText('La imagen está bloqueada').waitFor()
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: 'Imágenes bloqueadas' }).click()
  const bansDialog = page.getByRole('dialog', { name: 'Imágenes bloqueadas' })
  await bansDialog.getByText('Hasta 8 de 64 bits distintos').waitFor()
  // The image is in the trash, so that its hash stands for it.
  await bansDialog.locator('.mono', { hasText: String(body['hash']) }).waitFor()
  await bansDialog.getByRole('button', { name: 'Copiar', exact: true }).waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.keyboard.press('Escape')
  const restored = client.endpoint('trash', { hash: String(body['hash']), restore: '1' })
  assert.equal((await answerOf(await fetch(restored, { method: 'POST' }))).status, 200)
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: 'Imágenes bloqueadas' }).click()
  await bansDialog.getByRole('img', { name: String(body['hash']) }).waitFor()
  await bansDialog.getByRole('button', { name: `Desbloquear ${String(body['hash'])}` }).click()
  await bansDialog.getByText('No hay imágenes bloqueadas').waitFor()
  await page.keyboard.press('Escape')
  await list.getByRole('button', { name: 'Reintentar' }).click()
  await list.getByText('1 imagen subida').waitFor()
  assert.deepEqual(complaints, [])
  await context.close()
})

test('the address of the uploader is recorded, and similar images are counted', async () => {
  const source = await noise(64, 48).resize(300, 200).png().toBuffer()
  await client.upload(await sharp(source).webp({ quality: 90 }).toBuffer(), { name: 'original.webp' })
  const { page, context, complaints } = await open()
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
  assert.deepEqual(complaints, [])
  await context.close()
})
