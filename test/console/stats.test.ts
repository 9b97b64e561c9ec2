import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import { shownDay } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { record, stored, update } from '../support/domains.ts'
import { ManualClock } from '../support/service.ts'

// The series end today, which is today by the service's clock.
const clock = new ManualClock('2026-01-05T13:20:30Z')

const { service, browser } = await startConsole({ clock })
await stored(service, [
  record('ñandu', { date_reg: '2026-01-04 09:00:00' }),
  record('ñandú', { date_reg: '2026-01-04 10:00:00', agent: 'Mirones' }),
  record('catalejo', { date_reg: '2026-01-05 10:00:00' }),
  record('libre', { date_reg: '2026-01-05 10:00:00', status: 0 }),
])
clock.advance(60_000)
await update(service, [{ domain: 'catalejo', revision: 1 }])
const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })

test('charts show their values by arrow keys and as tables, and follow the filters', async () => {
  const { page } = await open('cifras')
  const days = page.getByRole('region', { name: 'Inscripciones y eliminaciones por día' })
  await days.locator('.plot-values').getByText(shownDay('5 ene', 2026)).waitFor()
  await days.getByText('inscritos: 1').waitFor()
  await days.getByRole('img').focus()
  await page.keyboard.press('ArrowLeft')
  await days.getByText('inscritos: 2').waitFor()
  await days.getByText('Ver como tabla').click()
  assert.equal(
    await days
      .getByRole('row')
      .filter({ hasText: shownDay('4 ene', 2026) })
      .textContent(),
    `${shownDay('4 ene', 2026)}20`,
  )
  assert.ok(await days.locator('canvas').isVisible())

  await page.getByRole('searchbox').fill('ñandú')
  const agents = page.getByRole('region', { name: 'Por agente' })
  await agents.getByRole('link', { name: 'Mirones' }).waitFor()
  await agents.getByRole('link', { name: 'grupo' }).waitFor({ state: 'detached' })
  await page
    .getByRole('region', { name: 'Último envío de cada cuenta' })
    .getByText(`${shownDay('5 ene', 2026)}, 10:20`)
    .waitFor()
})

test('charts show values at the pointer, and the previous ones when it leaves', async () => {
  const { page } = await open('cifras')
  const days = page.getByRole('region', { name: 'Inscripciones y eliminaciones por día' })
  const said = (region: Locator, text: string) =>
    region.locator('.plot-values').getByText(text, { exact: true }).waitFor()
  await said(days, shownDay('5 ene', 2026))
  await pointAt(days, await days.locator('tbody tr').count(), -2)
  await said(days, shownDay('4 ene', 2026))
  await said(days, 'inscritos: 2')
  await pointAt(days, await days.locator('tbody tr').count(), 0)
  await said(days, (await days.locator('tbody th').first().textContent()) ?? '')
  await said(days, 'inscritos: 0')
  await page.getByRole('heading', { level: 1 }).hover()
  await said(days, shownDay('5 ene', 2026))
  await said(days, 'inscritos: 1')

  // Bars stand in the middle of their places. By default, the most frequent length is shown.
  const lengths = page.getByRole('region', { name: 'Largos', exact: true })
  await said(lengths, '5 caracteres')
  await lengths.locator('.u-over').hover({ position: { x: 1, y: 20 } })
  await said(lengths, '5 caracteres')
  await pointAt(lengths, 1, -1)
  await said(lengths, '8 caracteres')
  await said(lengths, 'nombres: 1')
  // Arrow keys continue from the pointer.
  await lengths.getByRole('img').focus()
  await page.keyboard.press('ArrowLeft')
  await said(lengths, '7 caracteres')
  await said(lengths, 'nombres: 0')
})

/** Moves the pointer over one of a line's places, counted from its end where that is negative. */
async function pointAt(plot: Locator, places: number, at: number): Promise<void> {
  const over = plot.locator('.u-over')
  const { width = 0 } = (await over.boundingBox()) ?? {}
  const part = places === 1 ? 1 : (at < 0 ? places + at : at) / (places - 1)
  await over.hover({ position: { x: Math.min(width - 1, Math.max(1, Math.round(part * width))), y: 40 } })
}

test('home shows figures that link to their lists, and changes', async () => {
  const { page } = await open('')
  const newest = page.getByRole('region', { name: 'Últimos inscritos' })
  await newest.getByRole('link', { name: 'catalejo.cl' }).waitFor()
  await page
    .getByRole('region', { name: 'Últimos eliminados' })
    .getByRole('link', { name: 'libre.cl' })
    .waitFor()
  await page.getByRole('link', { name: /^En revisión\s*1$/ }).click()
  await page.waitForURL(/dominios\?rev=/)
})

test('changes by others appear in place, and new names are announced', async () => {
  const { page } = await open('dominios')
  const row = (name: string) => page.getByRole('row').filter({ hasText: `${name}.cl` })
  await row('libre').waitFor()
  await page.getByText('En vivo').waitFor()
  await update(service, [{ domain: 'libre', revision: 1 }])
  await row('libre').getByText('Revisión').waitFor()
  // A name says, whatever member discards it, how long it can be restored.
  await update(service, [{ domain: 'libre', discarded: 1 }])
  const left = row('libre').getByText(/Descartado, quedan/)
  await left.waitFor({ state: 'attached' })
  await page.reload()
  await left.waitFor({ state: 'attached' })
  await page.getByText('En vivo').waitFor()
  await stored(service, [record('nuevo', { date_reg: '2026-01-05 12:00:00' })])
  await page.getByRole('button', { name: '1 cambio nuevo' }).waitFor()
  assert.equal(await row('nuevo').count(), 0)
  await page.getByRole('button', { name: '1 cambio nuevo' }).click()
  await row('nuevo').waitFor()
})
