import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { barriers, isOpenToAll, startBrowser, type TestBrowser } from '../support/browser.ts'
import { record, stored } from '../support/domains.ts'
import { call } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'
import { watchesOf } from '../support/watches.ts'
import { verify, WebhookReceiver } from '../support/webhook-receiver.ts'

let service: TestService
let browser: TestBrowser

before(async () => {
  const flags = { 'webhook-networks': '127.0.0.0/8', 'dns-servers': '127.0.0.1:9' }
  ;[service, browser] = await Promise.all([startService({ flags }), startBrowser()])
  await stored(service, [record('casa', { status: 0 }), record('ñandú')])
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })

test('the view in sight is watched: its secret and feed are shown once, its webhook is tried, it goes', async () => {
  using receiver = await WebhookReceiver.start()
  const { page, context, complaints, foreign } = await open('dominios?search=casa&status=0&sort=asc')
  await page.getByRole('row').filter({ hasText: 'casa.cl' }).waitFor()
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: 'Crear alerta de esta vista' }).click()
  await page.waitForURL(/vigilancias\?search=casa&status=0&nueva=/)
  const form = page.getByRole('dialog', { name: 'Nueva alerta' })
  assert.equal(await form.getByLabel('Filtros').inputValue(), 'casa estado:libre')
  await form.getByRole('button', { name: 'Crear' }).click()
  // The service's own words for what it does not take.
  await form.getByText('Elija un webhook, un feed Atom o ambos').waitFor()
  await form.getByLabel('Webhook').fill(receiver.url)
  await form.getByLabel('Crear también un canal Atom').check()
  await form.getByLabel('Nombre de la alerta').fill('<b>Casas</b> libres')
  assert.deepEqual(await barriers(page), [])
  await form.getByRole('button', { name: 'Crear' }).click()

  const made = page.getByRole('dialog', { name: 'Alerta creada' })
  const secret = (await made.getByRole('region', { name: 'Secreto' }).locator('code').textContent()) ?? ''
  const feed = made.getByRole('region', { name: 'Dirección del canal Atom' })
  const address = (await feed.locator('code').textContent()) ?? ''
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await feed.getByRole('button', { name: 'Copiar' }).click()
  await feed.getByText('Copiado').waitFor()
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), address)
  assert.equal((await call(service, new URL(address).pathname)).status, 200)
  // Nobody loses it by a press beside it, or by Escape.
  await page.mouse.click(4, 400)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  assert.ok(await made.isVisible())
  assert.deepEqual(await barriers(page), [])
  await made.getByRole('button', { name: 'Ya lo guardé' }).click()
  assert.equal(await page.getByText(secret).count(), 0)

  const item = page.getByRole('listitem', { name: '<b>Casas</b> libres' })
  await item.getByRole('link', { name: 'casa estado:libre' }).waitFor()
  await item.getByText(receiver.url).waitFor()
  await item.getByRole('button', { name: /^Probar webhook/ }).click()
  await page.getByText('Prueba correcta: el receptor respondió 204').waitFor()
  const [tried] = receiver.received
  assert.ok(tried !== undefined)
  verify(secret, tried)
  receiver.answer = (response) => void response.writeHead(500).end()
  await item.getByRole('button', { name: /^Probar webhook/ }).click()
  await page.getByText(/^La prueba falló: .*500/).waitFor()
  await isOpenToAll(page)

  await item.getByRole('button', { name: /^Eliminar/ }).click()
  const question = page.getByRole('dialog', { name: '¿Eliminar «<b>Casas</b> libres»?' })
  await question.getByRole('button', { name: 'Cancelar' }).click()
  assert.equal((await watchesOf(service)).length, 1)
  await item.getByRole('button', { name: /^Eliminar/ }).click()
  await question.getByRole('button', { name: 'Eliminar' }).click()
  await page.getByText('Todavía no hay alertas').waitFor()
  assert.deepEqual(await watchesOf(service), [])
  assert.deepEqual([complaints, foreign], [[], []])
  await context.close()
})

test('lookalikes of a name are watched from its details', async () => {
  const { page, context, complaints } = await open(`dominios?ficha=${encodeURIComponent('ñandú')}`)
  await page.getByRole('complementary').getByRole('link', { name: 'Crear alerta de parecidos' }).click()
  const form = page.getByRole('dialog', { name: 'Nueva alerta' })
  assert.equal(await form.getByLabel('Parecidos a este nombre').inputValue(), 'ñandú')
  assert.equal(await form.getByLabel('Nombre de la alerta').inputValue(), 'Parecidos a ñandú.cl')
  await form.getByLabel('Crear también un canal Atom').check()
  await form.getByLabel(/^Avisar de todo/).check()
  await form.getByRole('button', { name: 'Crear' }).click()
  await page.getByRole('button', { name: 'Ya lo guardé' }).click()
  const item = page.getByRole('listitem', { name: 'Parecidos a ñandú.cl' })
  await item.getByText('de todos los cambios de las coincidencias').waitFor()
  assert.equal(await item.getByRole('button', { name: /^Probar/ }).count(), 0)
  const [kept] = await watchesOf(service)
  assert.deepEqual([kept?.['filters'], kept?.['changes'], kept?.['atom']], [{ similar: 'ñandú' }, 'all', 1])
  assert.deepEqual(complaints, [])
  await context.close()
})
