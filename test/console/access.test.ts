import { after, before, suite, test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { accessibilityViolations, fits, startBrowser, type TestBrowser } from '../support/browser.ts'
import { record, stored, update } from '../support/domains.ts'
import { ImageClient } from '../support/images.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let browser: TestBrowser
let hash: string

before(async () => {
  ;[service, browser] = await Promise.all([
    startService({ flags: { 'dns-servers': '127.0.0.1:9' } }),
    startBrowser(),
  ])
  await stored(
    service,
    ['ñandú', 'casa', 'faro', 'muelle'].map((name, i) => record(name, { status: i % 2, reserve: i % 2 })),
  )
  await update(service, [
    { domain: 'ñandú', revision: 1 },
    { domain: 'casa', discarded: 1 },
  ])
  const picture = readFileSync(new URL('../../assets/catalejo.png', import.meta.url))
  const { body } = await new ImageClient(service.url, service.imageKey).upload(picture, {
    name: 'catalejo.png',
  })
  hash = String(body['hash'])
})

after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

const SCREENS = [
  ['sign in', '', 'h1'],
  ['domains', 'dominios', '.table-row:not(:has(.bone))'],
  ['nothing found', 'dominios?search=zzz', '.notice h2'],
  ['a refusal', 'dominios?length=x', '[role=alert] .notice'],
  ['details', 'dominios?ficha=%C3%B1and%C3%BA', '.callout.unknown'],
  ['home', '', '.home-names li'],
  ['figures', 'cifras', '.plot canvas'],
  ['import', 'importar', '.drop-place'],
  ['triage', 'triaje', '.triage-name'],
  ['gallery', 'imagenes', '.tile img.loaded'],
  ['an image', 'imagenes?imagen=HASH', '.bench-result img'],
  ['storage', 'espacio', '.plot canvas'],
] as const

suite('every screen', { concurrency: 3 }, () => {
  for (const [name, path, sign] of SCREENS) {
    test(`${name}: axe finds nothing in light and dark, and from 360 pixels on nothing is wider than the screen`, async () => {
      const keys = name === 'sign in' ? {} : { domainwatch: service.domainKey, imagestore: service.imageKey }
      const { page, context } = await browser.open(service, path.replace('HASH', hash), keys)
      await page.locator(sign).first().waitFor()
      assert.deepEqual(await accessibilityViolations(page), [])
      await page.emulateMedia({ colorScheme: 'dark' })
      assert.deepEqual(await accessibilityViolations(page, ['color-contrast']), [], 'dark')
      await page.setViewportSize({ width: 360, height: 740 })
      await page.locator(sign).first().waitFor()
      await fits(page, 360)
      assert.deepEqual(
        await accessibilityViolations(page, ['color-contrast', 'target-size']),
        [],
        '360 pixels',
      )
      await context.close()
    })
  }
})

test('axe detects a planted violation', async () => {
  const { page, context } = await browser.open(service, '', {})
  await page.locator('h1').waitFor()
  await page.evaluate(
    `document.querySelector('main').append(document.createElement('img'), document.createElement('button')); document.querySelector('h1').style.color = '#ccc'`,
  )
  const found = await accessibilityViolations(page)
  for (const rule of ['image-alt', 'button-name', 'color-contrast']) {
    assert.ok(
      found.some((line) => line.startsWith(rule)),
      found.join('\n'),
    )
  }
  await context.close()
})

test('English and Spanish, and every date in the time zone of the service', async () => {
  const keys = { domainwatch: service.domainKey, imagestore: service.imageKey }
  const { page, context } = await browser.open(service, `imagenes?imagen=${hash}`, keys, { language: 'en' })
  await page.getByRole('heading', { name: 'Images', level: 1 }).waitFor({ state: 'attached' })
  const { body } = await new ImageClient(service.url, service.imageKey).get(hash)
  const shown = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'America/Santiago',
  })
  await page.getByText(shown.format(Number(body['date']) * 1_000)).waitFor()
  assert.equal(await page.evaluate('document.documentElement.lang'), 'en')
  await context.close()
})
