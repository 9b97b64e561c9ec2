import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { assertAccessible } from '../support/browser.ts'
import { LIST, record, stored, update } from '../support/domains.ts'
import { call, type Fields } from '../support/http.ts'

const { service, browser } = await startConsole({ flags: { 'dns-servers': '127.0.0.1:9' } })
await stored(service, [record('casa', { status: 0 }), record('perro')])
const ana = (await service.newKey('Ana', 'domainwatch')).key

const open = (name: string) =>
  browser.open(service, `dominios?ficha=${name}`, { domainwatch: service.domainKey })
const toast = (page: Page, text: string | RegExp) => page.locator('.toast').filter({ hasText: text })
const asAna = (changes: readonly Fields[]) => update(service, changes, { key: ana, encoding: 'json' })

async function annotations(name: string) {
  const query = { api: service.domainKey, search: name, fields: 'note,tags' }
  const { body } = await call(service, LIST, { query })
  const { note, tags } = Object(body).data[0][0]
  return { note, tags }
}

test('note and tags are edited in the details, undone one by one, and shown in the history with their author', async () => {
  const { page, context, complaints } = await open('casa')
  const note = page.getByRole('textbox', { name: 'Nota' })
  await note.fill('para el verano')
  await note.press('Enter')
  await toast(page, 'Guardado: la nota de casa.cl').waitFor()
  const tag = page.getByRole('combobox', { name: 'Etiquetas' })
  for (const text of ['Playa', 'sur-2']) {
    await tag.fill(text)
    await tag.press('Enter')
    await page.getByRole('button', { name: `Quitar la etiqueta ${text.toLowerCase()}` }).waitFor()
  }
  await tag.fill('no vale')
  await tag.press('Enter')
  await page.getByText('Solo letras, dígitos y guiones, hasta 30.').waitFor()
  await tag.fill('')
  await page.getByText('Etiquetas: playa → playa, sur-2').waitFor()
  assert.deepEqual(await annotations('casa'), { note: 'para el verano', tags: ['playa', 'sur-2'] })
  // The message of the last tag is shown for nine seconds.
  await toast(page, 'las etiquetas de casa.cl').getByRole('button', { name: 'Deshacer' }).last().click()
  await page.getByText('Etiquetas: playa, sur-2 → playa', { exact: true }).waitFor()
  assert.deepEqual(await annotations('casa'), { note: 'para el verano', tags: ['playa'] })
  await assertAccessible(page)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a note that a colleague wrote meanwhile is shown and kept', async () => {
  const { page, context } = await open('perro')
  const note = page.getByRole('textbox', { name: 'Nota' })
  await note.fill('la mía')
  await asAna([{ domain: 'perro', note: 'la de Ana' }])
  // The page has heard of it, and leaves the words that are being typed alone.
  await page.getByText('Nota: – → la de Ana', { exact: true }).waitFor()
  assert.equal(await note.inputValue(), 'la mía')
  await note.press('Enter')
  await toast(
    page,
    /No se guardó el cambio de la nota de perro\.cl: mientras tanto alguien puso «la de Ana»/,
  ).waitFor()
  assert.equal((await annotations('perro')).note, 'la de Ana')
  await context.close()
})

test('a mark that a colleague set in the meantime is shown, and not overwritten', async () => {
  const { page, context } = await open('perro')
  const discard = page.locator('.sheet').getByRole('button', { name: 'Descartar' })
  await discard.waitFor()
  await page.route('**/domainwatch/events?*', (route) => route.abort())
  await page.reload()
  await discard.waitFor()
  await asAna([{ domain: 'perro', revision: 1, seen: 1 }])
  await discard.click()
  await toast(page, /No se pudo descartar perro\.cl: .*ahora: Inscrito · Revisión/).waitFor()
  const { body } = await call(service, LIST, { query: { api: service.domainKey, search: 'perro' } })
  assert.equal(Object(body).data[0][0].discarded, 0)
  await context.close()
})
