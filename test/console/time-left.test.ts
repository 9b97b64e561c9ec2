import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { record, stored, update } from '../support/domains.ts'
import { ManualClock } from '../support/service.ts'

const clock = new ManualClock('2026-01-05T13:20:30Z')

const { service, browser } = await startConsole({ clock })
await stored(service, [record('primero'), record('segundo'), record('tercero')])

const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })

/** Waits until the table shows how long a record can be restored. */
const timeLeft = (page: Page, name: string) =>
  page
    .getByRole('row')
    .filter({ hasText: `${name}.cl` })
    .getByText(/Descartado, quedan/)
    .waitFor({ state: 'attached' })

test('names discarded by someone else show their time left, too', async () => {
  await update(service, [{ domain: 'primero', discarded: 1 }])
  const { page, context, complaints } = await open('dominios')
  await timeLeft(page, 'primero')
  await page.getByText('En vivo').waitFor()
  await update(service, [{ domain: 'segundo', discarded: 1 }])
  await timeLeft(page, 'segundo')
  assert.deepEqual(complaints, [])
  await context.close()
})
