/** What administrators do, and the audit log of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import { audit as texts } from '../../console/i18n/texts/audit.ts'
import { createdKey, limitsSet } from '../../src/http/auth/audit.ts'
import { AUDIT_ACTIONS } from '../../src/http/auth/queries.ts'
import { accessibilityViolations, openScreen, enterKey, showsCount, toast } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { call } from '../support/http.ts'
import { gradient, ImageClient } from '../support/images.ts'

const { service, browser } = await startConsole()
const { key: admin, id } = await service.newKey('dueña', 'admin')
const { audit } = service.app.context

test('each action has a text in both languages, and each of these texts an action', () => {
  const described = Object.keys(texts).filter((key) => key.startsWith('audit.did.'))
  assert.deepEqual(
    described,
    AUDIT_ACTIONS.map((action) => `audit.did.${action}`),
  )
})

test('an administrator reads who did what, of everyone or of one account, page by page', async () => {
  for (let i = 1; i <= 100; i++)
    await audit.record({ account: 'ana', keyId: 'k7mq2x9apd' }, 'rule.update', `regla-${i}`)
  await audit.record({ account: 'cli:root', keyId: null }, 'secret.renew', 'fotos')
  const { page } = await browser.open(service, 'sistema', { admin })
  await page.getByRole('heading', { name: 'Sistema', level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('auditor')
  await page.getByRole('option', { name: 'Auditoría' }).click()
  const rows = page.getByRole('region', { name: 'Auditoría' }).locator('tbody tr')
  await rows.getByText('regla-100', { exact: true }).waitFor()
  await showsCount(rows, 100)
  const told = (await rows.first().locator('th, td').allInnerTexts()).slice(1)
  assert.deepEqual(told, ['cli:root', '–', 'Renovó el secreto de los enlaces', 'fotos'])
  await page.getByRole('button', { name: 'Mostrar más' }).click()
  await rows.getByText('regla-1', { exact: true }).waitFor()
  await showsCount(rows, 101)
  assert.equal(await page.getByRole('button', { name: 'Mostrar más' }).count(), 0)

  await page.getByRole('link', { name: 'cli:root' }).click()
  await page.waitForURL(/auditoria\?account=cli%3Aroot$/)
  await rows.getByText('regla-100', { exact: true }).waitFor({ state: 'detached' })
  await showsCount(rows, 1)
  const account = page.getByRole('searchbox', { name: 'Cuenta' })
  await account.fill('nadie')
  await page.getByRole('heading', { name: 'Esta cuenta no tiene entradas' }).waitFor()
  await account.fill('dueña')
  await page.getByRole('heading', { name: 'Esta cuenta no tiene entradas' }).waitFor()
  await page.waitForURL(/account=due%C3%B1a$/)
  // What is done in the console is there at the next look.
  await call(service, '/api/v1/admin/create', {
    query: { api: admin, account: 'nueva', service: 'domainwatch' },
    method: 'POST',
  })
  await page.reload()
  await rows.getByText('Creó una clave', { exact: true }).waitFor()
  assert.equal(await rows.getByText(id, { exact: true }).count(), 1)
  await page.goBack()
  await page.waitForURL(/account=cli%3Aroot$/)
  await rows.getByText('fotos', { exact: true }).waitFor()
})

test('the audit log says in words what was created, limited, changed and placed', async () => {
  const ana = { account: 'ana', keyId: 'k7mq2x9apd' }
  await audit.record(ana, 'key.create', createdKey('fotos', 'imagestore', 'k1'))
  await audit.record(
    ana,
    'limits.set',
    limitsSet('fotos', { max_images: 1_500, max_bytes: null, delivery: 'signed' }),
  )
  await audit.record(ana, 'bulk.start', 'j1 {"matched":823,"set":{"discarded":1,"add_tags":["a","b"]}}')
  await audit.record(ana, 'watermark.set', 'logo {"image":"c0ffee","at":"se","width":25}')
  const { page } = await browser.open(service, 'auditoria?account=ana', { admin })
  const details = page.locator('.audit-subject')
  await details.nth(3).waitFor()
  const newest = async () => (await details.allInnerTexts()).slice(0, 4)
  assert.deepEqual(await newest(), [
    'logo · Imagen: c0ffee · Posición: se · Ancho: 25 %',
    'j1 · Dominios: 823 · Descartado: sí · Etiquetas agregadas: a, b',
    'fotos · Máximo de imágenes: 1.500 · Máximo de almacenamiento: Sin límite · Enlaces: Firmados',
    'fotos (imágenes), clave k1',
  ])
  await page.getByRole('button', { name: 'Mi sesión' }).click()
  await page.getByLabel('Idioma').selectOption('English')
  await page.getByText('fotos (images), key k1', { exact: true }).waitFor()
})

test('an administrator creates a key, sees it once, and revokes it', async () => {
  const { page } = await browser.open(service, '', {})
  await enterKey(page, admin)
  await page.getByRole('heading', { name: 'Claves', level: 1 }).waitFor()
  await page.getByRole('rowheader', { name: 'fotos', exact: true }).waitFor()

  await page.getByRole('button', { name: 'Nueva clave' }).click()
  await page.getByRole('dialog').getByLabel('Cuenta').fill('fotos')
  await page.getByRole('button', { name: 'Crear' }).click()
  await page.getByText('La cuenta fotos es del servicio imagestore').waitFor()
  await page.getByRole('dialog').getByLabel('Servicio').selectOption('imagestore')
  await page.getByRole('button', { name: 'Crear' }).click()
  const dialog = page.getByRole('dialog', { name: 'Nueva clave de fotos' })
  const key = (await dialog.locator('.secret').textContent()) ?? ''
  const status = async () => (await call(service, '/api/v1/imagestore/list', { query: { api: key } })).status
  assert.equal(await status(), 200)
  assert.deepEqual(await accessibilityViolations(page), [])
  // Neither a click outside nor Escape closes it.
  await page.mouse.click(4, 400)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  assert.equal(await dialog.locator('.secret').textContent(), key)
  await dialog.getByRole('button', { name: 'Ya lo guardé' }).click()
  assert.equal(await page.getByText(key).count(), 0)

  const made = page
    .getByRole('row')
    .filter({ hasText: 'fotos' })
    .filter({ has: page.getByRole('button') })
    .last()
  await made.getByRole('button', { name: /^Revocar/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revocar', exact: true }).click()
  await toast(page, /^Clave .* revocada/).waitFor()
  await page.getByText(/^Revocada el/).waitFor()
  assert.equal(await status(), 401)
})

test('an administrator creates a limited key and sees its limits', async () => {
  const { page } = await browser.open(service, 'claves', { admin })
  await page.getByRole('button', { name: 'Nueva clave' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Cuenta').fill('lectora')
  await form.getByLabel('Alcance').selectOption('Solo lectura')
  await form.getByLabel('Expira').selectOption('En 90 días')
  await form.getByLabel('Límite de solicitudes').fill('60')
  await form.getByLabel(/^Por/).selectOption('minuto')
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.getByRole('button', { name: 'Crear' }).click()
  const dialog = page.getByRole('dialog', { name: 'Nueva clave de lectora' })
  const key = (await dialog.locator('.secret').textContent()) ?? ''
  await dialog.getByRole('button', { name: 'Ya lo guardé' }).click()
  const { body } = await call(service, '/api/v1/domainwatch/key', { query: { api: key } })
  assert.partialDeepStrictEqual(body, { account: 'lectora', scope: 'read', rate: '60/min' })

  const expired = { scope: 'write', expiresAt: Date.now() - 1_000, rate: null } as const
  await service.newKey('vencida', 'domainwatch', expired)
  await page.reload()
  const keys = page.getByRole('region', { name: 'Claves' })
  await keys.getByRole('row', { name: /lectora dominios Solo lectura .* 60 por minuto/ }).waitFor()
  await keys
    .getByRole('row', { name: /vencida dominios Lectura y escritura Expiró el .* Sin límite/ })
    .waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
})

test('an administrator sets the quotas and the delivery mode of an application', async () => {
  const client = new ImageClient(service.url, (await service.newKey('tienda', 'imagestore')).key)
  await client.upload(await gradient(30, 20).png().toBuffer())
  const { page } = await browser.open(service, 'claves', { admin })
  const row = page
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name: 'tienda', exact: true }) })
  await row.getByRole('button', { name: 'Editar límites tienda' }).click()
  const dialog = page.getByRole('dialog', { name: 'Límites de tienda' })
  await dialog.getByLabel('Máximo de imágenes').fill('1')
  await dialog.getByLabel('Máximo de almacenamiento, en MB').fill('2.5')
  await dialog.getByLabel('Enlaces').selectOption('signed')
  await dialog.getByText('Solo enlaces firmados por la aplicación.').waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.emulateMedia({ colorScheme: 'dark' })
  assert.deepEqual(await accessibilityViolations(page, ['color-contrast']), [])
  await dialog.getByRole('button', { name: 'Guardar' }).click()
  await toast(page, 'Límites de tienda guardados').waitFor()
  await row.getByText('1 de 1', { exact: true }).waitFor()
  await row.getByText('de 2,5 MB').waitFor()
  await row.getByText('Firmados').waitFor()
  assert.deepEqual(await accessibilityViolations(page, ['color-contrast']), [], 'dark')
  assert.equal((await client.upload(await gradient(31, 20).png().toBuffer())).status, 403)

  await row.getByRole('button', { name: 'Editar límites tienda' }).click()
  assert.equal(await dialog.getByLabel('Máximo de almacenamiento, en MB').inputValue(), '2.5')
  await dialog.getByLabel('Máximo de imágenes').fill('')
  await dialog.getByRole('button', { name: 'Guardar' }).click()
  await row.getByText('1 de 1', { exact: true }).waitFor({ state: 'detached' })
  assert.equal((await client.upload(await gradient(31, 20).png().toBuffer())).status, 200)
})

test('what was entered for a key or for limits is there for the next key of the administrator, and for nobody else', async () => {
  const [one, two, three] = [
    await service.newKey('jefa', 'admin'),
    await service.newKey('jefa', 'admin'),
    await service.newKey('jefa', 'admin'),
  ]
  await service.newKey('galería', 'imagestore')
  const { page } = await browser.open(service, 'claves', {})
  const enter = async (key: string) => {
    await enterKey(page, key)
    // Once both tables are read, no other request finds that a key was revoked, and takes the form away.
    await page.locator('.admin-parts table').nth(1).waitFor()
  }
  await enter(one.key)
  await page.getByRole('button', { name: 'Nueva clave' }).click()
  const form = page.getByRole('dialog', { name: 'Nueva clave' })
  await form.getByLabel('Cuenta').fill('marketing')
  await form.getByLabel('Servicio').selectOption('imagestore')
  await service.revokeKey(one.id)
  await form.getByRole('button', { name: 'Crear' }).click()
  await enter(two.key)
  assert.equal(await form.getByLabel('Cuenta').inputValue(), 'marketing')
  assert.equal(await form.getByLabel('Servicio').inputValue(), 'imagestore')
  await form.getByRole('button', { name: 'Cancelar' }).click()

  await page.getByRole('button', { name: 'Editar límites galería' }).click()
  const limits = page.getByRole('dialog', { name: 'Límites de galería' })
  await limits.getByLabel('Máximo de imágenes').fill('12')
  await service.revokeKey(two.id)
  await limits.getByRole('button', { name: 'Guardar' }).click()
  await enter(three.key)
  assert.equal(await limits.getByLabel('Máximo de imágenes').inputValue(), '12')
  await service.revokeKey(three.id)
  await limits.getByRole('button', { name: 'Guardar' }).click()
  await enter(admin)
  assert.equal(await limits.getByLabel('Máximo de imágenes').inputValue(), '')
})

test('the state of the service is shown', async () => {
  const { page } = await browser.open(service, '', { admin }, { width: 1_280 })
  await page.getByRole('heading', { name: 'Claves', level: 1 }).waitFor()
  await page.route('**/admin/system?*', async (route) => {
    const response = await route.fetch()
    const used = {
      catalejo_images_cache_hits_total: 1_234_567,
      catalejo_derivatives_disk_hits_total: 98_765,
      catalejo_images_similar_bytes: 98_765_432,
    }
    const last = { catalejo_event_streams: [0, 7, 3], catalejo_dns_cache_hits_total: [4, 7] }
    const missed = { catalejo_dns_cache_misses_total: [0, 1] }
    const found = Object(await response.json())
    await route.fulfill({
      response,
      json: {
        ...found,
        figures: { ...found.figures, ...used },
        last_hour: { ...found.last_hour, ...last, ...missed },
      },
    })
  })
  await openScreen(page, 'Sistema')
  await page.getByText(/Base de datos \((sqlite|postgres)\): responde/).waitFor()
  const queues = page.getByRole('table', { name: 'Colas' })
  await queues.getByRole('row', { name: /^Escrituras en espera \d+ \d/ }).waitFor()
  await queues.getByRole('row', { name: /^Conexiones en vivo \d+ 0–7$/ }).waitFor()
  assert.match(
    (await queues
      .getByRole('row', { name: /^Conexiones/ })
      .locator('polyline')
      .getAttribute('points')) ?? '',
    /^0\.0,26\.0 40\.0,2\.0 /,
  )
  const caches = page.getByRole('table', { name: 'Cachés y memoria' })
  await caches.getByRole('row', { name: /^Memoria de imágenes \d+/ }).waitFor()
  await caches.getByRole('row', { name: /^Imágenes en memoria 100 % de 1\.234\.567/ }).waitFor()
  // No row wraps.
  const getRowHeight = async (table: Locator) =>
    Math.round(((await table.boundingBox())?.height ?? 0) / (await table.getByRole('row').count()))
  assert.equal(await getRowHeight(caches), await getRowHeight(queues))
  await page.getByText('Todas las métricas').click()
  await page.getByRole('rowheader', { name: 'database_waiting_writes' }).waitFor()
  const settings = page.getByRole('region', { name: 'Configuración' })
  await settings.getByRole('row', { name: /^CATALEJO_LOG_LEVEL debug / }).waitFor()
  await settings.getByRole('row', { name: 'CATALEJO_TIME_ZONE America/Santiago predeterminado' }).waitFor()
  await page.getByRole('button', { name: 'Diagnosticar' }).click()
  const findings = page.getByRole('region', { name: 'Diagnóstico' })
  await findings
    .getByRole('row', { name: /^Aviso backups there are no regular backups set --backup-to/ })
    .waitFor()
  await findings
    .getByRole('row', { name: /^Bien / })
    .first()
    .waitFor()
})
