import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startConsole } from '../support/console.ts'
import { accessibilityViolations, toast, chooseMore, showsCount } from '../support/browser.ts'
import { names, record, stored, update } from '../support/domains.ts'
import { ManualClock } from '../support/service.ts'
import { call } from '../support/http.ts'

const clock = new ManualClock(new Date().toISOString())
const { service, browser } = await startConsole({ clock })

test('a rule is made from the filters of a view, previewed, paused, removed and restored', async () => {
  await stored(
    service,
    ['casa1', 'casa2', 'casa'].map((name) => record(name, { status: 0 })),
  )
  await update(service, [{ domain: 'casa2', revision: 1 }])
  const { page } = await browser.open(service, 'dominios?digits=1', {
    domainwatch: service.domainKey,
  })
  await chooseMore(page, 'Ocultar estos')
  await page.waitForURL(/reglas\?digits=1&nueva=hide$/)
  const dialog = page.getByRole('dialog', { name: 'Nueva regla' })
  await dialog
    .getByText('Ocultaría 2. Guardados o liberados en los últimos 30 días: 2; marcados para revisión: 1.')
    .waitFor()
  await dialog.getByText('casa2.cl').waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  await dialog.getByLabel('Nombre de la regla').fill('Con número')
  await dialog.getByRole('button', { name: 'Crear' }).click()
  const item = page.getByRole('listitem', { name: 'Con número' })
  await item.getByText('Oculta dígitos:sí').waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  const hidden = () => names(service, { hidden: 1, order: 'name', sort: 'asc' })
  assert.deepEqual(await hidden(), ['casa1', 'casa2'])

  await item.getByRole('button', { name: 'Pausar Con número' }).click()
  await item.getByText('En pausa').waitFor()
  assert.deepEqual(await hidden(), [])
  await item.getByRole('button', { name: 'Reanudar Con número' }).click()
  await item.getByText('En pausa').waitFor({ state: 'detached' })
  await item.getByRole('button', { name: 'Quitar Con número' }).click()
  await page.getByText('Todavía no hay reglas').waitFor()
  assert.deepEqual(await hidden(), [])
  const removed = toast(page, 'Regla «Con número» quitada')
  await removed.getByRole('button', { name: 'Deshacer' }).click()
  await item.waitFor()
  assert.deepEqual(await hidden(), ['casa1', 'casa2'])

  await item.getByRole('button', { name: 'Editar Con número' }).click()
  const editor = page.getByRole('dialog', { name: 'Editar «Con número»' })
  await editor.getByLabel('Qué hace').selectOption('tag')
  await editor.getByRole('textbox', { name: 'Etiqueta' }).fill('número')
  await editor.getByRole('button', { name: 'Guardar' }).click()
  await item.getByText('Etiqueta con «número»').waitFor()
  assert.deepEqual(await hidden(), [])
})

test('a rule or a watch with a filter that it does not take is not made, and says which', async () => {
  const keys = { domainwatch: service.domainKey }
  const { page } = await browser.open(service, 'reglas', keys)
  await page.getByRole('button', { name: 'Nueva regla' }).click()
  const rule = page.getByRole('dialog', { name: 'Nueva regla' })
  await rule.getByLabel('Filtros').fill('dígitos:sí visto:no')
  await rule.getByLabel('Nombre de la regla').fill('Con dígito')
  await rule.locator('[aria-live]').filter({ hasText: '«visto:no» no sirve aquí.' }).waitFor()
  await rule.getByRole('button', { name: 'Crear' }).click()
  await rule.getByRole('alert').filter({ hasText: '«visto:no» no sirve aquí.' }).waitFor()
  await rule.getByLabel('Filtros').fill('dígitos:sí')
  await rule.getByRole('button', { name: 'Crear' }).click()
  await page.getByRole('listitem', { name: 'Con dígito' }).getByText('Oculta dígitos:sí').waitFor()

  await page.goto(`${service.url}/console/vigilancias?digits=1&nueva=`)
  const watch = page.getByRole('dialog', { name: 'Nueva alerta' })
  await watch.getByLabel('Filtros').fill('dígitos:sí ns:ns1.parking.cl')
  await watch.getByRole('button', { name: 'Crear' }).click()
  await watch.getByRole('alert').filter({ hasText: '«ns:ns1.parking.cl» no sirve aquí.' }).waitFor()
})

const DAY = 86_400_000

test('dismissed names are searched and forgotten; one that came back says who discarded it', async () => {
  const { key: ana } = await service.newKey('Ana', 'domainwatch')
  const domains = ['casa', 'casona', 'perro']
  await stored(
    service,
    domains.map((name) => record(name, { status: 0 })),
  )
  await update(
    service,
    domains.map((domain) => ({ domain, discarded: 1 })),
    { key: ana },
  )
  clock.advance(7 * DAY)
  // Any write removes what has expired.
  await stored(service, [record('perro', { status: 0 })])
  const { page } = await browser.open(service, 'descartados', {
    domainwatch: service.domainKey,
  })
  const rows = page.getByRole('region', { name: 'Descartados' }).locator('tbody tr')
  await rows.filter({ hasText: 'casona.cl' }).getByText('Ana').waitFor()
  await showsCount(rows, 2)
  await page.getByRole('searchbox', { name: 'Buscar en los descartados' }).fill('cason')
  await rows.filter({ hasText: 'casa.cl' }).waitFor({ state: 'detached' })
  await page.waitForURL(/descartados\?search=cason$/)
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.getByRole('button', { name: 'Olvidar casona.cl' }).click()
  await page.getByText('Ningún nombre descartado coincide').waitFor()
  const { body } = await call(service, '/api/v1/domainwatch/dismissed', { query: { api: ana } })
  assert.deepEqual(
    Object(body).data.map(({ name }: { name: string }) => name),
    ['casa'],
  )

  for (const path of ['dominios?ficha=perro', 'triaje?starts=perro']) {
    const { page: other } = await browser.open(service, path, {
      domainwatch: service.domainKey,
    })
    await other.getByText('Descartado antes por Ana').waitFor()
  }
})
