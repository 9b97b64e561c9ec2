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

test('home says first which watches fail', async () => {
  await using service = await startService()
  await using browser = await startBrowser()
  const { page, context } = await browser.open(service, 'dominios', { domainwatch: service.domainKey })
  await page.route('**/domainwatch/watches?*', async (route) => {
    const one = {
      id: 'a',
      name: 'caída',
      filters: {},
      paused: 0,
      pending: 3,
      state: 'active',
      last_error: 'HTTP 500',
    }
    await route.fulfill({ json: { status: 200, count: 2, data: [one, { ...one, last_error: null }] } })
  })
  await page.getByRole('link', { name: 'Inicio' }).click()
  const waiting = page.getByRole('region', { name: 'Le espera' })
  await waiting.getByRole('link', { name: 'Alertas que fallan 1' }).click()
  await page.waitForURL(/vigilancias$/)
  await context.close()
})
