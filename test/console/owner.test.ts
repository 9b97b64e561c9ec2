import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { barriers, fits, startBrowser, type TestBrowser } from '../support/browser.ts'
import { call } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let browser: TestBrowser
let admin: string

before(async () => {
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
  admin = (await service.newKey('dueña', 'admin')).key
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

test('the owner makes a key, sees it once, and revokes it', async () => {
  const { page, context, complaints } = await browser.open(service, '', {})
  await page.getByLabel('Clave de API').fill(admin)
  await page.getByRole('button', { name: 'Entrar' }).click()
  await page.getByRole('heading', { name: 'Claves', level: 1 }).waitFor()
  await page.getByRole('rowheader', { name: 'fotos' }).waitFor()
  assert.deepEqual(await barriers(page), [])

  await page.getByRole('button', { name: 'Nueva clave' }).click()
  await page.getByRole('dialog').getByLabel('Cuenta').fill('fotos')
  await page.getByRole('button', { name: 'Crear' }).click()
  await page.getByText('La cuenta fotos es del servicio imagestore').waitFor()
  await page.getByRole('dialog').getByLabel('Servicio').selectOption('imagestore')
  await page.getByRole('button', { name: 'Crear' }).click()
  const dialog = page.getByRole('dialog', { name: 'Clave nueva de fotos' })
  const key = (await dialog.locator('.secret').textContent()) ?? ''
  const status = async () => (await call(service, '/api/v1/imagestore/list', { query: { api: key } })).status
  assert.equal(await status(), 200)
  assert.deepEqual(await barriers(page), [])
  await dialog.getByRole('button', { name: 'Ya la guardé' }).click()
  assert.equal(await page.getByText(key).count(), 0)

  const made = page
    .getByRole('row')
    .filter({ hasText: 'fotos' })
    .filter({ has: page.getByRole('button') })
    .last()
  await made.getByRole('button', { name: /^Revocar/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revocar', exact: true }).click()
  await page.getByText(/^Clave .* revocada$/).waitFor()
  await page.getByText(/^Revocada el/).waitFor()
  assert.deepEqual(
    (await status()) === 401 ||
      (await call(service, '/api/v1/imagestore/list', { query: { api: service.imageKey } })).status === 401,
    true,
  )
  assert.deepEqual(complaints, [])
  await context.close()
})

test('how the service is', async () => {
  const { page, context, complaints } = await browser.open(service, 'sistema', { admin })
  await page.getByText(/Base de datos \((sqlite|postgres)\): responde/).waitFor()
  await page.getByRole('rowheader', { name: 'database_waiting_writes' }).waitFor()
  assert.deepEqual(await barriers(page), [])
  await page.setViewportSize({ width: 360, height: 740 })
  await fits(page, 360)
  assert.deepEqual(complaints, [])
  await context.close()
})
