import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, domainRow, startBrowser } from '../support/browser.ts'
import { record, stored, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { claim, release } from '../support/queue.ts'
import { startService } from '../support/service.ts'

test('the home and usage screens show texts, not keys of texts that other screens load', async () => {
  await using service = await startService()
  await using browser = await startBrowser()
  for (const [path, text] of [
    ['', 'Primeros pasos'],
    ['espacio', 'Almacenado'],
  ] as const) {
    const { page, context } = await browser.open(service, path, { imagestore: service.imageKey })
    await page.getByText(text, { exact: true }).waitFor()
    assert.equal(await page.getByText('owner.', { exact: false }).count(), 0)
    await context.close()
  }
})

test('home lists failing watches first', async () => {
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

test('home shows changes since the last visit, in total and for each saved view, until they are marked as seen', async () => {
  await using service = await startService()
  await using browser = await startBrowser()
  const status = (name: string, to: 0 | 1) => record(name, { status: to })
  await stored(
    service,
    ['casa', 'casa-azul', 'faro', 'sol', 'cielo'].map((name) => status(name, 1)),
  )
  // Changes in the same second as a visit may or may not be shown.
  const second = () => Math.floor(Date.now() / 1_000)
  const began = second()
  await eventually(() => second() > began)
  const { page, context, complaints } = await browser.open(service, 'dominios?search=casa', {
    domainwatch: service.domainKey,
  })
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: 'Guardar esta vista' }).click()
  await page.getByLabel('Nombre').fill('Mis casas')
  await page.getByRole('button', { name: 'Guardar vista' }).click()
  await page.getByText('Vista guardada: Mis casas').waitFor()
  await page.getByRole('link', { name: 'Inicio' }).click()
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
  await page
    .getByRole('status')
    .filter({ hasText: /^2 dominios$/ })
    .waitFor()
  await page.goBack()
  await assertAccessible(page)
  await page.setViewportSize({ width: 1_440, height: 900 })
  await line('Mis casas').getByRole('link', { name: '1 liberado' }).click()
  await page.getByRole('row').filter({ hasText: 'casa-azul.cl' }).waitFor()
  await page.getByRole('status').filter({ hasText: '1 dominio' }).waitFor()
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
  await page.getByRole('link', { name: 'Inicio' }).click()
  await line('Todos los dominios').waitFor()
  await line('Mis casas').waitFor({ state: 'detached' })
  await news.getByRole('button', { name: 'Marcar como vistas' }).click()
  await news.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('region', { name: 'Últimos inscritos' }).getByText('luna').waitFor()
  assert.equal(await news.count(), 0)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('home shows which colleagues hold names, how many and until when, and keeps that up to date', async () => {
  await using service = await startService()
  await using browser = await startBrowser()
  const freed = ['uno', 'dos', 'tres'].map((name) => record(name, { status: 0 }))
  await stored(service, freed)
  const ana = (await service.newKey('Ana', 'domainwatch')).key
  const { page, context, complaints } = await browser.open(service, '', { domainwatch: service.domainKey })
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
  assert.equal(await held.getByRole('listitem').count(), 1)
  await assertAccessible(page)
  await release(service, ana)
  await page.clock.fastForward('00:16')
  await held.waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await context.close()
})
