/** Signals of names in the console: the order of the taste of the group with its reasons, columns, facts and days of objection. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  accessibilityViolations,
  domainGrid,
  chooseMore,
  showsCount,
  showsTexts,
} from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { names, record, stored, update } from '../support/domains.ts'
import { imported } from '../support/jobs.ts'
import { noisyDecisions, TASTE_WORDS, tastedNames } from '../support/hidden-taste.ts'

const flags = { 'dns-servers': '127.0.0.1:9', words: TASTE_WORDS }

test('triage and the table sort by interest, and say why or what is missing', async () => {
  const { service, browser } = await startConsole({ flags })
  const all = tastedNames(5, 300)
  await stored(
    service,
    all.map(({ name }) => record(name, { status: 0 })),
  )
  const { page } = await browser.open(service, 'triaje', { domainwatch: service.domainKey })
  const order = page.getByRole('button', { name: 'Interés', exact: true })
  await order.click()
  const missing = 'Faltan 50 decisiones para ordenar por interés'
  await page.getByText(missing).waitFor()
  assert.equal(await order.getAttribute('aria-pressed'), 'true')

  await update(service, noisyDecisions(all.slice(0, 150), 6))
  // The same request would be refused again.
  assert.equal(await page.getByRole('button', { name: 'Reintentar' }).count(), 0)
  await page.reload()
  const open = { order: 'interest', seen: 0, revision: 0, discarded: 0 }
  const [best = '', second = ''] = await names(service, open)
  const shown = page.locator('.triage-name')
  await shown.getByText(`${best}.cl`, { exact: true }).waitFor()
  const why = page
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: 'Por qué' }) })
    .last()
  assert.match(await why.innerText(), /Interés: \d+ de 100\n/)
  await showsCount(why.getByRole('listitem'), 3)
  await page.keyboard.press('d')
  await shown.getByText(`${second}.cl`, { exact: true }).waitFor()
  await order.click()
  assert.equal(await order.getAttribute('aria-pressed'), 'false')
  assert.equal(new URL(page.url()).searchParams.get('order'), null)

  await page.goto(`${service.url}/console/dominios?seen=0`)
  await chooseMore(page, 'Ordenar por interés')
  await page.waitForURL(/order=interest/)
  const [first = ''] = await names(service, { order: 'interest', seen: 0 })
  const row = page.locator('[role=row]').nth(1)
  await row.getByText(`${first}.cl`, { exact: true }).waitFor()
  await row.click()
  await why.waitFor()
  await showsCount(why.getByRole('listitem'), 3)

  await page.goto(`${service.url}/console/triaje?status=0&order=interest`)
  await why.waitFor()
})

/** A local time of the service. */
const daysAgo = (days: number) =>
  new Date(Date.now() - days * 86_400_000).toLocaleString('sv-SE', { timeZone: 'America/Santiago' })

test('signals can be columns, the details and triage say them, and how many days are left to object', async () => {
  const { service, browser } = await startConsole({ flags })
  await stored(service, [
    record('casa-sol', { date_reg: daysAgo(25.5) }),
    record('casasol', { status: 0, date_reg: daysAgo(800) }),
    record('casamar', { date_reg: daysAgo(3.5) }),
  ])
  await imported(
    service,
    'name,key,number\ncasa-sol.cl,volumen,1900\ncasamar.cl,enlaces,7\ncasasol.cl,enlaces,9\n',
    { format: 'numbers' },
  )
  const { page } = await browser.open(service, 'dominios', { domainwatch: service.domainKey })
  const left = 'quedan 5 días para objetar'
  // Its twin names it, too.
  const row = page.getByRole('row').filter({ has: page.locator('.cell-name', { hasText: 'casa-sol.cl' }) })
  await row.getByText(left).waitFor()
  await row.getByText('objetar: 5 d', { exact: true }).waitFor()
  // The other one has time enough.
  await showsCount(page.getByText(/para objetar$/), 1)
  const fields: string[] = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.pathname.endsWith('/domainwatch/list')) fields.push(url.searchParams.get('fields') ?? '')
  })
  const signals = ['Forma', 'Sílabas', 'Demanda', 'Gemelos', 'Veces libre', 'Años', 'Para objetar', 'Números']
  await page.getByRole('button', { name: 'Columnas', exact: true }).click()
  for (const name of signals) await page.getByRole('checkbox', { name, exact: true }).check()
  const isCut = `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('.cell-marks .tag'))`
  assert.equal(await page.evaluate(isCut), false)
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.keyboard.press('Escape')
  await row.getByText('volumen 1.900').waitFor()
  assert.match(fields.at(-1) ?? '', /object_until,shape,syllables,demand,twins,drops,age,numbers$/)
  const cells = await row.getByRole('gridcell').allTextContents()
  const [first = 'none'] = signals
  const heads = await domainGrid(page).getByRole('columnheader').allTextContents()
  const at = heads.indexOf(first)
  assert.deepEqual(heads.slice(at), signals)
  assert.deepEqual(cells.slice(at), ['CVCVHCVC', '', '1', 'casasol.cl', '0', '0', '5', 'volumen 1.900'])

  const rowName = (index: number, name: string) =>
    showsTexts(page.locator(`#row-${index} .cell-name .domain`), [`${name}.cl`])
  const isSorted = domainGrid(page).locator('[aria-sort]')
  const byNumber = domainGrid(page).getByRole('button', { name: 'Números' })
  await byNumber.click()
  await page.waitForURL(/order=num_enlaces$/)
  await rowName(0, 'casasol')
  await byNumber.click()
  await page.waitForURL(/order=num_enlaces&sort=asc$/)
  await page.reload()
  await rowName(0, 'casamar')
  assert.equal(await isSorted.getAttribute('aria-sort'), 'ascending')
  assert.equal((await isSorted.innerText()).trim(), 'Números: enlaces')
  // Names without a number come last in both directions.
  await page.keyboard.press('End')
  await page.locator('#row-2.active').getByText('casa-sol.cl').waitFor()
  await byNumber.click()
  await page.waitForURL(/order=num_volumen$/)

  await domainGrid(page).getByRole('button', { name: 'Para objetar' }).click()
  await page.waitForURL(/order=objection&sort=asc/)
  await rowName(0, 'casa-sol')
  await row.click()
  const sheet = page.getByRole('complementary', { name: 'Detalles de casa-sol.cl' })
  await sheet.getByText(left).waitFor()
  const facts = (await sheet.locator('.facts').first().innerText()).split('\n')
  const shown = 'Forma CVCVHCVC Demanda 1 Gemelos casasol.cl Veces libre 0 Años 0 Números volumen 1.900'
  assert.equal(facts.slice(facts.indexOf('Forma'), -1).join(' '), `${shown} Se puede objetar hasta`)

  await page.goto(`${service.url}/console/triaje?search=casa-sol`)
  const card = page.getByRole('article')
  await card.getByText(left).waitFor()
  assert.match(await card.innerText(), /Gemelos\s+casasol\.cl/)
})
