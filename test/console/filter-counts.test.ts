import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import {
  accessibilityViolations,
  domainRow,
  shownDay,
  resultCount,
  openScreen,
  showsTexts,
  showsCount,
  toast,
} from '../support/browser.ts'
import { record, stored, update } from '../support/domains.ts'
import { ManualClock } from '../support/service.ts'

const clock = new ManualClock('2026-01-05T13:20:30Z')

const { service, browser } = await startConsole({ clock })
await stored(service, [
  record('casa', { date_reg: '2026-01-05 10:00:00' }),
  record('casas', { date_reg: '2026-01-05 11:00:00', agent: 'Mirones' }),
  record('mi-casa', { date_reg: '2026-01-04 11:00:00', agent: 'Mirones' }),
  record('sol', { date_reg: '2026-01-02 10:00:00', reserve: 1 }),
  record('antigua', { date_reg: '2019-03-05 10:00:00' }),
])
await stored(service, [record('sol', { date_reg: '2026-01-02 10:00:00', reserve: 1, status: 0 })])
await update(service, [{ domain: 'casa', revision: 1 }])
const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })
const chip = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const strip = (page: Page) => page.getByRole('slider', { name: 'Días: inscritos y eliminados' })

test('chips show how many records each filter would leave, given the others', async () => {
  const { page } = await open('dominios')
  await chip(page, 'Inscrito 4 Dominios').waitFor()
  for (const name of ['Libre 1', 'Revisión 1', 'Descartado 0', 'Reservado 1']) {
    await chip(page, `${name} Dominios`).waitFor()
  }
  await page.getByRole('searchbox').fill('casa')
  await chip(page, 'Libre 0 Dominios').waitFor()
  await chip(page, 'Inscrito 3 Dominios').click()
  // An active chip shows its count, and its other value the count it would have.
  await page.getByRole('searchbox').fill('estado:inscrito')
  await chip(page, 'Inscrito 4 Dominios').waitFor()
  await chip(page, 'Libre 1 Dominios').waitFor()
  // What is marked here is counted again.
  await domainRow(page, 'casas').getByText('casas').click()
  await page.getByRole('complementary').getByRole('button', { name: 'Descartar' }).click()
  await chip(page, 'Descartado 1 Dominios').waitFor()
  await toast(page, '1 dominio descartado').waitFor()
  await page.keyboard.press('z')
  await chip(page, 'Descartado 0 Dominios').waitFor()
})

test('lengths and agents are picked from lists with counts, by keyboard', async () => {
  const { page } = await open('dominios?search=casa')
  const lengths = page.locator('.domains-chips').getByRole('button', { name: 'Largo', exact: true })
  await chip(page, 'Inscrito 3 Dominios').waitFor()
  await lengths.press('Enter')
  const panel = page.getByRole('group', { name: 'Largo' })
  await showsTexts(panel.getByRole('button'), ['4 caracteres1', '5 caracteres1', '7 caracteres1'])
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/search=casa&length=5$/)
  await domainRow(page, 'casas').waitFor()
  // The other lengths are still listed.
  await lengths.click()
  await showsCount(panel.getByRole('button'), 3)
  await panel.getByRole('button', { name: '5 caracteres', pressed: true }).click()
  await page.waitForURL(/search=casa$/)

  await page.getByRole('button', { name: 'Agente', exact: true }).click()
  await page.getByRole('group', { name: 'Agente' }).getByRole('button', { name: 'Mirones' }).click()
  // The search text stays in addition to the agent.
  assert.equal(await page.getByRole('searchbox').inputValue(), 'Mirones en:agente patrón:*casa*')
  await domainRow(page, 'mi-casa').waitFor()
  await resultCount(page, '2 dominios').waitFor()
})

test('the chart of days works by pointer and keyboard, and filters by click or drag', async () => {
  const { page } = await open('dominios')
  await strip(page).waitFor()
  await strip(page).focus()
  await page.keyboard.press('End')
  const value = () => strip(page).getAttribute('aria-valuetext')
  assert.equal(await value(), `${shownDay('5 ene', 2026)} · 2 inscritos · 1 eliminado`)
  await page.keyboard.press('ArrowLeft')
  assert.equal(await value(), `${shownDay('4 ene', 2026)} · 1 inscrito · 0 eliminados`)
  await page.keyboard.press('Enter')
  await page.waitForURL(/from=2026-01-04&to=2026-01-04$/)
  await domainRow(page, 'mi-casa').waitFor()
  await resultCount(page, '1 dominio').waitFor()
  // The days around stay in sight; with Shift several are taken, and the same again lets go.
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Shift+ArrowLeft')
  await page.keyboard.press('Shift+ArrowLeft')
  await page.keyboard.press('Enter')
  await page.waitForURL(/from=2026-01-03&to=2026-01-05$/)
  await resultCount(page, '3 dominios').waitFor()

  const box = await strip(page).boundingBox()
  assert.ok(box !== null)
  const at = (days: number) => [box.x + box.width * (1 - (days + 0.5) / 90), box.y + box.height / 2] as const
  await page.mouse.move(...at(3))
  await page.getByText(`${shownDay('2 ene', 2026)} · 1 inscrito · 0 eliminados`).waitFor()
  await page.mouse.down()
  await page.mouse.move(...at(1))
  await page.mouse.up()
  await page.waitForURL(/from=2026-01-02&to=2026-01-04$/)
  await resultCount(page, '2 dominios').waitFor()
  await page.mouse.click(...at(0))
  await page.waitForURL(/from=2026-01-05&to=2026-01-05$/)
  await page.mouse.click(...at(0))
  await page.waitForURL(/dominios$/)

  // Days that lie elsewhere are shown with what is around them.
  await page.getByRole('searchbox').fill('desde:2019-03-05 hasta:2019-03-05')
  await domainRow(page, 'antigua').waitFor()
  await strip(page).and(page.locator('[aria-valuemax="90"]')).waitFor()
  await strip(page).focus()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowRight')
  assert.equal(await value(), `${shownDay('5 mar', 2019)} · 1 inscrito · 0 eliminados`)
})

test('charts open on the last 90 days, or where the data are, and show the days that one chooses', async () => {
  const { page } = await open('cifras')
  const days = page.getByRole('region', { name: 'Inscripciones y eliminaciones por día' })
  const range = days.getByRole('combobox', { name: 'Días que se muestran' })
  const dates = days.locator('tbody th')
  await days.getByText('Ver como tabla').click()
  await range.waitFor()
  await showsCount(dates, 90)
  assert.equal(await range.inputValue(), '90')
  await range.selectOption('1 año')
  await page.waitForURL(/cifras\?dias=365$/)
  await showsCount(dates, 365)
  // The days stay while filters change, and Back leaves one of both.
  await page.getByRole('button', { name: /^Reservado/ }).click()
  await page.waitForURL(/reserve=&dias=365$/)
  await page.goBack()
  await page.waitForURL(/cifras\?dias=365$/)
  await page.goBack()
  await page.waitForURL(/cifras$/)
  await showsCount(dates, 90)

  await page.getByRole('searchbox').fill('antigua')
  await showsTexts(dates, [shownDay('5 mar', 2019)])
  assert.equal(await range.inputValue(), 'todo')
  await openScreen(page, 'Dominios')
  await page.getByRole('searchbox').fill('antigua')
  await strip(page)
    .and(page.locator(`[aria-valuetext^="${shownDay('5 mar', 2019)} · 1 inscrito"]`))
    .waitFor()
  await page.getByRole('combobox', { name: 'Días que se muestran' }).selectOption('90 días')
  await strip(page)
    .and(page.locator(`[aria-valuetext^="${shownDay('5 ene', 2026)} · 0 inscritos"]`))
    .waitFor()
})
