/** Narrow screens, and wide ones at 400 %, with the longest names, tags and accounts there are. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { domainGrid, domainRow, fits, toast } from '../support/browser.ts'
import { record, stored, storedNames, update } from '../support/domains.ts'
import { claim } from '../support/queue.ts'

const LONG = 'a'.repeat(63)
const HELD = 'b'.repeat(63)
const FREE = 'c'.repeat(63)
const TAGS = Array.from({ length: 10 }, (_, i) => `${'etiqueta-larga-'.repeat(2).slice(0, 28)}${i}`)

const { service, browser } = await startConsole({ flags: { 'dns-servers': '127.0.0.1:9' } })
await stored(service, [
  ...[LONG, 'corto'].map((name) => record(name)),
  ...[HELD, FREE].map((name) => record(name, { status: 0 })),
])
const annotated = { tags: TAGS, note: 'una nota' }
const changes = [{ domain: LONG, revision: 1 }, { domain: 'corto', revision: 1 }, { domain: HELD }]
await update(
  service,
  changes.map((change) => ({ ...change, ...annotated })),
  { encoding: 'json' },
)
const { key } = await service.newKey('una cuenta que se llama así de largo, y más', 'domainwatch')
assert.deepEqual((await claim(service, key, { search: HELD })).names, [HELD])
const admin = (await service.newKey('dueña', 'admin')).key
const keys = { domainwatch: service.domainKey, imagestore: service.imageKey, admin }
async function getBox(locator: Locator) {
  const box = await locator.boundingBox()
  assert.ok(box !== null)
  return box
}

const getOverflow = (locator: Locator) =>
  locator.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)

test('at 320 pixels, the bar says that the connection is lost', async () => {
  const { page, context } = await browser.open(service, 'dominios', keys, { width: 320, height: 640 })
  await domainRow(page, 'corto').waitFor()
  await context.setOffline(true)
  await page.locator('.bar').getByText('Sin conexión con el servicio').waitFor()
  const { x, width } = await getBox(page.locator('.bar').getByRole('button', { name: '¿Cómo funciona?' }))
  assert.ok(x >= 0 && x + width <= 320)
})

test('at 320 pixels, the last entry of the menu of the session can be scrolled to', async () => {
  const { page } = await browser.open(service, 'dominios', keys, { width: 320, height: 256 })
  await page.getByRole('button', { name: /^Mi sesión/ }).click()
  const signOut = page.getByRole('button', { name: 'Salir' })
  await signOut.scrollIntoViewIfNeeded()
  const { y, height } = await getBox(signOut)
  assert.ok(y + height <= 256, String(y + height))
})

test('on narrow screens, long tags leave room for the name, and the table does not scroll sideways', async () => {
  const { page } = await browser.open(service, 'dominios', keys)
  const row = domainRow(page, 'corto')
  await row.getByText('Revisión').waitFor()
  for (const width of [640, 390, 320]) {
    await page.setViewportSize({ width, height: 700 })
    await fits(page, width)
    assert.equal(await getOverflow(row.locator('.cell-name')), 0)
    assert.ok((await getBox(domainRow(page, LONG).locator('.cell-name'))).width > 120, `${width} pixels`)
    assert.equal(await getOverflow(page.getByRole('grid')), 0)
  }
})

test('on wide screens, the account that holds a name and its tags are shortened, and other marks are in sight', async () => {
  const { page } = await browser.open(service, 'dominios', keys)
  for (const width of [1_440, 1_024]) {
    await page.setViewportSize({ width, height: 900 })
    await fits(page, width)
    for (const name of [LONG, HELD]) {
      const cell = domainRow(page, name).locator('.cell-marks')
      await cell.getByText('+8').waitFor()
      const end = ({ x, width: wide }: { x: number; width: number }) => x + wide
      const note = cell.locator('.tag').filter({ hasText: 'Nota: una nota' })
      const last = width === 1_440 ? cell.getByText('+8') : note
      assert.ok(end(await getBox(last)) <= end(await getBox(cell)), name)
    }
  }
})

test('a screen at 400 % leaves room for rows of the table and for the name to decide about', async () => {
  const { page } = await browser.open(service, 'dominios', keys, { width: 320, height: 256 })
  await domainRow(page, 'corto').waitFor()
  assert.ok((await getBox(page.getByRole('grid'))).height >= 160)
  await page.goto(`${service.url}/console/triaje?search=${FREE}`)
  const name = page.locator('.triage-name')
  await name.waitFor()
  const buttons = await getBox(page.getByRole('button', { name: 'Descartar' }))
  assert.ok(buttons.y >= (await getBox(name)).y + (await getBox(name)).height)
})

test('at 390 pixels, every option of a form fits into its list', async () => {
  const { page } = await browser.open(service, 'vigilancias?nueva=', keys, { width: 390 })
  const lists = page.getByRole('dialog').getByRole('combobox')
  await lists.first().waitFor()
  for (const list of await lists.all()) {
    const room = (await getBox(list)).width
    // As wide as its widest option, with the arrow.
    await list.evaluate(({ style }) => Object.assign(style, { width: 'max-content', maxWidth: 'none' }))
    assert.ok((await getBox(list)).width <= room, await list.innerText())
  }
})

test('a wrong word in the query leaves the buttons next to it where they are', async () => {
  const { page, context } = await browser.open(
    service,
    'dominios',
    { domainwatch: service.domainKey },
    { width: 390, height: 800 },
  )
  const filters = page.getByRole('button', { name: 'Filtros', exact: true })
  const before = await filters.boundingBox()
  await page.getByRole('searchbox').fill('largo:xyz')
  await page.locator('.query-fault').waitFor()
  assert.deepEqual(await filters.boundingBox(), before)
  await context.close()
})

test('a finished triage offers to look for more with a button of the usual height', async () => {
  const { page } = await browser.open(service, 'triaje?search=zzz', keys)
  assert.ok((await getBox(page.getByRole('button', { name: 'Buscar más' }))).height <= 48)
})

test('an unknown address has a heading and leads home', async () => {
  const { page } = await browser.open(service, 'no-existe', keys)
  await page.getByRole('heading', { level: 1, name: 'Página no encontrada' }).waitFor()
  await page.getByRole('main').getByRole('link', { name: 'Inicio' }).click()
  await page.getByRole('heading', { level: 1, name: 'Inicio' }).waitFor()
})

const PHONE = { width: 390, height: 844, touch: true }

/** Opens a screen of enough free names to fill a phone, which come before the others. */
async function openOnPhone(path: string) {
  const names = Array.from({ length: 30 }, (_, i) => `libre${i}`)
  await storedNames(service, names, { status: 0, date_reg: '2026-01-10 10:00:00' })
  return browser.open(service, path, keys, PHONE)
}

test('news of decisions leaves the whole card free, and touches go through it', async () => {
  const { page } = await openOnPhone('triaje')
  const review = page.locator('.triage-keys').getByRole('button', { name: 'Revisión' })
  for (let i = 0; i < 3; i++) {
    const name = await page.locator('.triage-name').innerText()
    await review.click()
    await toast(page, `1 dominio en revisión: ${name.trim()}`).waitFor()
  }
  const news = await getBox(page.locator('.toasts'))
  assert.ok(news.y + news.height <= (await getBox(page.locator('.triage-card'))).y)
  assert.equal(await page.locator('.toast:visible').count(), 1)
  await page.getByRole('button', { name: 'Menú' }).click()
  await page.getByRole('navigation').getByRole('link', { name: 'Inicio' }).waitFor()
})

test('rows take most of the screen: filters and chart open on request, and the actions on a selection are two lines', async () => {
  const { page } = await openOnPhone('dominios')
  const pick = (index: number) => domainGrid(page).locator(`#row-${index} .pick`)
  await pick(0).waitFor()
  assert.ok((await getBox(domainGrid(page))).height >= PHONE.height * 0.75)
  const free = page.getByRole('button', { name: /^Libre/ })
  assert.equal(await free.count(), 0)
  await page.getByRole('button', { name: 'Filtros', exact: true, expanded: false }).click()
  await free.click()
  await page.waitForURL(/status=0/)
  await page.getByRole('slider').waitFor()
  await page.getByRole('button', { name: 'Filtros', exact: true, expanded: true }).click()
  await free.waitFor({ state: 'detached' })

  await pick(0).click()
  await pick(1).click()
  const bar = page.getByRole('region', { name: '2 seleccionados' })
  await bar.getByRole('button', { name: 'Marcar para revisión' }).waitFor()
  assert.ok((await getBox(bar)).height <= PHONE.height * 0.13)
  await bar.getByRole('button', { name: 'Descartar' }).click()
  await toast(page, '2 dominios descartados').waitFor()
})
