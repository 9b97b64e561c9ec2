import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startConsole } from '../support/console.ts'
import { record, stored } from '../support/domains.ts'

const { service, browser } = await startConsole()
await stored(
  service,
  ['casa', 'casaverde', 'xqzw'].map((name) => record(name)),
)

test('the words of a name are coloured, and a click filters by a word', async () => {
  const { page, complaints } = await browser.open(service, 'dominios', { domainwatch: service.domainKey })
  const names = page.getByRole('grid', { name: 'Dominios' }).locator('.domain')
  await names.filter({ hasText: 'casaverde' }).waitFor()
  assert.deepEqual(await page.locator('.second-word').allTextContents(), ['verde'])

  await page.getByRole('button', { name: 'Una palabra' }).click()
  await names.filter({ hasText: 'casaverde' }).waitFor({ state: 'detached' })
  assert.deepEqual(await names.allTextContents(), ['casa.cl'])
  await page.getByRole('button', { name: 'Una palabra', pressed: true }).waitFor()

  await page.getByRole('button', { name: 'Una palabra' }).click()
  await names.filter({ hasText: 'xqzw' }).waitFor()
  assert.deepEqual(complaints, [])
})
