import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityViolations, startBrowser } from '../support/browser.ts'
import { record, stored } from '../support/domains.ts'
import { allAttempted, feedsFile, startWithFeeds } from '../support/feeds.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService } from '../support/service.ts'

test('the home screen shows the state of feeds, and nothing about them if there are none', async () => {
  await using folder = await temporaryFolder()
  const url = 'http://127.0.0.1:9/lista'
  const feed = { name: 'eliminados', url, format: 'auto', every: '6h', account: 'grupo' }
  await using service = await startWithFeeds({ flags: { feeds: await feedsFile(folder.path, [feed]) } })
  await using plain = await startService()
  await stored(plain, [record('casa')])
  await using browser = await startBrowser()
  const { page, context, complaints } = await browser.open(service, '', { domainwatch: service.domainKey })
  const table = page.getByRole('region', { name: 'Fuentes' })
  await table.getByText('cada 6 horas, de 127.0.0.1:9').waitFor()
  await page.getByRole('heading', { name: 'Inicio' }).waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  assert.deepEqual(complaints, [])
  await allAttempted(service)
  await page.reload()
  await table.getByText('La dirección no está permitida').waitFor()
  await table.getByText('Con fallas').waitFor()
  await context.close()

  const other = await browser.open(plain, '', { domainwatch: plain.domainKey })
  await other.page.getByText('Dominios guardados').waitFor()
  assert.equal(await other.page.getByText('Fuentes').count(), 0)
  await other.context.close()
})
