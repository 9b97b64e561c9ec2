import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startConsole } from '../support/console.ts'
import { accessibilityViolations, copyWith, toast, chooseMore } from '../support/browser.ts'
import { record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { holdRequests } from '../support/gate.ts'
import { call, send } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'
import { confirmationLink, mailFlags, startMailServer } from '../support/smtp.ts'
import { removeWatch, watch, WATCHES, getWatches, watchUntil } from '../support/watches.ts'
import { verify, WebhookReceiver } from '../support/webhook-receiver.ts'

const flags = { 'webhook-networks': '127.0.0.0/8', 'dns-servers': '127.0.0.1:9' }

const { service, browser } = await startConsole({ flags })
await stored(service, [record('casa', { status: 0 }), record('ñandú')])
const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })

test('a view is watched: its secret and feed are shown once, its webhook is tested, and it is deleted', async () => {
  using receiver = await WebhookReceiver.start()
  const { page, context } = await open('dominios?search=casa&status=0&sort=asc')
  await page.getByRole('row').filter({ hasText: 'casa.cl' }).waitFor()
  await chooseMore(page, 'Crear alerta de esta vista')
  await page.waitForURL(/vigilancias\?search=casa&status=0&nueva=/)
  const form = page.getByRole('dialog', { name: 'Nueva alerta' })
  assert.equal(await form.getByLabel('Filtros').inputValue(), 'casa estado:libre')
  await form.getByRole('button', { name: 'Crear' }).click()
  // The service's own words for what it does not take.
  await form.getByText(/^Elija al menos un destino/).waitFor()
  await form.getByLabel('Webhook').fill(receiver.url)
  await form.getByLabel('Crear también un canal Atom').check()
  await form.getByLabel('Nombre de la alerta').fill('<b>Casas</b> libres')
  assert.deepEqual(await accessibilityViolations(page), [])
  await form.getByRole('button', { name: 'Crear' }).click()

  const made = page.getByRole('dialog', { name: 'Alerta creada' })
  const secret = (await made.getByRole('region', { name: 'Secreto' }).locator('code').textContent()) ?? ''
  const feed = made.getByRole('region', { name: 'Dirección del canal Atom' })
  const address = (await feed.locator('code').textContent()) ?? ''
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  assert.equal(await copyWith(feed.getByRole('button', { name: 'Copiar' })), address)
  assert.equal((await call(service, new URL(address).pathname)).status, 200)
  // Neither a click outside nor Escape closes it.
  await page.mouse.click(4, 400)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  assert.ok(await made.isVisible())
  assert.deepEqual(await accessibilityViolations(page), [])
  await made.getByRole('button', { name: 'Ya lo guardé' }).click()
  assert.equal(await page.getByText(secret).count(), 0)

  const item = page.getByRole('listitem', { name: '<b>Casas</b> libres' })
  await item.getByRole('link', { name: 'casa estado:libre' }).waitFor()
  await item.getByText(receiver.url).waitFor()
  await item.getByRole('button', { name: /^Probar/ }).click()
  await toast(page, 'Prueba correcta: el receptor respondió 204').waitFor()
  const [tried] = receiver.received
  assert.ok(tried !== undefined)
  verify(secret, tried)
  receiver.answer = (response) => void response.writeHead(500).end()
  await item.getByRole('button', { name: /^Probar/ }).click()
  await toast(page, /^La prueba falló: .*500/).waitFor()

  const remove = async () => {
    await item.getByRole('button', { name: /^Más/ }).click()
    await item.getByRole('button', { name: 'Eliminar' }).click()
  }
  await remove()
  const question = page.getByRole('dialog', { name: '¿Eliminar «<b>Casas</b> libres»?' })
  await question.getByRole('button', { name: 'Cancelar' }).click()
  assert.equal((await getWatches(service)).length, 1)
  await remove()
  await question.getByRole('button', { name: 'Eliminar' }).click()
  await page.getByText('Todavía no hay alertas').waitFor()
  assert.deepEqual(await getWatches(service), [])
})

test('a name of one long word stays within the dialog', async () => {
  const name = 'w'.repeat(80)
  const { id } = await watch(service, { name, atom: '' })
  const { page } = await open('vigilancias')
  const item = page.getByRole('listitem', { name, exact: true })
  await item.getByRole('button', { name: /^Editar/ }).click()
  const dialog = page.getByRole('dialog', { name: `Editar «${name}»` })
  assert.equal(await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth), 0)
  await removeWatch(service, id)
})

test('lookalikes of a name are watched from its details', async () => {
  const { page } = await open(`dominios?ficha=${encodeURIComponent('ñandú')}`)
  await page.getByRole('complementary').getByRole('link', { name: 'Crear alerta de parecidos' }).click()
  const form = page.getByRole('dialog', { name: 'Nueva alerta' })
  assert.equal(await form.getByLabel('Parecidos a estos nombres').inputValue(), 'ñandú')
  assert.equal(await form.getByLabel('Nombre de la alerta').inputValue(), 'Parecidos a ñandú.cl')
  // Nobody can object to free names.
  const remind = form.getByLabel('Recordar antes de que venza el plazo para objetar')
  await form.getByLabel('Filtros').fill('estado:libre')
  await remind.waitFor({ state: 'detached' })
  await form.getByLabel('Filtros').fill('')
  await remind.fill('5')
  await form.getByLabel('Crear también un canal Atom').check()
  await form
    .getByRole('combobox', { name: /^Avisar/ })
    .selectOption({ label: 'de coincidencias y sus cambios' })
  await form.getByRole('button', { name: 'Crear' }).click()
  await page.getByRole('button', { name: 'Ya lo guardé' }).click()
  const item = page.getByRole('listitem', { name: 'Parecidos a ñandú.cl' })
  await item
    .getByText('de coincidencias y sus cambios · recuerda 5 días antes de que venza el plazo para objetar')
    .waitFor()
  await item.getByRole('button', { name: /^Editar/ }).click()
  const edit = page.getByRole('dialog', { name: 'Editar «Parecidos a ñandú.cl»' })
  await edit.getByLabel('Recordar antes de que venza el plazo para objetar').fill('')
  await edit.getByRole('button', { name: 'Guardar' }).click()
  await item.getByText(/recuerda/).waitFor({ state: 'detached' })
  assert.equal(await item.getByRole('button', { name: /^Probar/ }).count(), 0)
  const [kept] = await getWatches(service)
  const filters = { similar: 'ñandú', remind: '0' }
  assert.deepEqual([kept?.['filters'], kept?.['changes'], kept?.['atom']], [filters, 'all', 1])
})

test('a watch is edited, shared, paused and resumed; its secret is rotated and shown once', async () => {
  using receiver = await WebhookReceiver.start()
  const made = await watch(service, { name: 'Cambiante', search: 'casa', rev: '', url: receiver.url })
  const { page } = await open('vigilancias')
  const item = (name: string) => page.getByRole('listitem', { name, exact: true })
  const shown = async () => (await getWatches(service)).find(({ id }) => id === made.id)
  const choose = async (action: string, name = 'Otra') => {
    await item(name).getByRole('button', { name: /^Más/ }).click()
    await item(name).getByRole('button', { name: action }).click()
  }

  await item('Cambiante')
    .getByRole('button', { name: /^Editar/ })
    .click()
  await page.waitForURL(/vigilancias\?editar=/)
  const form = page.getByRole('dialog', { name: 'Editar «Cambiante»' })
  assert.equal(await form.getByLabel('Filtros').inputValue(), 'casa es:revisión')
  assert.equal(await form.getByLabel('Webhook').inputValue(), receiver.url)
  assert.deepEqual(await accessibilityViolations(page), [])
  await form.getByLabel('Webhook').fill('http://10.0.0.1/')
  await form.getByRole('button', { name: 'Guardar' }).click()
  await form.getByText('pública').waitFor()
  await form.getByLabel('Webhook').fill(receiver.url)
  await form.getByLabel('Nombre de la alerta').fill('Otra')
  await form.getByLabel('Crear también un canal Atom').check()
  await form.getByLabel(/^Compartir con el grupo/).check()
  await form.getByRole('button', { name: 'Guardar' }).click()
  const saved = page.getByRole('dialog', { name: 'Alerta guardada' })
  const address = await saved
    .getByRole('region', { name: 'Dirección del canal Atom' })
    .locator('code')
    .textContent()
  assert.equal((await call(service, new URL(address ?? '').pathname)).status, 200)
  await saved.getByRole('button', { name: 'Ya lo guardé' }).click()
  await item('Otra').getByText('Compartida con el grupo').waitFor()
  const edited = await shown()
  assert.deepEqual(
    [edited?.['filters'], edited?.['url'], edited?.['atom'], edited?.['shared']],
    [{ search: 'casa', rev: '' }, receiver.url, 1, 1],
  )

  await item('Otra')
    .getByRole('button', { name: /^Editar/ })
    .click()
  const again = page.getByRole('dialog', { name: 'Editar «Otra»' })
  await again.getByLabel('Filtros').fill('')
  await again.getByLabel('Crear también un canal Atom').uncheck()
  await again.getByRole('button', { name: 'Guardar' }).click()
  await again.waitFor({ state: 'detached' })
  assert.deepEqual([(await shown())?.['filters'], (await shown())?.['atom']], [{}, 0])

  await choose('Pausar')
  await item('Otra').getByText('En pausa').waitFor()
  assert.equal((await shown())?.['paused'], 1)
  await choose('Reanudar')
  await item('Otra').getByText('En pausa').waitFor({ state: 'detached' })
  assert.equal((await shown())?.['paused'], 0)

  await choose('Cambiar el secreto')
  const question = page.getByRole('dialog', { name: '¿Cambiar el secreto de «Otra»?' })
  await question.getByRole('button', { name: 'Cambiar el secreto' }).click()
  const rotated = page.getByRole('dialog', { name: 'Secreto cambiado' })
  await rotated.getByText(/^El secreto anterior deja de firmar el /).waitFor()
  const secret = (await rotated.getByRole('region', { name: 'Secreto' }).locator('code').textContent()) ?? ''
  await page.keyboard.press('Escape')
  assert.deepEqual(await accessibilityViolations(page), [])
  await rotated.getByRole('button', { name: 'Ya lo guardé' }).click()
  assert.equal(await page.getByText(secret).count(), 0)
  await removeWatch(service, made.id)
})

test('an edit does not overwrite the edit of a colleague unless the user saves again', async () => {
  const ana = (await service.newKey('Ana', 'domainwatch')).key
  const { id } = await watch(service, { name: 'Grupo', search: 'casa', atom: '', shared: 1 })
  const shown = async () => (await getWatches(service)).find((one) => one['id'] === id)
  const { page } = await open('vigilancias')
  const form = page.getByRole('dialog', { name: /^Editar/ })
  const edit = (name: string) =>
    page
      .getByRole('listitem', { name, exact: true })
      .getByRole('button', { name: /^Editar/ })
      .click()
  const save = () => form.getByRole('button', { name: 'Guardar' }).click()
  const asAna = { api: ana, id }
  await edit('Grupo')
  await form.getByLabel('Nombre de la alerta').fill('La mía')
  await send(service, `${WATCHES}/update`, { name: 'De Ana', search: 'faro' }, { query: asAna })
  await save()
  await form.getByText(/^Otra persona cambió lo mismo mientras tanto/).waitFor()
  assert.equal(await form.getByLabel('Nombre de la alerta').inputValue(), 'La mía')
  assert.equal((await shown())?.['name'], 'De Ana')
  await save()
  await form.waitFor({ state: 'detached' })
  const saved = await shown()
  assert.deepEqual([saved?.['name'], saved?.['filters']], ['La mía', { search: 'faro' }])
  await edit('La mía')
  await form.getByLabel('Parecidos a estos nombres').fill('faro')
  await send(service, `${WATCHES}/update`, { length: '4' }, { query: asAna })
  await save()
  await form.getByText(/^Otra persona cambió lo mismo mientras tanto/).waitFor()
  assert.deepEqual((await shown())?.['filters'], { length: '4' })
  await removeWatch(service, id)
})

test('after a lost response the list shows whether a watch was made', async () => {
  const { page, context } = await open('vigilancias')
  await page.getByRole('button', { name: 'Nueva alerta' }).click()
  const form = page.getByRole('dialog', { name: 'Nueva alerta' })
  await form.getByLabel('Nombre de la alerta').fill('Playas')
  await form.getByLabel('Crear también un canal Atom').check()
  const gate = await holdRequests(page, 'domainwatch/watches')
  await form.getByRole('button', { name: 'Crear' }).click()
  await (await gate.next()).loseAnswer()
  await gate.open()
  await form.getByText('Revise si quedó hecho antes de repetir.').waitFor()
  await page.getByRole('listitem', { name: 'Playas', includeHidden: true }).waitFor()
  await context.close()
  const made = (await getWatches(service)).find(({ name }) => name === 'Playas')
  await removeWatch(service, String(made?.['id']))
})

test('pausing a watch without a connection is done when it is back', async () => {
  const { id } = await watch(service, { name: 'Pausada', search: 'casa', atom: '' })
  const { page, context } = await open('vigilancias')
  const item = page.getByRole('listitem', { name: 'Pausada', exact: true })
  await item.getByRole('button', { name: /^Más/ }).click()
  await context.setOffline(true)
  await item.getByRole('button', { name: 'Pausar' }).click()
  await toast(page, 'Sin conexión: se guardará cuando vuelva.').waitFor()
  await context.setOffline(false)
  await item.getByText('En pausa').waitFor()
  await removeWatch(service, id)
})

test('deliveries are listed with their errors explained, and sent again, also on a phone', async () => {
  using receiver = await WebhookReceiver.start()
  // Its clock does not advance: the service does not try again on its own.
  await using service = await startService({ flags, clock: new ManualClock('2026-01-05T13:20:30Z') })
  const { id } = await watch(service, { name: 'Avisos', starts: 'entrega', url: receiver.url })
  receiver.answer = (response) => void response.writeHead(503).end()
  await stored(service, [record('entrega1'), record('entrega2')])
  await receiver.until(1)
  await watchUntil(service, id, ({ attempts }) => attempts === 1)
  const { page } = await browser.open(service, 'vigilancias', {
    domainwatch: service.domainKey,
  })
  await page.setViewportSize({ width: 390, height: 844 })
  const item = page.getByRole('listitem', { name: 'Avisos' })
  await item.getByText('El receptor respondió 503').waitFor()
  await item.getByRole('button', { name: /^Entregas/ }).click()
  await page.waitForURL(/vigilancias\?entregas=/)
  const list = page.getByRole('dialog', { name: 'Entregas de «Avisos»' })
  const delivery = list.getByRole('listitem')
  await delivery.getByText('En curso').waitFor()
  await delivery.getByText('Webhook · 2 cambios · 1 intento · respuesta 503').waitFor()
  await delivery.getByText('El receptor respondió 503', { exact: true }).waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  receiver.answer = (response) => void response.writeHead(204).end()
  await delivery.getByRole('button', { name: /^Intentar ahora/ }).click()
  await delivery.getByText('Entregada').waitFor()
  await receiver.until(2)
  await delivery.getByRole('button', { name: /^Reenviar/ }).click()
  await delivery.getByText('3 intentos').waitFor()
  const [first, , third] = receiver.received
  assert.deepEqual([third?.id, third?.text], [first?.id, first?.text])
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
  await page.goBack()
  await list.waitFor({ state: 'detached' })
})

test('another member sees shared watches with their owner, in English, without what belongs to the owner, and no others', async () => {
  const { key } = await service.newKey('vecina', 'domainwatch')
  const url = 'http://127.0.0.1:9/avisos'
  const common = await watch(service, { name: 'Común', url, shared: 1 })
  const own = await watch(service, { name: 'Propia', atom: '' })
  const { page, context } = await browser.open(
    service,
    'vigilancias',
    { domainwatch: key },
    { language: 'en' },
  )
  const item = (name: string) => page.getByRole('listitem', { name, exact: true })
  await item('Común').getByText('Shared by grupo').waitFor()
  assert.equal(await page.getByText('avisos').count(), 0)
  await item('Común').getByRole('button', { name: /^More/ }).click()
  const menu = item('Común').getByRole('button', { name: 'Pause' })
  await menu.waitFor()
  for (const name of ['Rotate the secret', 'Delete'])
    assert.equal(await item('Común').getByRole('button', { name }).count(), 0, name)
  await page.keyboard.press('Escape')
  await item('Común').getByRole('button', { name: /^Edit/ }).click()
  const form = page.getByRole('dialog', { name: 'Edit “Común”' })
  for (const name of ['Webhook', 'Other destinations', 'Also create an Atom feed', 'Share with the group'])
    assert.equal(await form.getByLabel(name).count(), 0, name)
  await form.getByLabel('Alert name').fill('De todos')
  await form.getByLabel('Filters').fill('faro')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'detached' })
  await item('De todos').waitFor()
  assert.equal((await getWatches(service)).find(({ id }) => id === common.id)?.['url'], url)
  await page.getByRole('button', { name: /^Deliveries/ }).click()
  await page.getByText('It has sent nothing in the last 30 days.').waitFor()
  assert.equal(await page.getByRole('listitem', { name: 'Propia' }).count(), 0)
  assert.deepEqual(await accessibilityViolations(page), [])
  await context.close()
  for (const { id } of [common, own]) await removeWatch(service, id)
})

test('a mail address is shown as unconfirmed until its reader confirms it by the page of its link', async () => {
  await using server = await startMailServer('loopback', true)
  await using service = await startService({ flags: mailFlags(server) })
  await watch(service, { name: 'Por correo', starts: 'correo', to: 'mailto:ana@example.cl' })
  await eventually(() => server.mails.length === 1)
  const { page, context } = await browser.open(service, 'vigilancias', {
    domainwatch: service.domainKey,
  })
  const item = page.getByRole('listitem', { name: 'Por correo' })
  await item.getByText('Por confirmar', { exact: true }).waitFor()
  await item.getByText('Falta que ana@example.cl abra el enlace').waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  const opened = await context.newPage()
  await opened.goto(confirmationLink(server.mails[0]))
  await opened.getByText('ana@example.cl').waitFor()
  assert.deepEqual(await accessibilityViolations(opened), [])
  await opened.getByRole('button', { name: 'Confirmar' }).click()
  await opened.getByRole('heading', { name: 'Dirección confirmada' }).waitFor()
  await opened.close()
  await page.reload()
  await item.getByText('mailto:ana@example.cl').waitFor()
  assert.equal(await item.getByText('Por confirmar').count(), 0)
})

test('a watch has several destinations, a daily digest and a language; secrets in addresses stay hidden', async () => {
  using receiver = await WebhookReceiver.start()
  const server = new URL('/tema-secreto', receiver.url).href
  const { page } = await open('vigilancias?nueva=')
  const form = page.getByRole('dialog', { name: 'Nueva alerta' })
  await form.getByLabel('Nombre de la alerta').fill('Al teléfono')
  await form.getByLabel('Otros destinos').fill(`ntfy:${server}\ntelegram:1`)
  await form.getByLabel('Resumen diario a las').fill('09:30')
  await form.getByLabel('Idioma de los mensajes').selectOption('English')
  assert.deepEqual(await accessibilityViolations(page), [])
  await form.getByRole('button', { name: 'Crear' }).click()
  await form.getByText('El servicio no tiene configurado telegram').waitFor()
  await form.getByLabel('Otros destinos').fill(`ntfy:${server}`)
  await form.getByRole('button', { name: 'Crear' }).click()
  const item = page.getByRole('listitem', { name: 'Al teléfono' })
  await item.getByText('un resumen diario a las 09:30').waitFor()
  const own = async () => (await getWatches(service)).find(({ name }) => name === 'Al teléfono')
  const made = await own()
  assert.deepEqual([made?.['digest'], made?.['language'], made?.['url']], ['09:30', 'en', null])
  const shown = String(made?.['to'])
  assert.equal(shown.includes('secreto'), false)
  await item.getByText(shown).waitFor()
  await item.getByRole('button', { name: /^Probar/ }).click()
  await toast(page, /^Prueba correcta/).waitFor()
  assert.equal(receiver.received.length, 1)
  assert.equal(Object(receiver.received[0]?.body).topic, 'tema-secreto')

  await item.getByRole('button', { name: /^Editar/ }).click()
  const edit = page.getByRole('dialog', { name: 'Editar «Al teléfono»' })
  await edit.getByLabel('Filtros').fill('hasta:2026-01-31')
  await edit.getByLabel('Otros destinos').fill(`${shown}\ndiscord:${server}`)
  await edit.getByLabel('Resumen diario a las').fill('')
  await edit.getByRole('combobox', { name: /^Avisar/ }).selectOption('new,dns')
  await edit.getByLabel('Volver a consultar el DNS').check()
  await edit.getByRole('button', { name: 'Guardar' }).click()
  await edit.waitFor({ state: 'detached' })
  const edited = await own()
  assert.deepEqual(
    [edited?.['digest'], edited?.['changes'], edited?.['filters']],
    [null, 'new,dns', { to: '2026-01-31 23:59:59', dns: '1' }],
  )
  assert.equal(String(edited?.['to']).split(',')[0], shown)
  assert.equal(String(edited?.['to']).split(',').length, 2)
  receiver.answer = (response) => void response.writeHead(404).end()
  await item.getByRole('button', { name: /^Probar/ }).click()
  await toast(page, /^La prueba falló/).waitFor()
  await removeWatch(service, String(edited?.['id']))
})
