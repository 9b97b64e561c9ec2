/** Views that are kept under a name: their counts, and what is new since they were last open. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import {
  domainRow,
  openScreen,
  chooseMore,
  enterKey,
  showsCount,
  showsTexts,
  toast,
} from '../support/browser.ts'
import { record, stored, update } from '../support/domains.ts'
import { call, type Fields } from '../support/http.ts'

const { service, browser } = await startConsole()
await stored(
  service,
  ['casa', 'casa-azul', 'faro', 'sol'].map((name) => record(name, { status: 0 })),
)
const open = (path: string, keys: Readonly<Record<string, string>> = { domainwatch: service.domainKey }) =>
  browser.open(service, path, keys)
const views = (page: Page) => page.getByRole('navigation').getByRole('listitem').filter({ hasText: /casas/ })

test('a view is saved by name, counted in the side bar with what changed since it was open, opened there, and removed', async () => {
  const { page } = await open('dominios?search=casa')
  await domainRow(page, 'casa-azul').waitFor()
  await chooseMore(page, 'Guardar esta vista')
  await page.getByLabel('Nombre').fill('Mis casas')
  await page.getByRole('button', { name: 'Guardar vista' }).click()
  await toast(page, 'Vista guardada: Mis casas').waitFor()
  await views(page).getByText('2', { exact: true }).waitFor()
  assert.equal(await views(page).getByRole('link').getAttribute('aria-current'), 'page')
  // They come right after the screens of their service.
  const groups = page.getByRole('navigation').getByRole('heading')
  await showsTexts(groups, ['Dominios .cl', 'Vistas guardadas', 'Imágenes', 'Servicio'])

  await openScreen(page, 'Inicio')
  await update(service, [{ domain: 'casa', status: 1 }])
  await page.reload()
  const changes = views(page).getByText('1 cambio desde su última visita')
  await changes.waitFor({ state: 'attached' })
  await views(page).getByRole('link').click()
  await domainRow(page, 'casa-azul').waitFor()
  assert.equal(await page.getByRole('searchbox').inputValue(), 'casa')
  await changes.waitFor({ state: 'detached' })
  await chooseMore(page, 'Quitar la vista guardada')
  await views(page).waitFor({ state: 'detached' })
})

test('a view that a member shares is in the side bar and the palette of the others, who cannot remove it', async () => {
  const { page, context } = await open('dominios?search=casa')
  await chooseMore(page, 'Guardar esta vista')
  await page.getByLabel('Nombre').fill('Las casas')
  await page.getByLabel('Compartir con el grupo').check()
  await page.getByRole('button', { name: 'Guardar vista' }).click()
  await views(page).waitFor()
  await context.close()

  for (const scope of ['write', 'read'] as const) {
    const { key } = await service.newKey('Ana', 'domainwatch', { scope, expiresAt: null, rate: null })
    const colleague = await open('', { domainwatch: key })
    const { page: other } = colleague
    await views(other).getByText('de grupo').waitFor()
    await views(other).getByText('2', { exact: true }).waitFor()
    await other.keyboard.press('Control+k')
    await other.keyboard.type('casas')
    await other.getByRole('option', { name: 'Las casas de grupo' }).click()
    await domainRow(other, 'casa-azul').waitFor()
    assert.equal(await views(other).getByRole('link').getAttribute('aria-current'), 'page')
    await other.getByRole('button', { name: 'Más', exact: true }).click()
    await other.getByRole('button', { name: 'Triar esta vista' }).waitFor()
    assert.equal(await other.getByRole('button', { name: 'Quitar la vista guardada' }).count(), 0)
    // It may be kept as one's own, by a key that may write.
    const save = other.getByRole('button', { name: 'Guardar esta vista' })
    await showsCount(save, scope === 'write' ? 1 : 0)
    await colleague.context.close()
  }
})

test('the owner of a saved view renames it, stops sharing it and shares it again', async () => {
  const { page } = await open('dominios?search=casa')
  const { key } = await service.newKey('Ana', 'domainwatch')
  const colleague = await open('', { domainwatch: key })
  await views(colleague.page).getByText('de grupo').waitFor()
  for (const [name, isShared] of [
    ['Unas casas', false],
    ['Las casas', true],
  ] as const) {
    await chooseMore(page, 'Cambiar o compartir la vista guardada')
    const form = page.getByRole('dialog', { name: 'Cambiar o compartir la vista guardada' })
    assert.equal(await form.getByLabel('Compartir con el grupo').isChecked(), !isShared)
    await form.getByLabel('Compartir con el grupo').setChecked(isShared)
    await form.getByLabel('Nombre').fill(name)
    await form.getByRole('button', { name: 'Guardar vista' }).click()
    await form.waitFor({ state: 'detached' })
    await views(page).getByText(name, { exact: true }).waitFor()
    await showsCount(views(page), 1)
    const { body } = await call(service, '/api/v1/domainwatch/views', { query: { api: key } })
    const names: string[] = Object(body).data.map((view: Fields) => view['name'])
    assert.deepEqual(names, isShared ? [name] : [])
    await colleague.page.reload()
    await colleague.page.getByRole('region', { name: 'Últimos eliminados' }).getByText('faro.cl').waitFor()
    await showsCount(views(colleague.page).filter({ hasText: name }), isShared ? 1 : 0)
  }
})

test('views that an earlier console kept in the browser are moved to the service once', async () => {
  const { page } = await browser.open(service, '', {})
  const { key } = await service.newKey('Eva', 'domainwatch')
  const kept = [
    { name: '', query: '', visited: '2026-01-05 09:10:00' },
    { name: 'Otras casas', query: 'search=casa', visited: '2020-01-05 09:10:00' },
  ]
  const text = JSON.stringify(JSON.stringify(kept))
  await page.evaluate(`localStorage.setItem('catalejo.views / Eva', ${text})`)
  await enterKey(page, key)
  const moved = views(page).filter({ hasText: 'Otras casas' })
  // What is new counts from the visit that the browser remembers.
  await moved.getByText('2 cambios desde su última visita').waitFor({ state: 'attached' })
  const list = async () => {
    const reply = await call(service, '/api/v1/domainwatch/views', { query: { api: key } })
    const own: { owner: string }[] = Object(reply.body).data.filter(({ owner }: Fields) => owner === 'Eva')
    return own.map((view) => ({ ...view, id: undefined }))
  }
  const expected = { id: undefined, name: 'Otras casas', filters: 'search=casa', shared: 0, owner: 'Eva' }
  assert.deepEqual(await list(), [expected])
  await page.reload()
  await moved.waitFor()
  await moved.getByRole('link').click()
  await domainRow(page, 'casa-azul').waitFor()
  await chooseMore(page, 'Quitar la vista guardada')
  await moved.waitFor({ state: 'detached' })
  await page.reload()
  await views(page).filter({ hasText: 'Las casas' }).waitFor()
  assert.deepEqual(await list(), [])
})
