/** The table of domains as people arrange it, at the size that people have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { holdRequests } from '../support/gate.ts'
import {
  accessibilityViolations,
  waitForExpression,
  domainGrid,
  shownDay,
  openScreen,
} from '../support/browser.ts'
import { record, records, stored, update } from '../support/domains.ts'
import { storeManyDomains } from '../support/many-domains.ts'
import { ManualClock, startService } from '../support/service.ts'

/** As many names as eight months of the registry's lists have. */
const REAL_SIZE = 109_431

const { service, browser } = await startConsole()
/** In the order of the list. */
const names = await storeManyDomains(service, REAL_SIZE)
const open = (path: string, visit = {}) =>
  browser.open(service, path, { domainwatch: service.domainKey }, visit)
const heads = (page: Page) => domainGrid(page).getByRole('columnheader').allTextContents()
const rowAt = (page: Page, index: number) => page.locator(`#row-${index} .cell-name`)

test('End scrolls to the last of a hundred thousand rows, Home to the first, and rows load in between', async () => {
  const { page } = await open('dominios')
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/list?')) asked.push(new URL(request.url()).search)
  })
  const [last, beforeLast] = await records(service, { sort: 'asc', limit: 2 })
  const [first] = await records(service, { limit: 1 })
  await rowAt(page, 0).waitFor()
  // The header is a row.
  await page.locator(`[role=grid][aria-rowcount="${REAL_SIZE + 1}"]`).waitFor()
  await domainGrid(page).focus()
  await page.keyboard.press('End')
  await rowAt(page, REAL_SIZE - 1).waitFor()
  assert.equal(await rowAt(page, REAL_SIZE - 1).textContent(), `${last?.name}.cl`)
  assert.equal(await rowAt(page, REAL_SIZE - 2).textContent(), `${beforeLast?.name}.cl`)
  // Four in November 2026: two pages from the start, the last one, and what changed lately.
  assert.ok(asked.length < 8, asked.join('\n'))
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await page.getByRole('complementary', { name: `Detalles de ${beforeLast?.name}.cl` }).waitFor()
  await page.keyboard.press('Escape')
  await domainGrid(page).focus()
  // Rows that are not loaded yet are fetched from the end on.
  for (let i = 0; i < 12; i++) await page.keyboard.press('PageUp')
  await waitForExpression(page, `document.querySelector('.table-row.active .cell-name') !== null`)
  await page.keyboard.press('Space')
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Shift+Space')
  await page.getByRole('region', { name: '4 seleccionados' }).waitFor()
  await page.evaluate(`{
    const look = () => {
      const name = document.querySelector('#row-0 .cell-name')?.textContent
      if (name) shownFirst.add(name)
    }
    globalThis.shownFirst = new Set()
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true })
  }`)
  await page.keyboard.press('Home')
  await rowAt(page, 0).waitFor()
  assert.equal(await rowAt(page, 0).textContent(), `${first?.name}.cl`)
  assert.deepEqual(await page.evaluate('[...shownFirst]'), [`${first?.name}.cl`])
})

test('rows load wherever the scroll bar is dragged to from the end', async () => {
  const { page } = await open('dominios')
  await rowAt(page, 0).waitFor()
  await domainGrid(page).focus()
  await page.keyboard.press('End')
  await rowAt(page, REAL_SIZE - 1).waitFor()
  // Near the end, near the start, and the start.
  for (const index of [REAL_SIZE - 3_000, 3_000, 0]) {
    await page.evaluate(`document.querySelector('[role=grid]').scrollTo(0, ${index} * 36)`)
    await rowAt(page, index).waitFor()
    assert.equal(await rowAt(page, index).textContent(), `${names[index]}.cl`)
  }
})

test('End waits for the count on a slow line, and says so', async () => {
  const { page } = await open('dominios')
  const held = Promise.withResolvers<void>()
  await page.route('**/domainwatch/stats?*', async (route) => {
    await held.promise
    await route.continue()
  })
  await page.reload()
  await rowAt(page, 0).waitFor()
  await domainGrid(page).focus()
  await page.keyboard.press('End')
  await page.getByText('Yendo al final…').waitFor()
  held.resolve()
  await rowAt(page, REAL_SIZE - 1).waitFor()
  await page.getByText('Yendo al final…').waitFor({ state: 'detached' })
})

test('columns, their widths and the row density are configurable by pointer and keyboard, and remembered', async () => {
  const { page } = await open('dominios')
  await rowAt(page, 0).waitFor()
  await page.getByRole('button', { name: 'Columnas', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Modificación' }).check()
  await page.getByRole('checkbox', { name: 'Largo' }).uncheck()
  assert.equal(await page.getByRole('checkbox', { name: 'Dominio' }).isDisabled(), true)
  await page.getByRole('radio', { name: 'Filas amplias' }).check()
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.keyboard.press('Escape')
  await waitForExpression(page, `document.querySelector('#row-0')?.getBoundingClientRect().height === 44`)
  const shown = await heads(page)
  assert.ok(shown.includes('Modificación') && !shown.includes('Largo'), shown.join())

  const edge = page.getByRole('separator', { name: 'Ancho de la columna Dominio' })
  const before = Math.round((await rowAt(page, 0).boundingBox())?.width ?? 0)
  const becomesNarrower = (by: number) => {
    const width = `document.querySelector('#row-0 .cell-name')?.getBoundingClientRect().width`
    return waitForExpression(page, `Math.round(${width}) === ${before - by}`)
  }
  const at = await edge.boundingBox()
  assert.ok(at !== null)
  await page.mouse.move(at.x + 4, at.y + 10)
  await page.mouse.down()
  await page.mouse.move(at.x + 4 - 120, at.y + 10, { steps: 4 })
  await page.mouse.up()
  await becomesNarrower(120)
  await edge.focus()
  await page.keyboard.press('ArrowRight')
  await becomesNarrower(104)
  await page.reload()
  await rowAt(page, 0).waitFor()
  await becomesNarrower(104)
  assert.deepEqual(await heads(page), shown)
  await page.getByRole('button', { name: 'Columnas', exact: true }).click()
  await page.getByRole('button', { name: 'Restablecer columnas' }).click()
  await domainGrid(page).getByRole('columnheader', { name: 'Largo' }).waitFor()
  await waitForExpression(
    page,
    `document.querySelector('#row-0 .cell-name').getBoundingClientRect().width > 300`,
  )
})

test('a column with the same value in every row is hidden until it is chosen', async () => {
  const { page } = await open('dominios')
  await page.getByText(/^En todas las filas: /).waitFor()
  const said = (await page.getByText(/^En todas las filas: /).textContent()) ?? ''
  assert.ok(said.includes('Inscrito · grupo'), said)
  assert.ok(!(await heads(page)).includes('Estado'))
  await page.getByRole('button', { name: 'Columnas', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Estado' }).check()
  await domainGrid(page).getByRole('columnheader', { name: 'Estado' }).waitFor()
})

test('rows show the time of deletion, tags, a note and who has decided', async () => {
  await using small = await startService({ clock: new ManualClock('2026-01-05T13:20:30Z') })
  await stored(small, [record('libre'), record('otro')])
  await update(small, [{ domain: 'libre', status: 0 }])
  await update(small, [{ domain: 'libre', seen: 1, note: 'preguntar a Ana', tags: ['marca'] }])
  const { page } = await browser.open(small, 'dominios', {
    domainwatch: small.domainKey,
  })
  const row = page.getByRole('row').filter({ hasText: 'libre.cl' })
  await row.getByText('marca').waitFor()
  await row.getByText('Nota: preguntar a Ana').waitFor({ state: 'attached' })
  await row.getByText(`Visto por grupo, ${shownDay('5 ene', 2026)}, 10:20`).waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Columnas', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Eliminación' }).check()
  await page.keyboard.press('Escape')
  await row.getByText(`${shownDay('5 ene', 2026)}, 10:20`, { exact: true }).waitFor()
  await fetch(`${small.url}/api/v1/domainwatch/queue?api=${small.domainKey}&seen=1&limit=1`, {
    method: 'POST',
  })
  await page.reload()
  await row.getByText('lo tiene grupo').waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  // The mark alone says nothing of who set it, until the service has answered.
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.getByRole('row').filter({ hasText: 'otro.cl' }).locator('.pick').click()
  await page.locator('.selection').getByRole('button', { name: 'Marcar para revisión' }).click()
  const other = page.getByRole('row').filter({ hasText: 'otro.cl' })
  await other.locator('.tag[title="Visto"]').waitFor()
  await gate.open()
  await openScreen(page, 'Inicio')
  const gone = page.getByRole('region', { name: 'Últimos eliminados' })
  await gone.getByText(`${shownDay('5 ene', 2026)}, 10:20`).waitFor()
})

test('a click on a column header sorts by it, and the next one reverses the order', async () => {
  await using small = await startService()
  await stored(small, [
    record('bb', { date_reg: '2026-01-03 10:00:00' }),
    record('aaaa', { date_reg: '2026-01-02 10:00:00' }),
    record('c', { date_reg: '2026-01-01 10:00:00' }),
  ])
  const { page } = await browser.open(small, 'dominios', {
    domainwatch: small.domainKey,
  })
  const names = (wanted: string) =>
    waitForExpression(
      page,
      `[...document.querySelectorAll('.cell-name')].map((one) => one.textContent.replace('.cl', '')).join() === '${wanted}'`,
    )
  const head = (name: string) => domainGrid(page).getByRole('columnheader', { name })
  await names('bb,aaaa,c')
  await head('Dominio').getByRole('button').click()
  await names('aaaa,bb,c')
  assert.equal(await head('Dominio').getAttribute('aria-sort'), 'ascending')
  assert.equal(await head('Inscripción').getAttribute('aria-sort'), null)
  await head('Largo').getByRole('button').click()
  await names('c,bb,aaaa')
  await head('Largo').getByRole('button').click()
  await names('aaaa,bb,c')
  // The URL follows a moment later.
  await page.waitForURL(({ search }) => search === '?order=length')
  await page.reload()
  await names('aaaa,bb,c')
  await domainGrid(page).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('complementary', { name: 'Detalles de aaaa.cl' }).waitFor()
  await page.keyboard.press('j')
  await page.getByRole('complementary', { name: 'Detalles de bb.cl' }).waitFor()
  await head('Inscripción').getByRole('button').click()
  await names('bb,aaaa,c')
})
