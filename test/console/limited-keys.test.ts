import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startConsole } from '../support/console.ts'
import { accessibilityViolations } from '../support/browser.ts'
import { LIST, record, stored } from '../support/domains.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { call } from '../support/http.ts'
import { limited } from '../support/key-limits.ts'
import { createWatch } from '../support/watches.ts'

const { service, browser } = await startConsole()
await stored(service, [record('casa'), record('perro')])
await createWatch(service, { name: 'Cortos', max_length: 4, atom: '' })
const client = new ImageClient(service.url, service.imageKey)
assert.equal((await client.upload(await gradient(40, 30).png().toBuffer())).status, 200)
const READ_ONLY = 'Su clave es de solo lectura: no puede marcar dominios ni cambiar alertas.'

test('a read-only key shows the lists, and disables other actions with an explanation', async () => {
  const { key } = await service.newKey('grupo', 'domainwatch', limited({ scope: 'read' }))
  const { page, context, complaints } = await browser.open(service, '', {})
  await page.getByLabel('Clave de API').fill(key)
  await page.getByRole('button', { name: 'Entrar' }).click()
  await page.getByText('Clave de dominios agregada').waitFor()

  const link = (name: RegExp) =>
    page.getByRole('navigation', { name: 'Pantallas' }).getByRole('link', { name })
  await link(/^Triaje \(su clave no lo permite\)/).click()
  await page.getByRole('heading', { name: 'Esta pantalla necesita una clave que pueda escribir' }).waitFor()
  await page.getByText('La clave en uso: Solo lectura.').waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  await link(/^Importar \(su clave no lo permite\)/).click()
  await page.getByRole('heading', { name: 'Esta pantalla necesita una clave que pueda escribir' }).waitFor()

  await link(/^Dominios$/).click()
  await page.getByText(READ_ONLY).waitFor()
  await page.getByText('perro').first().click()
  assert.equal(await page.getByRole('button', { name: 'Descartar' }).isDisabled(), true)
  assert.deepEqual(await accessibilityViolations(page), [])

  await link(/^Alertas$/).click()
  await page.getByRole('heading', { name: 'Cortos' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Nueva alerta' }).isDisabled(), true)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a write key shows no such notice', async () => {
  const { key } = await service.newKey('grupo', 'domainwatch', limited({ scope: 'write' }))
  const { page, context, complaints } = await browser.open(service, 'vigilancias', { domainwatch: key })
  await page.getByRole('heading', { name: 'Cortos' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Nueva alerta' }).isDisabled(), false)
  assert.equal(await page.getByText(READ_ONLY).count(), 0)
  assert.equal(await page.getByText('su clave no lo permite').count(), 0)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a read-only imagestore key cannot delete; an upload key has no gallery', async () => {
  const read = await service.newKey('fotos', 'imagestore', limited({ scope: 'read' }))
  const reader = await browser.open(service, 'imagenes', { imagestore: read.key })
  await reader.page.getByText('Su clave es de solo lectura: no puede subir ni borrar imágenes.').waitFor()
  assert.equal(await reader.page.getByRole('button', { name: 'Subir' }).isDisabled(), true)
  assert.deepEqual(reader.complaints, [])
  await reader.context.close()

  const upload = await service.newKey('fotos', 'imagestore', limited({ scope: 'upload' }))
  const uploader = await browser.open(service, '', {})
  await uploader.page.getByLabel('Clave de API').fill(upload.key)
  await uploader.page.getByRole('button', { name: 'Entrar' }).click()
  await uploader.page.getByText('Clave de imágenes agregada').waitFor()
  await uploader.page.getByRole('link', { name: /^Imágenes \(su clave no lo permite\)/ }).click()
  await uploader.page
    .getByRole('heading', { name: 'Esta pantalla necesita una clave que pueda ver las imágenes' })
    .waitFor()
  await uploader.context.close()
})

test('an expired key is reported when it is pasted', async () => {
  const limits = limited({ expiresAt: Date.now() - 1 })
  const { key } = await service.newKey('grupo', 'domainwatch', limits)
  const { page, context } = await browser.open(service, '', {})
  await page.getByLabel('Clave de API').fill(key)
  await page.getByRole('button', { name: 'Entrar' }).click()
  await page.getByText('La clave de API expiró').waitFor()
  await context.close()
})

test('the user of a key over its rate sees how long to wait, in both languages', async () => {
  const perDay = { count: 1, periodMs: 86_400_000 }
  const { key } = await service.newKey('grupo', 'domainwatch', limited({ rate: perDay }))
  assert.equal((await call(service, LIST, { query: { api: key } })).status, 200)
  const { page, context } = await browser.open(service, '', {})
  const enter = async (field: string, button: string) => {
    await page.getByLabel(field).fill(key)
    await page.getByRole('button', { name: button }).click()
  }
  await enter('Clave de API', 'Entrar')
  await page.getByText('Demasiadas solicitudes. Espere 24 horas', { exact: true }).waitFor()
  await page.getByLabel('Idioma').selectOption('English')
  for (const [seconds, text] of [
    [1, '1 second'],
    [119, '119 seconds'],
    [121, '3 minutes'],
    [undefined, 'a moment'],
  ] as const) {
    const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) }
    await page.route('**/domainwatch/key?*', (route) =>
      route.fulfill({ status: 429, headers, json: { status: 429, msg: 'Demasiadas solicitudes' } }),
    )
    await enter('API key', 'Sign in')
    await page.getByText(`Too many requests. Wait ${text}`, { exact: true }).waitFor()
  }
  await context.close()
})
