/** Each language on every screen: nothing of the other, errors that are explained, and numbers and dates as people write them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { resultCount, openScreen } from '../support/browser.ts'
import type { Visit } from '../support/browser.ts'
import { record, stored } from '../support/domains.ts'
import { AUDIT_ACTIONS } from '../../src/http/auth/queries.ts'
import { ImageClient, noise } from '../support/images.ts'
import { watch } from '../support/watches.ts'

const { service, browser } = await startConsole({ flags: { 'dns-servers': '127.0.0.1:9' } })
await stored(service, [
  record('a', { date_reg: '2025-03-04 05:06:07' }),
  record('unico', { status: 0, date_reg: '2025-03-03 05:06:07' }),
])
await watch(service, { name: 'alert', atom: '' })
const client = new ImageClient(service.url, service.imageKey)
await client.upload(await noise(60, 40).png().toBuffer(), { name: 'photo.png' })
const { key: admin, id } = await service.newKey('owner', 'admin')
for (const action of AUDIT_ACTIONS)
  await service.app.context.audit.record({ account: 'owner', keyId: id }, action, 'x')
const keys = { domainwatch: service.domainKey, imagestore: service.imageKey, admin }
const open = (path: string, visit?: Visit) => browser.open(service, path, keys, visit)

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
    const { page } = await open('', { language })
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
  })
}

test('a rejected request is not repeated, whatever its status', async () => {
  for (const status of [400, 413]) {
    const { page, context } = await open('sistema')
    await page.getByRole('heading', { name: 'Sistema', level: 1 }).waitFor()
    const seen = requests(page)
    await page.clock.install()
    await page.route('**/domainwatch/stats?*', (route) => route.fulfill({ status, body: '' }))
    await openScreen(page, 'Estadísticas')
    await page.getByRole('alert').waitFor()
    // The counts next to the chips need the same data a moment later, and the day strip after that.
    await openScreen(page, 'Dominios')
    await resultCount(page, '2 dominios').waitFor()
    await page.clock.fastForward('00:10')
    await openScreen(page, 'Estadísticas')
    await page.getByRole('alert').waitFor()
    assert.deepEqual(
      seen.filter((one) => one === '/api/v1/domainwatch/stats'),
      ['/api/v1/domainwatch/stats'],
    )
    await context.close()
  }
})

test('errors of the service are introduced in English for users of the English console', async () => {
  const { page } = await open('claves', { language: 'en' })
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('dialog').getByLabel('Account').fill('fotos')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('The service says: “La cuenta fotos es del servicio imagestore').waitFor()
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

/** All that is read or heard, without the name of the other language and examples of names. */
async function textsOf(page: Page): Promise<string[]> {
  const found: unknown = await page.evaluate(`[...document.querySelectorAll('body *')].flatMap((element) => [
      ...[...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data),
      ...['aria-label', 'title', 'alt'].map((name) => element.getAttribute(name) ?? ''),
    ])`)
  assert.ok(Array.isArray(found))
  return found.map(String).filter((text) => text !== 'Español')
}

const SCREENS: readonly (readonly [path: string, text: string, entry?: string])[] = [
  ['', 'Home'],
  ['dominios?ficha=unico', 'The DNS servers could not answer'],
  ['triaje', '1 left'],
  ['agregar', 'Add names'],
  ['importar', 'Choose a file'],
  ['cifras', 'By agent'],
  ['vigilancias', 'Deliveries'],
  ['imagenes', '1 image'],
  ['imagenes?papelera', 'The trash is empty'],
  ['imagenes', 'Largest size of each (MB)', 'Upload ticket'],
  ['imagenes', 'No banned images', 'Banned images'],
  ['espacio', 'Average size'],
  ['claves', 'New key'],
  ['auditoria', 'Signed in through the proxy'],
  ['sistema', 'Health'],
]

test('in English, nothing on any screen is in Spanish', async () => {
  const { page } = await open('', { language: 'en', locale: 'en-GB' })
  for (const [path, text, entry] of SCREENS) {
    await page.goto(`${service.url}/console/${path}`)
    if (entry !== undefined) {
      await page.getByRole('button', { name: 'More', exact: true }).click()
      await page.getByRole('button', { name: entry }).click()
    }
    await page.getByText(text).first().waitFor()
    const spanish = (await textsOf(page)).filter((one) => /[áéíóúñ¿¡«»]/i.test(one))
    assert.deepEqual(spanish, [], path)
  }
})

test('the reasons of lookalikes are in the language of the page', async () => {
  await stored(service, [record('unicos', { date_reg: '2025-03-02 05:06:07' })])
  for (const [language, reason] of [
    ['es', 'en plural'],
    ['en', 'singular or plural'],
  ] as const) {
    for (const [path, list] of [
      ['dominios?ficha=unico', '.sheet .lookalikes'],
      ['triaje', '.triage-card .lookalikes'],
    ] as const) {
      const { page, context } = await open(path, { language })
      await page.locator(list).getByText(reason, { exact: true }).waitFor()
      await context.close()
    }
  }
})

test('one of something is said in the singular', async () => {
  const { page } = await open('triaje')
  await page.getByText('queda 1', { exact: true }).waitFor()
  await page.goto(`${service.url}/console/dominios`)
  await page.getByRole('button', { name: 'Largo' }).first().click()
  await page.getByRole('button', { name: '1 carácter' }).waitFor()
})

test('dates at home are written in the language of the page', async () => {
  for (const [language, text] of [
    ['es', '4 mar 2025, 05:06'],
    ['en', '4 Mar 2025, 05:06'],
  ] as const) {
    const { page, context } = await open('', { language })
    await page.getByText(text, { exact: true }).first().waitFor()
    await context.close()
  }
})
