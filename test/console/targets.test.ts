/**
 * Every control of every screen at the sizes and in the themes that people have: large enough to be hit, nowhere beyond the edge
 * of the screen, and nothing that makes the page scroll sideways.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startBrowser, type TestBrowser } from '../support/browser.ts'
import { record, stored, update } from '../support/domains.ts'
import { ImageClient } from '../support/images.ts'
import { startService, type TestService } from '../support/service.ts'
import { watch } from '../support/watches.ts'

let service: TestService
let browser: TestBrowser
let admin: string
let hash: string

before(async () => {
  ;[service, browser] = await Promise.all([
    startService({ flags: { 'dns-servers': '127.0.0.1:9' } }),
    startBrowser(),
  ])
  const long = 'a-name-of-a-domain-that-is-as-long-as-the-registry-lets-it-be'
  await stored(
    service,
    ['ñandú', 'casa', 'faro', 'muelle', long].map((name, i) =>
      record(name, { status: i % 2, reserve: i % 2 }),
    ),
  )
  await update(service, [
    { domain: 'ñandú', revision: 1 },
    { domain: 'casa', discarded: 1 },
  ])
  const client = new ImageClient(service.url, service.imageKey)
  const picture = readFileSync(new URL('../../assets/catalejo.png', import.meta.url))
  const { body } = await client.upload(picture, { name: 'catalejo.png' })
  hash = String(body['hash'])
  await watch(service, { name: 'vigilancia', atom: '' })
  admin = (await service.newKey('la cuenta de la dueña con un nombre largo', 'admin')).key
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

const SCREENS = [
  ['sign in', '', 'h1'],
  ['home', '', '.home-names li'],
  ['domains', 'dominios', '.table-row:not(:has(.bone))'],
  ['details', 'dominios?ficha=%C3%B1and%C3%BA', '.callout.unknown'],
  ['triage', 'triaje', '.triage-name'],
  ['import', 'importar', '.drop-place'],
  ['figures', 'cifras', '.plot canvas'],
  ['watches', 'vigilancias', '.watches h3, .watch h2, main li'],
  ['gallery', 'imagenes', '.tile img.loaded'],
  ['an image', 'imagenes?imagen=HASH', '.bench-result img'],
  ['storage', 'espacio', '.plot canvas'],
  ['keys', 'claves', 'tbody button'],
  ['system', 'sistema', '.setting-value'],
  ['an unknown address', 'no-existe', '.notice'],
] as const

/** A phone, a wide screen, and that one at 200 % zoom. */
const SIZES = [
  [390, 844],
  [720, 450],
  [1_440, 900],
] as const

/**
 * Controls that are too small or out of reach, one line each. WCAG 2.5.8: 24 pixels except for links inside a
 * sentence; the main buttons of a screen have 44 where fingers are.
 */
const FAULTS = `(() => {
  const width = document.documentElement.clientWidth
  const found = []
  if (document.documentElement.scrollWidth > width)
    found.push('the page is ' + document.documentElement.scrollWidth + ' pixels wide')
  const dialog = document.querySelector('dialog[open]')
  const all = (dialog ?? document).querySelectorAll(
    'a[href], button, input:not([type=hidden]):not([hidden]), select, textarea, summary, [role=checkbox], [role=button]')
  for (const one of all) {
    if (!one.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue
    // What only keyboards and screen readers reach is no target.
    if (one.matches('.skip') || getComputedStyle(one.closest('.table-head') ?? one).clipPath !== 'none') continue
    // A label is as good as its control.
    const target = one.closest('label') ?? one
    const box = target.getBoundingClientRect()
    const own = one.getBoundingClientRect()
    const at = Math.round(box.width) + ' x ' + Math.round(box.height)
    const name = one.tagName + '.' + one.className + ' ' + (one.ariaLabel ?? one.textContent ?? '').trim().slice(0, 40)
    const isInText = one.matches('p a, dd a, li > span a') && getComputedStyle(one).display === 'inline'
    const least = width <= 760 && one.matches('.button.primary') ? 44 : 24
    if (!isInText && (box.width < 24 || box.height < least - 0.5)) found.push(name + ': ' + at)
    // A scroller of its own brings back what is in it.
    const scroller = one.closest('.scroll-x, .days')
    if (scroller === null && (own.left < -0.5 || own.right > width + 0.5)) found.push(name + ': beyond the edge')
  }
  return found
})()`

const faultsOf = async (page: Page): Promise<unknown> => page.evaluate(FAULTS)

suite('every control', { concurrency: 3 }, () => {
  for (const [name, path, sign] of SCREENS) {
    for (const theme of ['light', 'dark'] as const) {
      test(`${name}, ${theme}`, async () => {
        const keys =
          name === 'sign in' ? {} : { domainwatch: service.domainKey, imagestore: service.imageKey, admin }
        for (const [width, height] of SIZES) {
          const { page, context } = await browser.open(service, path.replace('HASH', hash), keys, {
            theme,
            width,
            height,
          })
          await page.locator(sign).first().waitFor()
          assert.deepEqual(await faultsOf(page), [], `${width} pixels`)
          if (width === 390 && name === 'home') {
            await page.getByRole('button', { name: 'Menú' }).click()
            assert.deepEqual(await faultsOf(page), [], 'with the menu')
          }
          await context.close()
        }
      })
    }
  }
})

test('a control that is too small or unreachable is reported', async () => {
  const { page, context } = await browser.open(service, '', {})
  await page.locator('h1').waitFor()
  await page.evaluate(`document.querySelector('main').insertAdjacentElement('beforeend',
    Object.assign(document.createElement('button'), { textContent: 'x', style: 'width: 10px; padding: 0; position: absolute; left: 2000px' }))`)
  const found = await faultsOf(page)
  assert.match(JSON.stringify(found), /BUTTON\. x: 10 x/)
  assert.match(JSON.stringify(found), /BUTTON\. x: beyond the edge/)
  await context.close()
})
