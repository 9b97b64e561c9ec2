/** What a user has entered or started when they go elsewhere, and what comes when they have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { commonErrors } from '../../src/lib/errors.ts'
import { startConsole } from '../support/console.ts'
import { copyWith, domainRow, toast, addKey, openScreen, signOut } from '../support/browser.ts'
import { record, records, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { holdRequests } from '../support/gate.ts'

const flags = { 'webhook-networks': '127.0.0.0/8', 'dns-servers': '127.0.0.1:9' }
const { service, browser } = await startConsole({ flags })
const ana = (await service.newKey('Ana', 'domainwatch')).key
await stored(
  service,
  ['casa', 'perro', 'sol'].map((name, i) => record(name, { date_reg: `2025-12-1${i} 10:00:00` })),
)
const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })

/** Holds the first POST to an address. */
async function holdPost(page: Page, address: string): Promise<{ readonly first: Promise<Route> }> {
  const { promise, resolve } = Promise.withResolvers<Route>()
  await page.route(address, (route) =>
    route.request().method() === 'POST' ? resolve(route) : route.continue(),
  )
  return { first: promise }
}

/** Whether the browser asks before the page is left. */
async function asksBeforeLeaving(page: Page): Promise<boolean> {
  return page.evaluate('!dispatchEvent(new Event("beforeunload", { cancelable: true }))')
}

test('names that were pasted, and what is to be stored of them, are there after a visit of another screen', async () => {
  const { page } = await open('agregar')
  const box = page.getByRole('textbox', { name: 'Nombres' })
  assert.equal(await asksBeforeLeaving(page), false)
  await box.fill('casa nuevo1 nuevo2')
  await page.getByLabel('Agente').fill('lista de Ana')
  await page.getByText('2 nuevos', { exact: true }).waitFor()
  assert.equal(await asksBeforeLeaving(page), true)
  await page.getByRole('link', { name: 'casa.cl' }).click()
  await domainRow(page, 'casa').waitFor()
  await page.goBack()
  await page.getByText('2 nuevos', { exact: true }).waitFor()
  assert.deepEqual(
    [await box.inputValue(), await page.getByLabel('Agente').inputValue()],
    ['casa nuevo1 nuevo2', 'lista de Ana'],
  )
  // A second press adds nothing, and does not blame anybody else.
  const gate = await holdRequests(page, 'domainwatch/add')
  await page.getByRole('button', { name: 'Agregar 2 nombres' }).click()
  const sent = await gate.next()
  assert.equal(await page.getByRole('button', { name: /^Agregar/ }).isDisabled(), true)
  await sent.pass()
  await toast(page, '2 dominios agregados').waitFor()
  await page.getByText('3 ya guardados', { exact: true }).waitFor()
  assert.equal(await asksBeforeLeaving(page), false)
})

test('a tag that is being typed is saved when the details close, and Escape drops it; the browser asks for a note', async () => {
  const { page } = await open('dominios')
  await domainRow(page, 'sol').click()
  const tag = page.getByRole('combobox', { name: 'Etiquetas' })
  await tag.fill('mala')
  await tag.press('Escape')
  assert.equal(await tag.inputValue(), '')
  await tag.fill('verano')
  await page.goBack()
  await page.goForward()
  await page.getByRole('button', { name: 'Quitar la etiqueta verano' }).waitFor()
  await page.getByRole('textbox', { name: 'Nota' }).fill('a medias')
  assert.equal(await asksBeforeLeaving(page), true)
})

test('a secret that comes after its form was closed is shown, wherever the user is by then', async () => {
  const { page, context } = await open('vigilancias?nueva=')
  const { first } = await holdPost(page, '**/domainwatch/watches?*')
  const form = page.getByRole('dialog', { name: 'Nueva alerta' })
  await form.getByLabel('Nombre de la alerta').fill('Todas')
  await form.getByLabel('Webhook').fill(`${service.url}/webhook`)
  // Neither a click outside the form nor a selection of text that ends there closes it.
  const field = await form.getByLabel('Webhook').boundingBox()
  assert.ok(field !== null)
  await page.mouse.move(field.x + 20, field.y + 10)
  await page.mouse.down()
  await page.mouse.move(4, field.y)
  await page.mouse.up()
  await page.mouse.click(4, 400)
  await form.getByRole('button', { name: 'Crear' }).click()
  const route = await first
  assert.equal(await asksBeforeLeaving(page), true)
  await form.getByRole('button', { name: 'Cancelar' }).click()
  await openScreen(page, 'Dominios')
  await domainRow(page, 'casa').waitFor()
  await route.continue()
  const made = page.getByRole('dialog', { name: 'Alerta creada' })
  const secret = (await made.getByRole('region', { name: 'Secreto' }).locator('code').textContent()) ?? ''
  assert.match(secret, /^whsec_/)
  assert.ok(page.url().endsWith('/dominios'))
  // A browser without a clipboard for scripts, as over plain HTTP.
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error())')
  assert.equal(await copyWith(made.getByRole('button', { name: 'Copiar' })), secret)
  await page.evaluate('document.execCommand = () => false')
  await made.getByText('Copiar', { exact: true }).waitFor()
  await made.getByRole('button', { name: 'Copiar' }).click()
  await page.getByText('El navegador no deja copiar').waitFor()
  await made.getByRole('button', { name: 'Ya lo guardé' }).click()
  assert.equal(await asksBeforeLeaving(page), false)
})

test('a key of another account is refused while a list is sent, which is imported for the account that sent it', async () => {
  const { page } = await open('importar')
  const file = { name: 'lista.csv', mimeType: 'text/csv', buffer: Buffer.from('importado.cl,2024-01-12\n') }
  await page.locator('input[type=file]').setInputFiles(file)
  const gate = await holdRequests(page, 'domainwatch/import')
  await page.getByRole('button', { name: 'Importar', exact: true }).click()
  const sent = await gate.next()
  await addKey(page, ana)
  await page.getByText('Esta clave es de otra cuenta, y hay trabajo sin terminar.').waitFor()
  await sent.pass()
  await eventually(async () => (await records(service, { search: 'importado' })).length === 1)
  assert.equal((await records(service, { search: 'importado' }))[0]?.agent, 'grupo')
  await page.getByText('Importación terminada', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'Entrar' }).click()
  await page.getByRole('button', { name: 'Mi sesión: Ana' }).waitFor()
})

test('keys act on the first row of a view that a link opened, and in a menu they do nothing to the table', async () => {
  const { page } = await open('dominios?starts=s')
  await domainRow(page, 'sol').waitFor()
  await openScreen(page, 'Dominios')
  await domainRow(page, 'casa').waitFor()
  const grid = page.getByRole('grid', { name: 'Dominios' })
  await grid.focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press(' ')
  await page.getByRole('region', { name: '1 seleccionado' }).waitFor()
  await page.locator('.domains-chips').getByRole('button', { name: 'Largo', exact: true }).click()
  const panel = page.getByRole('group', { name: 'Largo' })
  await panel.waitFor()
  await page.keyboard.press('d')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'hidden' })
  await page.getByRole('region', { name: '1 seleccionado' }).waitFor()
  assert.equal(await grid.getByText('Descartado').count(), 0)
  await page.goBack()
  await domainRow(page, 'casa').waitFor({ state: 'detached' })
  await grid.and(page.locator('[aria-activedescendant="row-0"]')).waitFor()
})

const twoKeys = (account: string) =>
  Promise.all([service.newKey(account, 'domainwatch'), service.newKey(account, 'domainwatch')])

/** Pastes a key into the form of the sign-in screen. */
async function signIn(page: Page, key: string, isRemembered = false) {
  await page.getByLabel('Clave de API').fill(key)
  if (isRemembered) await page.getByRole('checkbox', { name: /^Recordarme/ }).check()
  await page.getByRole('button', { name: 'Entrar' }).click()
  await page.getByRole('button', { name: 'Mi sesión' }).waitFor()
}

test('what a revoked key could not store is there for another key of its account, and for nobody else', async () => {
  const [one, two] = await twoKeys('Carla')
  const { page } = await browser.open(service, 'agregar', { domainwatch: one.key })
  const names = page.getByRole('textbox', { name: 'Nombres' })
  const note = page.getByRole('textbox', { name: 'Nota' })
  const again = page.getByRole('button', { name: 'Guardar lo mío' })
  await names.fill('secreto1 secreto2')
  await page.getByText('2 nuevos', { exact: true }).waitFor()
  await openScreen(page, 'Dominios')
  await domainRow(page, 'perro').click()
  await note.fill('lo de Carla')
  await service.revokeKey(one.id)
  // Another request may find first that the key was revoked, and take the field away.
  await page.keyboard.press('Enter')
  await signIn(page, two.key)
  await again.waitFor()
  assert.equal(await note.inputValue(), 'lo de Carla')
  await openScreen(page, 'Agregar nombres')
  assert.equal(await names.inputValue(), 'secreto1 secreto2')
  await page.goBack()
  await again.focus()
  await service.revokeKey(two.id)
  await page.keyboard.press('Enter')
  await signIn(page, ana)
  await note.waitFor()
  assert.deepEqual([await note.inputValue(), await again.count()], ['', 0])
  await openScreen(page, 'Agregar nombres')
  assert.equal(await names.inputValue(), '')
})

test('an account that is learned while a note is typed is that of the note', async () => {
  const [one, two] = await twoKeys('Elsa')
  const { page } = await browser.open(service, 'triaje', {})
  const gate = await holdRequests(page, 'domainwatch/key')
  await page.evaluate(
    (keys) => sessionStorage.setItem('catalejo.keys', keys),
    JSON.stringify({ domainwatch: one.key }),
  )
  await page.goto(`${service.url}/console/dominios`)
  // The service is busy at first.
  await (await gate.next()).answer(commonErrors.overloaded())
  const again = await gate.next()
  await domainRow(page, 'perro').click()
  const note = page.getByRole('textbox', { name: 'Nota' })
  await note.fill('lo de Elsa')
  await again.pass()
  await page.getByRole('button', { name: 'Mi sesión: Elsa' }).waitFor()
  await service.revokeKey(one.id)
  // Another request may find first that the key was revoked, and take the field away.
  await page.keyboard.press('Enter')
  await page.getByLabel('Clave de API').waitFor()
  await gate.open()
  await signIn(page, two.key)
  await page.getByRole('button', { name: 'Guardar lo mío' }).waitFor()
  assert.equal(await note.inputValue(), 'lo de Elsa')
})

test('what was entered in other tabs is kept there when a remembered key is rejected in one', async () => {
  const [one, two] = await twoKeys('Fina')
  const { page, context } = await browser.open(service, 'agregar', {})
  await signIn(page, one.key, true)
  const names = page.getByRole('textbox', { name: 'Nombres' })
  await names.fill('nuevo3 nuevo4')
  await page.getByText('2 nuevos', { exact: true }).waitFor()
  const other = await context.newPage()
  await service.revokeKey(one.id)
  await other.goto(`${service.url}/console/dominios`)
  const rejected = 'La clave de dominios ya no es válida. Pegue una nueva.'
  await other.getByText(rejected).waitFor()
  await page.getByText(rejected).waitFor()
  await signIn(page, two.key)
  assert.equal(await names.inputValue(), 'nuevo3 nuevo4')
})

test('what was being typed when another tab signs out is not there for the next user', async () => {
  const { page, context } = await browser.open(service, 'dominios', {})
  await signIn(page, ana, true)
  await domainRow(page, 'sol').click()
  await page.getByRole('textbox', { name: 'Nota' }).fill('escrita por Ana')
  const other = await context.newPage()
  await other.goto(`${service.url}/console/dominios`)
  await signOut(other)
  await signIn(page, service.domainKey)
  const note = page.getByRole('textbox', { name: 'Nota' })
  await note.waitFor()
  assert.equal(await note.inputValue(), '')
  assert.equal(await asksBeforeLeaving(page), false)
})

test('the form of an alert that was left by the back button or Escape keeps what was entered, until it is cancelled', async () => {
  const { page } = await open('vigilancias')
  const make = page.getByRole('button', { name: 'Nueva alerta' })
  const form = page.getByRole('dialog', { name: 'Nueva alerta' })
  const name = form.getByLabel('Nombre de la alerta')
  await make.click()
  await name.fill('Playas')
  await page.goBack()
  await form.waitFor({ state: 'detached' })
  await page.goForward()
  assert.equal(await name.inputValue(), 'Playas')
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })
  await make.click()
  assert.equal(await name.inputValue(), 'Playas')
  await form.getByRole('button', { name: 'Cancelar' }).click()
  await make.click()
  assert.equal(await name.inputValue(), '')
})
