/** Error messages of the console in the user's language, and the number of requests that fail. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { type Visit } from '../support/browser.ts'
import { record, stored } from '../support/domains.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { REAL_SIZE, storeRealSize } from '../support/real-size.ts'

const IMAGES = 343

const { service, browser } = await startConsole()
await storeRealSize(service)
await stored(service, [record('reservado-uno', { reserve: 1 })])
const admin = (await service.newKey('dueña', 'admin')).key
const client = new ImageClient(service.url, service.imageKey)
for (let i = 0; i < IMAGES; i++) {
  await client.upload(
    await gradient(20 + (i % 20), 20 + Math.floor(i / 20))
      .png()
      .toBuffer(),
  )
}
const open = (path: string, visit?: Visit) =>
  browser.open(service, path, { domainwatch: service.domainKey, imagestore: service.imageKey, admin }, visit)

/** Records the API requests of a page from now on, without their keys. */
function requests(page: Page): string[] {
  const seen: string[] = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    url.searchParams.delete('api')
    if (url.pathname.startsWith('/api/')) seen.push(`${url.pathname}${url.search}`)
  })
  return seen
}

const FILTERS = [
  [
    'length=abc',
    '«largo:abc» no es válido: debe ser un número entre 1 y 63.',
    '“length:abc” is not valid: it must be a number from 1 to 63.',
  ],
  [
    'min_length=0',
    '«mínimo:0» no es válido: debe ser un número entre 1 y 63.',
    '“min:0” is not valid: it must be a number from 1 to 63.',
  ],
  [
    'from=2025-02-30',
    '«desde:2025-02-30» no es válido: debe ser un día que exista',
    '“from:2025-02-30” is not valid: it must be an existing day',
  ],
  [
    'last_register=5000',
    '«inscritos:5000» no es válido: debe ser un número entre 1 y',
    '“registered:5000” is not valid: it must be a number from 1 to',
  ],
  ['status=3', '«estado:3» no es válido', '“state:3” is not valid'],
] as const

for (const [path, language] of [
  ['cifras', 'es'],
  ['dominios', 'en'],
] as const) {
  test(`${path}: invalid filters are explained without a request`, async () => {
    const { page, context, complaints } = await open('', { language })
    const seen = requests(page)
    for (const [query, spanish, english] of FILTERS) {
      await page.goto(`${service.url}/console/${path}?${query}`)
      const text = language === 'es' ? spanish : english
      await page.getByRole('alert').getByText(text).first().waitFor()
      assert.doesNotMatch(await page.locator('main').innerText(), /min_length|last_register|parámetro/)
      assert.deepEqual(
        seen.filter((one) => one.includes(query)),
        [],
      )
    }
    assert.deepEqual(complaints, [])
    await context.close()
  })
}

test('a rejected request is not repeated, whatever its status', async () => {
  for (const status of [400, 413]) {
    const { page, context, complaints } = await open('sistema')
    await page.getByRole('heading', { name: 'Sistema', level: 1 }).waitFor()
    const seen = requests(page)
    await page.clock.install()
    await page.route('**/domainwatch/stats?*', (route) => route.fulfill({ status, body: '' }))
    await page.getByRole('link', { name: 'Estadísticas' }).click()
    await page.getByRole('alert').waitFor()
    // The counts next to the chips need the same data a moment later, and the day strip after that.
    await page.getByRole('link', { name: 'Dominios' }).click()
    await page.getByText('109.432 dominios').or(page.getByText('200 o más dominios')).waitFor()
    await page.clock.fastForward('00:10')
    await page.getByRole('link', { name: 'Estadísticas' }).click()
    await page.getByRole('alert').waitFor()
    assert.deepEqual(
      seen.filter((one) => one === '/api/v1/domainwatch/stats'),
      ['/api/v1/domainwatch/stats'],
    )
    assert.deepEqual(complaints, [])
    await context.close()
  }
})

test('errors of the service are introduced in English for users of the English console', async () => {
  const { page, context } = await open('claves', { language: 'en' })
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('dialog').getByLabel('Account').fill('fotos')
  await page
    .getByRole('button', { name: 'Create' })
    .or(page.getByRole('button', { name: 'Create' }))
    .click()
  await page.getByText('The service says: “La cuenta fotos es del servicio imagestore').waitFor()
  await context.close()
})

test('the language defaults to that of the browser, and the chosen one takes precedence', async () => {
  const title = (page: Page, text: string) => page.getByRole('heading', { name: text }).waitFor()
  for (const [locale, text] of [
    ['en-US', 'Sign in to Catalejo'],
    ['es-MX', 'Entrar a Catalejo'],
    ['de-DE', 'Entrar a Catalejo'],
  ] as const) {
    const { page, context } = await browser.open(service, '', {}, { language: 'browser', locale })
    await title(page, text)
    if (locale === 'en-US') {
      assert.equal(await page.evaluate('document.documentElement.lang'), 'en')
      await page.getByLabel('Language').selectOption('Español')
      await title(page, 'Entrar a Catalejo')
      await page.reload()
      await title(page, 'Entrar a Catalejo')
    }
    await context.close()
  }
})

test('home and the gallery show exact totals', async () => {
  const { page, context } = await open('')
  await page.getByRole('link', { name: `Dominios guardados ${format(REAL_SIZE + 1)}` }).waitFor()
  await page.goto(`${service.url}/console/imagenes`)
  await page.getByText(`${IMAGES} imágenes`, { exact: true }).waitFor()
  assert.equal(await page.getByText('o más').count(), 0)
  await context.close()
})

test('images that were scrolled out of sight before they arrived are no longer fetched', async () => {
  const { page, context, complaints } = await open('espacio')
  await page.route('**/i/**', () => undefined)
  const first = page.waitForRequest('**/i/**')
  await page.getByRole('navigation').getByRole('link', { name: 'Imágenes' }).click()
  const asked = await first
  const cancelled = page.waitForEvent('requestfailed', (request) => request === asked)
  await page.locator('.tile').first().waitFor()
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  await cancelled
  assert.deepEqual(complaints, [])
  await context.close()
})

const format = (n: number) => new Intl.NumberFormat('es-CL').format(n)
