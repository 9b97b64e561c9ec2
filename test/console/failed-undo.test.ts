/** Undo that fails can be repeated, for exactly what it was about. */
import { commonErrors } from '../../src/lib/errors.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { domainRow } from '../support/browser.ts'
import { record, records, stored } from '../support/domains.ts'
import { holdRequests } from '../support/gate.ts'

/** More than a batch of a change of a whole view. */
const TOTAL = 600

const { service, browser } = await startConsole({ flags: { 'dns-servers': '127.0.0.1:9' } })
const ana = (await service.newKey('Ana', 'domainwatch')).key
const viewed = Array.from({ length: TOTAL }, (_, i) => record(`vista${i}`))
const queued = ['uno', 'dos', 'tres'].map((name, i) =>
  record(`cola-${name}`, { status: 0, date_reg: `2026-01-0${9 - i} 00:00:00` }),
)
await stored(service, [...viewed, ...queued, record('casa')], { encoding: 'json' })

const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })
const toast = (page: Page, text: string | RegExp) => page.locator('.toast').filter({ hasText: text })
const undoIn = (page: Page, text: string | RegExp) =>
  toast(page, text).getByRole('button', { name: 'Deshacer' }).click()
const discarded = async (starts: string) =>
  (await records(service, { starts, dis: '', limit: 1_024 })).map(({ name }) => name).toSorted()

test('the message of an undo that failed has a button that repeats it', async () => {
  const { page, context, complaints } = await open('dominios?starts=casa')
  await domainRow(page, 'casa').locator('.pick').click()
  await page.locator('.selection').getByRole('button', { name: 'Descartar' }).click()
  await toast(page, '1 dominio descartado: casa.cl').waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  await undoIn(page, '1 dominio descartado: casa.cl')
  await (await gate.next()).answer(commonErrors.overloaded())
  await toast(page, 'No se pudo deshacer casa.cl: El servicio está ocupado').waitFor()
  await domainRow(page, 'casa').getByText('Descartado').waitFor()
  await gate.open()
  await undoIn(page, 'No se pudo deshacer casa.cl')
  await toast(page, 'Deshecho: casa.cl').waitFor()
  assert.deepEqual(await discarded('casa'), [])
  assert.deepEqual(complaints, [])
  await context.close()
})

test('in triage, an undo that failed is repeated for the same name, and not for the one before', async () => {
  const { page, context, complaints } = await open('triaje?starts=cola-')
  const card = (name: string) => page.locator('.triage-name').getByText(`cola-${name}.cl`, { exact: true })
  for (const name of ['uno', 'dos']) {
    await card(name).waitFor()
    await page.keyboard.press('d')
    await toast(page, `1 dominio descartado: cola-${name}.cl`).waitFor()
  }
  await card('tres').waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.keyboard.press('z')
  await card('dos').waitFor()
  await (await gate.next()).answer(commonErrors.overloaded())
  await toast(page, 'No se pudo deshacer cola-dos.cl').waitFor()
  await card('tres').waitFor()
  await gate.open()
  await page.keyboard.press('z')
  await card('dos').waitFor()
  await toast(page, 'Deshecho: cola-dos.cl').waitFor()
  assert.deepEqual(await discarded('cola-'), ['cola-uno'])
  assert.deepEqual(complaints, [])
  await context.close()
})

test('undo of an addition that fails half way counts what it took back before', async () => {
  const { page, context, complaints } = await open('agregar')
  const names = Array.from({ length: 260 }, (_, i) => `nuevo${i}`)
  await page.getByRole('textbox', { name: 'Nombres' }).fill(names.join(' '))
  await page.getByRole('button', { name: 'Agregar 260 nombres' }).click()
  await toast(page, '260 dominios agregados').waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  await undoIn(page, '260 dominios agregados')
  await (await gate.next()).pass()
  await (await gate.next()).answer(commonErrors.overloaded())
  await toast(page, 'No se pudo deshacer 260 dominios').waitFor()
  await gate.open()
  await undoIn(page, 'No se pudo deshacer 260 dominios')
  await toast(page, '260 nombres descartados, como si no se hubieran agregado.').waitFor()
  assert.equal((await discarded('nuevo')).length, 260)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('what a colleague added during an outage stays as it is when the addition is repeated', async () => {
  const { page, context, complaints } = await open('agregar')
  await page.getByRole('textbox', { name: 'Nombres' }).fill('boldo maiten')
  const gate = await holdRequests(page, 'domainwatch/add')
  await page.getByRole('button', { name: 'Agregar 2 nombres' }).click()
  const first = await gate.next()
  // Any other answer would end the outage.
  const others = /healthz|domainwatch\/(?!add)/
  await page.route(others, (route) => route.abort('connectionrefused'))
  await first.lose()
  await toast(page, 'Sin conexión').waitFor()
  await gate.open()
  const theirs = record('boldo', { status: 1, agent: 'Ana', date_reg: '2025-03-04 05:06:07' })
  await stored(service, [theirs], { key: ana, encoding: 'json' })
  await page.unroute(others)
  await toast(page, /1 dominio agregado: maiten\.cl.*boldo\.cl/).waitFor()
  const [boldo] = await records(service, { search: 'boldo' })
  assert.partialDeepStrictEqual(boldo, { status: 1, agent: 'Ana', date_reg: '2025-03-04 05:06:07' })
  assert.deepEqual(complaints, [])
  await context.close()
})
