/** The morning of a group at the real size, whose line takes 1.5 s and loses every fifth request: keys, Back and claims hold. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Page } from 'playwright-core'
import { domainGrid, domainRow, waitForExpression } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { LIST, record, records, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { claim } from '../support/queue.ts'
import { storeRealSize } from '../support/real-size.ts'
import { badLine } from '../support/slow-line.ts'

const FREE = Array.from({ length: 30 }, (_, i) => `libre${String(i).padStart(2, '0')}`)
const VETS = Array.from({ length: 6 }, (_, i) => `veterinaria${i}`)
const NEWS = ['nuevo0', 'nuevo1', 'nuevo2', 'nuevo3']
const old = (place: number) => ({ date_reg: `2025-10-10 10:00:${String(59 - place).padStart(2, '0')}` })

const { service, browser } = await startConsole({ flags: { 'dns-servers': '127.0.0.1:9' } })
const key = async (account: string) => (await service.newKey(account, 'domainwatch')).key
const [ana, beto] = [await key('Ana'), await key('Beto')]
await storeRealSize(service)
await stored(service, [
  ...VETS.map((name, i) => record(name, old(i))),
  ...FREE.map((name, i) => record(name, { ...old(i), status: 0 })),
])

const toast = (page: Page, text: string | RegExp) => page.locator('.toast').filter({ hasText: text })
const shownName = async (page: Page) => (await page.locator('.triage-name').innerText()).trim().slice(0, -3)
const activeRow = (page: Page, name: string) =>
  domainGrid(page).locator('.table-row.active').getByText(`${name}.cl`, { exact: true })
const go = (page: Page, name: string) =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).click()

async function getState(name: string) {
  const query = { api: service.domainKey, search: name, fields: 'seen,note,tags' }
  const { body } = await call(service, LIST, { query })
  const { revision, discarded, seen, note, tags } = Object(body).data[0][0]
  return { revision, discarded, seen, note, tags }
}
const becomes = (name: string, state: Awaited<ReturnType<typeof getState>>) =>
  eventually(async () => isDeepStrictEqual(await getState(name), state), `${name} is as expected`)
const UNDECIDED = { revision: 0, discarded: 0, seen: 0, note: '', tags: [] }

test('news, triage, notes, undo, Back, search and statistics work on a line that is slow and fails', async () => {
  const { page, context, complaints } = await browser.open(service, '', {})
  const annas = await browser.open(service, '', { domainwatch: ana })
  await page.getByLabel('Clave de API').fill(service.domainKey)
  await page.getByRole('button', { name: 'Entrar' }).click()
  await page.getByRole('region', { name: 'Últimos inscritos' }).getByText('veterinaria0').waitFor()
  await stored(
    service,
    NEWS.map((name) => record(name, old(0))),
    { key: beto },
  )
  await badLine(page, ['unsent'])
  await badLine(annas.page, ['unsent'])

  // A count of news opens exactly these names.
  await page.reload()
  await page.getByRole('link', { name: '4 nuevos' }).click()
  for (const name of NEWS) await domainRow(page, name).waitFor()
  await page
    .getByRole('status')
    .filter({ hasText: /^4 dominios$/ })
    .waitFor()
  await page.goBack()
  await page.getByRole('link', { name: '4 nuevos' }).waitFor()

  // Two members decide at the same time, each on names of their own.
  await go(page, 'Triaje')
  await go(annas.page, 'Triaje')
  await Promise.all([page, annas.page].map((each) => each.locator('.triage-name').waitFor()))
  const [noted, hers] = [await shownName(page), await shownName(annas.page)]
  assert.notEqual(noted, hers)
  await page.keyboard.press('n')
  await page.keyboard.type('rd: llamar')
  await page.keyboard.press('Enter')
  const tags = page.getByRole('combobox', { name: 'Etiquetas' })
  await tags.fill('playa')
  await tags.press('Enter')
  await becomes(noted, { ...UNDECIDED, note: 'rd: llamar', tags: ['playa'] })
  // Neither of them gives the name away.
  assert.deepEqual((await claim(service, beto, { search: noted })).names, [])
  assert.equal(await shownName(page), noted)
  await page.locator('.triage-name').click()
  await page.keyboard.press('r')
  await waitForExpression(page, `!document.querySelector('.triage-name')?.innerText.startsWith('${noted}')`)
  const second = await shownName(page)
  await page.keyboard.press('d')
  await annas.page.keyboard.press('d')
  await becomes(noted, { revision: 1, discarded: 0, seen: 1, note: 'rd: llamar', tags: ['playa'] })
  await becomes(second, { ...UNDECIDED, discarded: 1, seen: 1 })
  await page.keyboard.press('z')
  await toast(page, /^Deshecho/).waitFor()
  await becomes(second, UNDECIDED)
  await becomes(hers, { ...UNDECIDED, discarded: 1, seen: 1 })

  // Keys act on the row that is highlighted, from a fresh load on.
  await page.goto(`${service.url}/console/dominios?search=veterinaria`)
  await activeRow(page, 'veterinaria0').waitFor()
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowDown')
  await activeRow(page, 'veterinaria3').waitFor()
  await page.keyboard.press('d')
  await toast(page, '1 dominio descartado: veterinaria3.cl').waitFor()
  assert.deepEqual(
    (await records(service, { discarded: 1, search: 'veterinaria' })).map(({ name }) => name),
    ['veterinaria3'],
  )

  // Back leaves one state at a time.
  await page.getByRole('button', { name: /^Inscrito/ }).click()
  await page.waitForURL(/search=veterinaria&status=1$/)
  await go(page, 'Estadísticas')
  const range = page.getByRole('combobox', { name: 'Días que se muestran' })
  await range.waitFor()
  await page.goBack()
  await page.waitForURL(/search=veterinaria&status=1$/)
  await page.goBack()
  await page.waitForURL(/search=veterinaria$/)
  await domainRow(page, 'veterinaria0').waitFor()
  assert.deepEqual([...complaints, ...annas.complaints], [])
  await context.close()
  await annas.context.close()
})
