/** The page while the service is away, and after it came back with another release. */
import { httpErrors } from '../../src/http/errors.ts'
import { startConsole } from '../support/console.ts'
import { errorResponse } from '../support/gate.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { record, stored } from '../support/domains.ts'

const { service, browser } = await startConsole()
await stored(service, [record('casa')])
const open = (path = '') =>
  browser.open(service, path, { domainwatch: service.domainKey, imagestore: service.imageKey })

const screen = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })
const go = (page: Page, name: string) =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).click()

/** Every request fails until the outage is over. */
async function outage(page: Page): Promise<() => Promise<void>> {
  const cut = (route: Route) => route.abort('connectionrefused')
  await page.route('**/*', cut)
  return () => page.unroute('**/*', cut)
}

test('a screen opened during an outage loads when the service is back', async () => {
  const { page, context, complaints } = await open()
  await screen(page, 'Inicio').waitFor()
  const end = await outage(page)
  await go(page, 'Estadísticas')
  await page.getByText('Sin conexión con el servicio. Se reintenta automáticamente.').waitFor()
  await go(page, 'Alertas')
  await end()
  await screen(page, 'Alertas').waitFor()
  await page.getByText('Sin conexión con el servicio').first().waitFor({ state: 'detached' })
  await go(page, 'Estadísticas')
  await screen(page, 'Estadísticas').waitFor()
  await page.locator('.plot canvas').first().waitFor()
  // Its styles are there, too.
  assert.equal(await page.evaluate(`getComputedStyle(document.querySelector('.charts')).display`), 'grid')
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a screen whose file failed to load is fetched again', async () => {
  const { page, context, complaints } = await open()
  await screen(page, 'Inicio').waitFor()
  let failures = 0
  await page.route('**/assets/*.js', (route) =>
    failures++ < 2 ? route.fulfill({ status: 503, body: '' }) : route.continue(),
  )
  await go(page, 'Importar')
  await screen(page, 'Importar').waitFor()
  assert.ok(failures > 2)
  assert.deepEqual(complaints, [])
  await context.close()
})

/** The service has another release, without the files of the one that runs. */
async function upgrade(page: Page): Promise<void> {
  let isOld = true
  await page.route('**/assets/*.js', (route) =>
    isOld ? route.fulfill(errorResponse(httpErrors.path_not_found())) : route.continue(),
  )
  await page.route(/\/console\/(\w*)$/, async (route) => {
    if (route.request().resourceType() === 'document') {
      isOld = false
      return route.continue()
    }
    const response = await route.fetch()
    return route.fulfill({
      response,
      body: (await response.text()).replace(/index-[\w-]+\.js/, 'index-other.js'),
    })
  })
}

test('after an upgrade a missing screen is loaded from the new release automatically', async () => {
  const { page, context, complaints } = await open()
  await screen(page, 'Inicio').waitFor()
  await upgrade(page)
  const loaded = page.waitForEvent('load')
  await go(page, 'Estadísticas')
  await loaded
  await screen(page, 'Estadísticas').waitFor()
  assert.match(page.url(), /\/console\/cifras$/)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('an upgrade while a list is sent offers to load the new release, and loses nothing', async () => {
  const { page, context, complaints } = await open('importar')
  await page.route('**/domainwatch/import?*', () => undefined)
  const file = { name: 'lista.csv', mimeType: 'text/csv', buffer: Buffer.from('nueva.cl,2025-01-01') }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByRole('button', { name: 'Importar', exact: true }).click()
  await page.getByRole('link', { name: /^Enviando lista\.csv/ }).waitFor()
  await upgrade(page)
  await go(page, 'Estadísticas')
  await page.getByText('Esta pantalla ya no existe en la versión abierta').waitFor()
  await page.getByRole('link', { name: /^Enviando lista\.csv/ }).click()
  await page.getByRole('region', { name: 'lista.csv' }).getByRole('button', { name: 'Detener' }).click()
  const loaded = page.waitForEvent('load')
  await page.getByRole('button', { name: /^Hay una versión nueva de la consola/ }).click()
  await loaded
  await page.locator('.drop-place').waitFor()
  assert.deepEqual(complaints, [])
  await context.close()
})
