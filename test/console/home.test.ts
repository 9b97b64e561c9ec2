import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBrowser } from '../support/browser.ts'
import { startService } from '../support/service.ts'

test('the home and usage screens show words, not names of texts that belong to other screens', async () => {
  await using service = await startService()
  await using browser = await startBrowser()
  for (const path of ['', 'espacio']) {
    const { page, context } = await browser.open(service, path, { imagestore: service.imageKey })
    await page.getByText('Almacenado', { exact: true }).waitFor()
    assert.equal(await page.getByText('owner.', { exact: false }).count(), 0)
    await context.close()
  }
})
