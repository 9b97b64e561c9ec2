import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startConsole } from '../support/console.ts'
import {
  domainRow,
  accessibilityViolations,
  resultCount,
  openScreen,
  chooseMore,
  showsCount,
  toast,
} from '../support/browser.ts'
import { record, stored, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import type { Fields } from '../support/http.ts'
import { watch } from '../support/watches.ts'
import { claim, release } from '../support/queue.ts'
import { allAttempted, feedsFile, startWithFeeds } from '../support/feeds.ts'
import { temporaryFolder } from '../support/folder.ts'

/** The first tests are about an empty service. */
const { service, browser } = await startConsole()

test('the home and usage screens show texts, not keys of texts that other screens load', async () => {
  for (const [path, text] of [
    ['', 'Primeros pasos'],
    ['espacio', 'Almacenado'],
  ] as const) {
    const { page } = await browser.open(service, path, { imagestore: service.imageKey })
    await page.getByText(text, { exact: true }).waitFor()
    assert.equal(await page.getByText('owner.').count(), 0)
  }
})

test('the home of an empty installation shows the first steps, and no figures of nothing', async () => {
  const keys = { domainwatch: service.domainKey, imagestore: service.imageKey }
  const { page } = await browser.open(service, '', keys)
  await page.getByRole('link', { name: 'Importe la lista de inscripciones de NIC Chile' }).waitFor()
  await page.getByRole('link', { name: 'Suba la primera imagen' }).waitFor()
  await page.locator('.bones').waitFor({ state: 'detached' })
  assert.equal(await page.locator('.tile-figure').count(), 0)
})

test('home lists failing watches first', async () => {
  const { id } = await watch(service, { name: 'caída', atom: '' })
  await watch(service, { name: 'sana', atom: '' })
  const { page } = await browser.open(service, 'dominios', { domainwatch: service.domainKey })
  await page.route('**/domainwatch/watches?*', async (route) => {
    const response = await route.fetch()
    const { data, ...rest } = await response.json()
    const failing = data.map((one: Fields) =>
      one['id'] === id ? { ...one, pending: 3, last_error: 'HTTP 500' } : one,
    )
    await route.fulfill({ response, json: { ...rest, data: failing } })
  })
  await openScreen(page, 'Inicio')
  const waiting = page.getByRole('region', { name: 'Le espera' })
  await waiting.getByRole('link', { name: 'Alertas que fallan 1' }).click()
  await page.getByRole('listitem', { name: 'caída' }).waitFor()
})

test('home shows changes since the last visit, in total and for each saved view, until they are marked as seen', async () => {
  const status = (name: string, to: 0 | 1) => record(name, { status: to })
  await stored(
    service,
    ['casa', 'casa-azul', 'faro', 'sol', 'cielo'].map((name) => status(name, 1)),
  )
  // Changes in the same second as a visit may or may not be shown.
  const second = () => Math.floor(Date.now() / 1_000)
  const began = second()
  await eventually(() => second() > began)
  const { page } = await browser.open(service, 'dominios?search=casa', {
    domainwatch: service.domainKey,
  })
  await chooseMore(page, 'Guardar esta vista')
  await page.getByLabel('Nombre').fill('Mis casas')
  await page.getByRole('button', { name: 'Guardar vista' }).click()
  await toast(page, 'Vista guardada: Mis casas').waitFor()
  await openScreen(page, 'Inicio')
  await page.getByRole('region', { name: 'Últimos inscritos' }).getByText('faro').waitFor()
  const visited = second()
  await eventually(() => second() > visited)

  await update(
    service,
    [
      { domain: 'casa-azul', status: 0 },
      { domain: 'sol', status: 0 },
    ],
    { encoding: 'json' },
  )
  await stored(service, [status('luna', 1), status('mi-casa', 1), status('rio', 0)])
  // Other changes are not counted.
  await stored(service, [record('cielo', { date_reg: '2024-02-02 00:00:00' })])
  await update(service, [{ domain: 'faro', note: 'con vista', tags: ['mar'] }])
  // A colleague has decided on this one.
  await update(service, [{ domain: 'rio', discarded: 1, seen: 1 }])
  await page.reload()
  const news = page.getByRole('region', { name: 'Novedades desde su última visita' })
  const line = (name: string) => news.getByRole('listitem').filter({ hasText: name })
  await line('Todos los dominios').getByRole('link', { name: '2 nuevos' }).waitFor()
  await line('Todos los dominios').getByRole('link', { name: '2 liberados' }).waitFor()
  await line('Mis casas').getByRole('link', { name: '1 nuevo' }).waitFor()
  // Each count opens as many rows.
  await line('Todos los dominios').getByRole('link', { name: '2 nuevos' }).click()
  await domainRow(page, 'luna').waitFor()
  await resultCount(page, '2 dominios').waitFor()
  await page.goBack()
  await line('Mis casas').getByRole('link', { name: '1 liberado' }).click()
  await page.getByRole('row').filter({ hasText: 'casa-azul.cl' }).waitFor()
  await resultCount(page, '1 dominio').waitFor()
  // The time of the visit is one term in the query box.
  await page.getByRole('searchbox').press('End')
  await page.keyboard.type(' largo:9')
  await page.waitForURL(/length=9/)
  await page.getByRole('row').filter({ hasText: 'casa-azul.cl' }).waitFor()

  // Opening a view counts as a visit to this view only. What was typed is a change of its own.
  await page.goBack()
  await page.waitForURL((url) => !url.searchParams.has('length'))
  await page.goBack()
  await line('Mis casas').getByRole('link', { name: 'Mis casas' }).click()
  await page.getByRole('row').filter({ hasText: 'mi-casa.cl' }).waitFor()
  const stale = second()
  await eventually(() => second() > stale)
  await openScreen(page, 'Inicio')
  await line('Todos los dominios').waitFor()
  await line('Mis casas').waitFor({ state: 'detached' })
  await news.getByRole('button', { name: 'Marcar como vistas' }).click()
  await news.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('region', { name: 'Últimos inscritos' }).getByText('luna').waitFor()
  assert.equal(await news.count(), 0)
})

test('home shows which colleagues hold names, how many and until when, and keeps that up to date', async () => {
  const freed = ['uno', 'dos', 'tres'].map((name) =>
    record(name, { status: 0, date_reg: '2026-02-01 10:00:00' }),
  )
  await stored(service, freed)
  const ana = (await service.newKey('Ana', 'domainwatch')).key
  const { page } = await browser.open(service, '', { domainwatch: service.domainKey })
  await page.clock.install()
  await page.reload()
  await page
    .getByRole('region', { name: 'Últimos eliminados' })
    .getByRole('link', { name: 'dos.cl' })
    .waitFor()
  const held = page.getByRole('region', { name: 'Lo que deciden sus colegas ahora' })
  assert.equal(await held.count(), 0)
  await claim(service, service.domainKey, { limit: 1 })
  const { until } = await claim(service, ana, { limit: 2 })
  await page.clock.fastForward('00:16')
  await held
    .getByRole('listitem')
    .filter({ hasText: `Ana2 nombreshasta las ${until.slice(11, 16)}` })
    .waitFor()
  // The account's own claims are not listed.
  await showsCount(held.getByRole('listitem'), 1)
  await release(service, ana)
  await page.clock.fastForward('00:16')
  await held.waitFor({ state: 'detached' })
})

test('the home screen shows the state of feeds, and nothing about them if there are none', async () => {
  await using folder = await temporaryFolder()
  const url = 'http://127.0.0.1:9/lista'
  const feed = { name: 'eliminados', url, format: 'auto', every: '6h', account: 'grupo' }
  await using fed = await startWithFeeds({ flags: { feeds: await feedsFile(folder.path, [feed]) } })
  const { page } = await browser.open(fed, '', { domainwatch: fed.domainKey })
  const table = page.getByRole('region', { name: 'Fuentes' })
  await table.getByText('cada 6 horas, de 127.0.0.1:9').waitFor()
  await page.getByRole('heading', { name: 'Inicio' }).waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  await allAttempted(fed)
  await page.reload()
  await table.getByText('La dirección no está permitida').waitFor()
  await table.getByText('Con fallas').waitFor()

  const other = await browser.open(service, '', { domainwatch: service.domainKey })
  await other.page.getByText('Dominios guardados').waitFor()
  assert.equal(await other.page.getByText('Fuentes').count(), 0)
})
