import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startBrowser, type TestBrowser } from '../support/browser.ts'
import { record, stored } from '../support/domains.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let browser: TestBrowser

before(async () => {
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
  await stored(
    service,
    ['casa', 'casaverde', 'xqzw'].map((name) => record(name)),
  )
})

after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

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
