/** Names in the order of the taste of the group: in the table and in triage, with the reasons. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { names, record, stored, update } from '../support/domains.ts'
import { noisyDecisions, TASTE_WORDS, tastedNames } from '../support/hidden-taste.ts'

const flags = { 'dns-servers': '127.0.0.1:9', words: TASTE_WORDS }

test('triage and the table sort by interest, and say why or what is missing', async () => {
  const { service, browser } = await startConsole({ flags })
  const all = tastedNames(5, 300)
  await stored(
    service,
    all.map(({ name }) => record(name, { status: 0 })),
  )
  const { page, complaints } = await browser.open(service, 'triaje', { domainwatch: service.domainKey })
  const order = page.getByRole('button', { name: 'Interés', exact: true })
  await order.click()
  const missing = 'Faltan 50 decisiones para ordenar por interés'
  await page.getByText(missing).waitFor()
  assert.equal(await order.getAttribute('aria-pressed'), 'true')

  await update(service, noisyDecisions(all.slice(0, 150), 6))
  await page.getByRole('button', { name: 'Reintentar' }).click()
  const open = { order: 'interest', seen: 0, revision: 0, discarded: 0 }
  const [best = '', second = ''] = await names(service, open)
  const shown = page.locator('.triage-name')
  await shown.getByText(`${best}.cl`, { exact: true }).waitFor()
  const why = page
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: 'Por qué' }) })
    .last()
  assert.match(await why.innerText(), /Interés: \d+ de 100\n/)
  assert.equal(await why.getByRole('listitem').count(), 3)
  await page.keyboard.press('d')
  await shown.getByText(`${second}.cl`, { exact: true }).waitFor()
  await order.click()
  assert.equal(await order.getAttribute('aria-pressed'), 'false')
  assert.equal(new URL(page.url()).searchParams.get('order'), null)

  await page.goto(`${service.url}/console/dominios?seen=0`)
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: 'Ordenar por interés' }).click()
  await page.waitForURL(/order=interest/)
  const [first = ''] = await names(service, { order: 'interest', seen: 0 })
  const row = page.locator('[role=row]').nth(1)
  await row.getByText(`${first}.cl`, { exact: true }).waitFor()
  await row.click()
  await why.waitFor()
  assert.equal(await why.getByRole('listitem').count(), 3)
  assert.deepEqual(complaints, [])

  await page.goto(`${service.url}/console/triaje?status=0&order=interest`)
  await why.waitFor()
  await assertAccessible(page)
})
