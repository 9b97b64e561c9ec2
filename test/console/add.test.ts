import assert from 'node:assert/strict'
import { test } from 'node:test'
import { httpErrors } from '../../src/http/errors.ts'
import { startConsole } from '../support/console.ts'
import { assertAccessible, toast } from '../support/browser.ts'
import { record, records, stored, update } from '../support/domains.ts'
import { holdRequests } from '../support/gate.ts'

const { service, browser } = await startConsole()
await stored(service, [record('casa', { status: 1 }), record('ñandú', { status: 0 })])

const open = () => browser.open(service, 'agregar', { domainwatch: service.domainKey })

test('pasted names are shown as new, recorded or invalid; the new ones are added', async () => {
  const { page } = await open()
  const box = page.getByRole('textbox', { name: 'Nombres' })
  await box.fill('https://www.casa.cl/a, XN--AND-6MA2C.cl\nsol.cl luna mal_o luna')
  await page.getByText('2 nuevos', { exact: true }).waitFor()
  await page.getByText('2 ya guardados', { exact: true }).waitFor()
  await page.getByText('1 no válido', { exact: true }).waitFor()
  await page.getByText('1 repetido', { exact: true }).waitFor()
  const verdict = (text: string) => page.locator('.verdict').filter({ hasText: text })
  await verdict('casa.cl').getByText('Inscrito').waitFor()
  await verdict('ñandú.cl').getByText('Libre').waitFor()
  await verdict('mal_o').getByText('Tiene caracteres no permitidos en un dominio .cl').waitFor()
  await page.getByLabel('Fecha de inscripción').fill('2026-01-12T15:00')
  await page.getByLabel('Agente').fill('lista de Ana')
  await page.getByLabel('Reservado').check()
  await page.getByRole('button', { name: 'Agregar 2 nombres' }).click()
  await toast(page, '2 dominios agregados').waitFor()
  await page.getByText('4 ya guardados', { exact: true }).waitFor()
  for (const name of ['sol', 'luna']) {
    const [{ status, reserved, date_reg, agent } = {}] = await records(service, { search: name })
    assert.deepEqual([status, reserved, date_reg, agent], [0, 1, '2026-01-12 15:00:00', 'lista de Ana'], name)
  }
  // The recorded ones stay as they are.
  assert.equal((await records(service, { search: 'casa' }))[0]?.status, 1)
  await assertAccessible(page)
})

test('many names are looked up in small batches, and nothing is added before all are known', async () => {
  const { page } = await open()
  const gate = await holdRequests(page, 'domainwatch/list')
  const many = Array.from({ length: 1_001 }, (_, i) => `nuevo${i}`)
  await page.getByRole('textbox', { name: 'Nombres' }).fill(['casa', ...many.slice(0, 199)].join('\n'))
  const held = [await gate.next(), await gate.next(), await gate.next(), await gate.next()]
  await page.getByText('falta consultar 200', { exact: true }).waitFor()
  const button = page.getByRole('button', { name: /^Agregar/ })
  assert.equal(await button.isDisabled(), true)
  for (const one of held) await one.pass()
  await gate.open()
  await page.getByText('199 nuevos', { exact: true }).waitFor()
  await page.getByText('1 ya guardado', { exact: true }).waitFor()
  await page.getByRole('textbox', { name: 'Nombres' }).fill(many.join('\n'))
  await page.getByText('Son más de 1.000 nombres', { exact: false }).waitFor()
  assert.equal(await button.isDisabled(), true)
})

test('a name whose look-up failed is not treated as new, and can be retried', async () => {
  const { page } = await open()
  const gate = await holdRequests(page, 'domainwatch/list')
  await page.getByRole('textbox', { name: 'Nombres' }).fill('casa')
  await (await gate.next()).answer(httpErrors.internal_error())
  await page.getByText('No se sabe si algunos nombres ya están guardados').waitFor()
  await page.getByText('0 nuevos', { exact: true }).waitFor()
  await gate.open()
  await page.getByRole('button', { name: 'Reintentar' }).click()
  await page.getByText('1 ya guardado', { exact: true }).waitFor()
})

test('a name that a colleague added meanwhile stays as it is, also behind many newer changes', async () => {
  const ana = (await service.newKey('Ana', 'domainwatch')).key
  const { page } = await open()
  await page.getByRole('textbox', { name: 'Nombres' }).fill('coihue quillay')
  await page.getByText('2 nuevos', { exact: true }).waitFor()
  await stored(service, [record('coihue', { status: 1, agent: 'Ana' })], { key: ana })
  // Between it and what follows, by the time of changes.
  await service.sql("UPDATE domains SET date_mod = datetime(date_mod, '-1 seconds') WHERE name = 'coihue'")
  const many = Array.from({ length: 20_001 }, (_, i) => record(`lote${i}`))
  await stored(service, many, { key: ana, encoding: 'json' })
  await page.getByRole('button', { name: 'Agregar 2 nombres' }).click()
  await toast(page, '1 dominio agregado: quillay.cl').waitFor()
  assert.equal((await records(service, { search: 'coihue' }))[0]?.status, 1)
})

test('the date of new names is the time of the service before it has answered, although the clock is an hour fast', async () => {
  const { page } = await open()
  await page.clock.install({ time: Date.now() + 3_600_000 })
  await page.reload()
  await page.getByRole('button', { name: 'Mi sesión: grupo' }).waitFor()
  await holdRequests(page, 'domainwatch/key')
  await page.reload()
  const date = page.getByLabel('Fecha de inscripción')
  await date.waitFor()
  const now = new Date().toLocaleString('sv-SE', { timeZone: 'America/Santiago' })
  const late = Date.parse(await date.inputValue()) - Date.parse(now.replace(' ', 'T'))
  assert.ok(Math.abs(late) < 1_800_000, `by ${late} ms`)
})

test('undo removes only names that were new', async () => {
  const ana = (await service.newKey('Ana', 'domainwatch')).key
  const { page } = await open()
  const gate = await holdRequests(page, 'domainwatch/add')
  await page.getByRole('textbox', { name: 'Nombres' }).fill('roble lenga coigue arrayan')
  await page.getByRole('button', { name: 'Agregar 4 nombres' }).click()
  const held = await gate.next()
  // A colleague records one in the same moment.
  await stored(service, [record('lenga', { status: 1 })], { key: ana })
  await held.pass()
  await gate.open()
  const added = toast(page, '4 dominios agregados')
  await added.waitFor()
  // And touches another one.
  await update(service, [{ domain: 'arrayan', note: 'la quiero' }], { key: ana, encoding: 'json' })
  await added.getByRole('button', { name: 'Deshacer' }).click()
  await page
    .locator('.toast')
    .filter({ hasText: '2 nombres descartados, como si no se hubieran agregado. 2 quedan' })
    .waitFor()
  for (const [name, discarded] of Object.entries({ roble: 1, coigue: 1, lenga: 0, arrayan: 0 })) {
    assert.equal((await records(service, { search: name }))[0]?.discarded, discarded, name)
  }
})
