/** The API reference at `/docs`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startConsole } from '../support/console.ts'
import { record, stored } from '../support/domains.ts'

const { service, browser } = await startConsole()
await stored(service, [record('casa')])

test('the reference lists all operations and tries one, without a request to anyone else', async () => {
  const { page, context, complaints, foreign } = await browser.open(service, '../docs', {})
  for (const service of ['domainwatch', 'imagestore', 'admin', 'service'])
    await page.locator(`.opblock-tag[data-tag="${service}"]`).waitFor()
  await page.locator('.btn.authorize').click()
  await page.locator('.auth-container input').fill(service.domainKey)
  await page.locator('.auth-container .authorize').click()
  await page.locator('.auth-container .btn-done').click()
  await page.locator('.opblock-tag[data-tag="domainwatch"]').click()
  const operation = page.locator('.opblock').filter({ hasText: '/api/v1/domainwatch/stats' }).first()
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  await operation.getByRole('button', { name: 'Execute' }).click()
  await operation.locator('.live-responses-table .response-col_status').filter({ hasText: '200' }).waitFor()
  assert.deepEqual([complaints, foreign], [[], []])
  await context.close()
})
