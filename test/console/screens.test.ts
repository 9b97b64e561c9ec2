/**
 * Every screen at the sizes and in the themes that people have: axe finds nothing, each control is large enough to be hit and
 * within the screen, and nothing makes the page scroll sideways.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { accessibilityViolations, fits } from '../support/browser.ts'
import { record, stored, update } from '../support/domains.ts'
import { ImageClient } from '../support/images.ts'
import { watch } from '../support/watches.ts'

const { service, browser } = await startConsole({ flags: { 'dns-servers': '127.0.0.1:9' } })
const long = 'a-name-of-a-domain-that-is-as-long-as-the-registry-lets-it-be'
await stored(
  service,
  ['ñandú', 'casa', 'casas', 'faro', 'muelle', long].map((name, i) =>
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
const hash = String(body['hash'])
await watch(service, { name: 'vigilancia', atom: '' })
const admin = (await service.newKey('la cuenta de la dueña con un nombre largo', 'admin')).key
const subject = 'w'.repeat(200)
await service.app.context.audit.record(
  { account: 'w'.repeat(64), keyId: 'k7mq2x9apd' },
  'rule.create',
  subject,
)
const limits = {
  scope: 'upload',
  expiresAt: Date.now() + 86_400_000,
  rate: { count: 1_000_000, periodMs: 60_000 },
} as const
await service.newKey('una aplicación de nombre bastante largo', 'imagestore', limits)
await service.newKey('w'.repeat(64), 'imagestore', limits)
type Screen = readonly [name: string, path: string, sign: string, act?: (page: Page) => Promise<void>]

const press = (name: string) => async (page: Page) => page.getByRole('button', { name, exact: true }).click()

const SCREENS: readonly Screen[] = [
  ['sign in', '', 'h1'],
  ['home', '', '.home-names li'],
  ['domains', 'dominios', '.table-row:not(:has(.bone))'],
  ['nothing found', 'dominios?search=zzz', '.notice h2'],
  ['a refusal', 'dominios?length=x', '[role=alert] .notice'],
  [
    'selected rows',
    'dominios',
    '.selection button',
    (page) => page.locator('.table-row .pick').first().click(),
  ],
  ['the menu of the table', 'dominios', '.menu-panel:popover-open', press('Más')],
  ['the filters', 'dominios', 'dialog[open]', press('Más filtros')],
  ['details', 'dominios?ficha=%C3%B1and%C3%BA', '.callout.unknown'],
  ['lookalikes', 'dominios?ficha=casas', '.lookalikes a'],
  ['triage', 'triaje', '.triage-name'],
  ['messages', 'triaje?status=1', '.toast', press('Visto')],
  ['adding', 'agregar', 'textarea'],
  ['import', 'importar', '.drop-place'],
  ['figures', 'cifras', '.plot canvas'],
  ['campaigns', 'campanas', '.notice h2'],
  ['watches', 'vigilancias', '.watch h2, .watches h3, main li'],
  ['gallery', 'imagenes', '.tile img.loaded'],
  [
    'selected images',
    'imagenes',
    '.selection button',
    (page) => page.getByLabel('Seleccionar catalejo.png', { exact: true }).click(),
  ],
  ['an image', 'imagenes?imagen=HASH', '.bench-result img'],
  ['storage', 'espacio', '.plot canvas'],
  ['keys', 'claves', 'tbody button'],
  ['audit log', 'auditoria', '.audit-subject'],
  ['system', 'sistema', '.setting-value'],
  ['the help', 'triaje', 'dialog[open] p a', press('¿Cómo funciona?')],
  ['an unknown address', 'no-existe', '.notice'],
]

/** A wide screen, that one at 200 % zoom, and phones. */
const SIZES = [
  [1_440, 900],
  [1_024, 768],
  [720, 450],
  [360, 740],
  // A wide screen at 400 %.
  [320, 256],
] as const

/**
 * Controls that are too small or out of reach, one line each. WCAG 2.5.8: 24 pixels except for links inside a
 * sentence; the main buttons of a screen have 44 where fingers are.
 */
const FAULTS = `(() => {
  const width = document.documentElement.clientWidth
  const found = []
  const dialog = document.querySelector('dialog[open]')
  const all = (dialog ?? document).querySelectorAll(
    'a[href], button, input:not([type=hidden]):not([hidden]), select, textarea, summary, [role=checkbox], [role=button], [role=gridcell].pick')
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
    // The chart of days brings back what is in it.
    if (one.closest('.days') === null && (own.left < -0.5 || own.right > width + 0.5)) found.push(name + ': beyond the edge')
  }
  return found
})()`

const getFaults = async (page: Page): Promise<unknown> => page.evaluate(FAULTS)

suite('every screen', () => {
  for (const [name, path, sign, act] of SCREENS) {
    test(name, async () => {
      const keys =
        name === 'sign in' ? {} : { domainwatch: service.domainKey, imagestore: service.imageKey, admin }
      const { page, context } = await browser.open(service, path.replace('HASH', hash), keys)
      await act?.(page)
      await page.locator(sign).first().waitFor()
      assert.deepEqual(await accessibilityViolations(page), [])
      // What is in front of the shade of a dialog has no colours that axe can tell.
      const colours = name === 'the filters' || name === 'the help' ? [] : ['color-contrast']
      await page.emulateMedia({ colorScheme: 'dark' })
      const rules = [...colours, 'target-size']
      assert.deepEqual(await accessibilityViolations(page, rules), [], 'dark')
      for (const [width, height] of SIZES) {
        await page.setViewportSize({ width, height })
        // Scripts hear of the size with the next frame.
        await page.evaluate('new Promise(requestAnimationFrame)')
        await fits(page, width)
        assert.deepEqual(await getFaults(page), [], `${width} pixels`)
      }
      assert.deepEqual(await accessibilityViolations(page, rules), [], '320 pixels')
      if (name === 'home') {
        await page.getByRole('button', { name: 'Menú' }).click()
        assert.deepEqual(await getFaults(page), [], 'with the menu')
      }
      await context.close()
    })
  }
})

test('faults that are planted are found', async () => {
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
  await page.evaluate(`document.querySelector('main').insertAdjacentElement('beforeend',
    Object.assign(document.createElement('button'), { textContent: 'x', style: 'width: 10px; padding: 0; position: absolute; left: 2000px' }))`)
  const faults = JSON.stringify(await getFaults(page))
  assert.match(faults, /BUTTON\. x: 10 x/)
  assert.match(faults, /BUTTON\. x: beyond the edge/)
  await context.close()
})

test('every date is in the time zone of the service, in both languages', async () => {
  const keys = { domainwatch: service.domainKey, imagestore: service.imageKey }
  const { page, context } = await browser.open(service, `imagenes?imagen=${hash}`, keys, { language: 'en' })
  await page.getByRole('heading', { name: 'Images', level: 1 }).waitFor({ state: 'attached' })
  const { body } = await new ImageClient(service.url, service.imageKey).get(hash)
  const shown = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: 'America/Santiago',
  })
  await page.getByText(shown.format(Number(body['date']) * 1_000)).waitFor()
  assert.equal(await page.evaluate('document.documentElement.lang'), 'en')
  await context.close()
})

for (const [language, label] of [
  ['es', '¿Cómo funciona?'],
  ['en', 'How does it work?'],
] as const) {
  test(`each screen says how it works, with a link to its section of the guide: ${language}`, async () => {
    const keys = { domainwatch: service.domainKey, imagestore: service.imageKey, admin }
    const { page, context, complaints } = await browser.open(service, '', keys, { language })
    const guide = await context.newPage()
    const links = page.getByRole('navigation').getByRole('link')
    await links.first().waitFor()
    const sentences = new Set<string>()
    for (const link of await links.all()) {
      await link.click()
      await page.getByRole('button', { name: label }).click()
      const help = page.getByRole('dialog', { name: label })
      sentences.add(await help.locator('p').innerText())
      await guide.goto(new URL((await help.getByRole('link').getAttribute('href')) ?? '', page.url()).href)
      await guide.locator('h2:target').waitFor()
      assert.equal(await guide.evaluate('document.documentElement.lang'), language)
      await page.keyboard.press('Escape')
    }
    assert.deepEqual(await accessibilityViolations(guide), [])
    assert.equal(sentences.size, await links.count())
    assert.deepEqual(complaints, [])
    await context.close()
  })
}
