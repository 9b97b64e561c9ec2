/** What a member does to a name, which colleagues see and the list of what one did undoes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { assertAccessible, toast, showsCount } from '../support/browser.ts'
import { getFields, record, stored, update } from '../support/domains.ts'
import { send, type Fields } from '../support/http.ts'
import { BULK, ended } from '../support/jobs.ts'

const { service, browser } = await startConsole({ flags: { 'dns-servers': '127.0.0.1:9' } })
const query = { api: service.domainKey }
const ana = (await service.newKey('Ana', 'domainwatch')).key

const row = (page: Page, name: string, text: string) =>
  page.locator('tbody tr').filter({ hasText: name }).filter({ hasText: text })
const undo = (page: Page, name: string, text: string) =>
  row(page, name, text).getByRole('button', { name: /^Deshacer/ })

const marks = (name: string) => getFields(service, name, 'revision', 'discarded', 'seen', 'note', 'tags')
const UNTOUCHED = { revision: 0, discarded: 0, seen: 0, note: '', tags: [] }

test('marks and a note are undone from the list after a reload, unless a colleague has changed them', async () => {
  await stored(
    service,
    ['casa', 'perro', 'gato'].map((name) => record(name)),
  )
  const { page } = await browser.open(service, 'dominios?ficha=casa', {
    domainwatch: service.domainKey,
  })
  const press = async (name: string) => page.locator('.sheet').getByRole('button', { name }).click()
  await press('Revisión')
  await toast(page, '1 dominio en revisión: casa.cl').waitFor()
  const note = page.getByRole('textbox', { name: 'Nota' })
  await note.fill('para el verano')
  await note.press('Enter')
  await toast(page, 'Guardado: la nota de casa.cl').waitFor()
  for (const name of ['perro', 'gato']) {
    await page.goto(`${service.url}/console/dominios?ficha=${name}`)
    await press('Descartar')
    await toast(page, `1 dominio descartado: ${name}.cl`).waitFor()
  }

  await page.goto(`${service.url}/console/actividad`)
  await page.getByRole('heading', { name: 'Lo que hice hoy' }).waitFor()
  await undo(page, 'casa.cl', 'Revisión').waitFor()
  await showsCount(page.locator('tbody tr'), 4)
  await assertAccessible(page)

  // The colleague's change of something else does not matter.
  await update(service, [{ domain: 'casa', tags: ['de-ana'] }], { key: ana, encoding: 'json' })
  await update(service, [{ domain: 'gato', discarded: 0, revision: 1 }], { key: ana })
  await undo(page, 'casa.cl', 'Nota: – → para el verano').click()
  await row(page, 'casa.cl', 'Nota').getByText('Deshecho').waitFor()
  await undo(page, 'casa.cl', 'Revisión').click()
  await row(page, 'casa.cl', 'Revisión').getByText('Deshecho').waitFor()
  await undo(page, 'perro.cl', 'Descartado').click()
  await row(page, 'perro.cl', 'Descartado').getByText('Deshecho').waitFor()
  await undo(page, 'gato.cl', 'Descartado').click()
  await toast(
    page,
    /No se pudo deshacer gato\.cl: alguien lo cambió mientras tanto; ahora: Inscrito · Revisión/,
  ).waitFor()
  assert.deepEqual(await marks('casa'), { ...UNTOUCHED, tags: ['de-ana'] })
  assert.deepEqual(await marks('perro'), UNTOUCHED)
  assert.deepEqual(await marks('gato'), { ...UNTOUCHED, revision: 1, seen: 1 })

  await page.reload()
  await undo(page, 'gato.cl', 'Descartado').waitFor()
  await showsCount(page.getByText('Deshecho', { exact: true }), 3)
  await showsCount(page.locator('tbody tr'), 4)
})

test('a bulk change is one row, which is undone by the service', async () => {
  await stored(service, [record('tanda1'), record('tanda2')])
  const { body } = await send(
    service,
    BULK,
    { search: 'tanda', set: { revision: 1, seen: 1 } },
    { encoding: 'json', query },
  )
  await ended(service, BULK, Object(body).id)
  const { page } = await browser.open(service, 'actividad', { domainwatch: service.domainKey })
  // One that changed nothing can be repeated.
  const change = (note: string) =>
    update(
      service,
      ['tanda1', 'tanda2'].map((domain) => ({ domain, note })),
      { key: ana },
    )
  await change('de Ana')
  await undo(page, '2 dominios', '2 dominios en revisión').click()
  await toast(page, 'Deshecho: 0 dominios. A 2 los cambió alguien mientras tanto').waitFor()
  await change('')
  await undo(page, '2 dominios', '2 dominios en revisión').click()
  await row(page, '2 dominios', '2 dominios en revisión').getByText('Deshecho').waitFor()
  assert.deepEqual(await marks('tanda1'), UNTOUCHED)
  assert.equal(await page.locator('tbody tr').filter({ hasText: 'tanda' }).count(), 0)
})

const open = (name: string) =>
  browser.open(service, `dominios?ficha=${name}`, { domainwatch: service.domainKey })
const asAna = (changes: readonly Fields[]) => update(service, changes, { key: ana, encoding: 'json' })

const annotations = (name: string) => getFields(service, name, 'note', 'tags')

test('note and tags are edited in the details, undone one by one, and shown in the history with their author', async () => {
  await stored(service, [record('nido', { status: 0 }), record('nube')])
  const { page } = await open('nido')
  const note = page.getByRole('textbox', { name: 'Nota' })
  await note.fill('para el verano')
  await note.press('Enter')
  await toast(page, 'Guardado: la nota de nido.cl').waitFor()
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
  assert.deepEqual(await annotations('nido'), { note: 'para el verano', tags: ['playa', 'sur-2'] })
  // The message of the last tag is shown for nine seconds.
  await toast(page, 'las etiquetas de nido.cl').getByRole('button', { name: 'Deshacer' }).last().click()
  await page.getByText('Etiquetas: playa, sur-2 → playa', { exact: true }).waitFor()
  assert.deepEqual(await annotations('nido'), { note: 'para el verano', tags: ['playa'] })
})

test('a note that a colleague wrote meanwhile is shown and kept', async () => {
  const { page } = await open('nube')
  const note = page.getByRole('textbox', { name: 'Nota' })
  await note.fill('la mía')
  await asAna([{ domain: 'nube', note: 'la de Ana' }])
  // The page has heard of it, and leaves the words that are being typed alone.
  await page.getByText('Nota: – → la de Ana', { exact: true }).waitFor()
  assert.equal(await note.inputValue(), 'la mía')
  await note.press('Enter')
  await toast(
    page,
    /No se guardó el cambio de la nota de nube\.cl: mientras tanto alguien puso «la de Ana»/,
  ).waitFor()
  assert.deepEqual(await annotations('nube'), { note: 'la de Ana', tags: [] })
})
