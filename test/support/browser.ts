import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import axe from 'axe-core'
import {
  chromium as playwright,
  type Browser,
  type BrowserContext,
  type Locator,
  type Page,
} from 'playwright-core'
import { chromiumPath } from '../servers/packages.ts'
import { eventually } from './eventually.ts'
import type { TestService } from './service.ts'

/** Far longer than anything takes, for machines that do other things as well. */
const TIMEOUT_MS = 60_000

export interface Visit {
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
  /** A screen that is touched. */
  readonly touch?: boolean
  /** What the person chose; `browser` for nothing. */
  readonly language?: 'es' | 'en' | 'browser'
  /** The first language of the browser. */
  readonly locale?: string
}

/** Pages of one browser, each in a context of its own. */
export interface TestBrowser {
  open(
    service: Pick<TestService, 'url'>,
    path: string,
    keys: Readonly<Record<string, string>>,
    visit?: Visit,
  ): Promise<TestPage>
  [Symbol.asyncDispose](): Promise<void>
}

export interface TestPage {
  readonly page: Page
  readonly context: BrowserContext
  /** What the page complained of: faults of scripts, breaches of its policy. */
  readonly complaints: readonly string[]
  /** Addresses of other hosts that it asked. */
  readonly foreign: readonly string[]
}

export async function launchChromium(): Promise<Browser> {
  const options = {
    executablePath: await chromiumPath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--force-color-profile=srgb'],
    headless: true,
    chromiumSandbox: false,
    timeout: TIMEOUT_MS,
  }
  // Once in some hundred starts Chromium crashes before it has opened a page.
  return playwright.launch(options).catch(() => playwright.launch(options))
}

export async function startBrowser(): Promise<TestBrowser> {
  const browser = await launchChromium()
  return {
    async open(service, path, keys, visit = {}) {
      const { theme = 'light', width = 1_440, height = 900, touch = false } = visit
      const { language = 'es', locale = 'es-CL' } = visit
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        hasTouch: touch,
        locale,
        // Not the service's: what is shown must not depend on where the browser is.
        timezoneId: 'Asia/Tokyo',
        reducedMotion: 'reduce',
      })
      context.setDefaultTimeout(TIMEOUT_MS)
      await context.addInitScript(
        ([stored, spoken]) => {
          // Once in each tab: the keys of a user who signed out stay away when the page is loaded again.
          if (stored !== '{}' && sessionStorage.getItem('test.keys') === null) {
            sessionStorage.setItem('test.keys', 'put')
            sessionStorage.setItem('catalejo.keys', stored)
          }
          if (spoken !== 'browser') localStorage.setItem('catalejo.language', spoken)
        },
        [JSON.stringify(keys), language] as const,
      )
      const page = await context.newPage()
      // Chromium hands the requests of a page that is open to its first route a moment later than it says: one that a test adds
      // would miss the next request. From here on the page has a route.
      await page.route('**/not-asked-by-any-page', (route) => route.abort())
      const complaints: string[] = []
      const foreign: string[] = []
      const { host } = new URL(service.url)
      page.on('pageerror', (error) => complaints.push(String(error)))
      page.on('console', (message) => {
        // Other responses than 2xx are logged, too, but belong to the API.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
          complaints.push(message.text())
        }
      })
      page.on('dialog', (dialog) => {
        // A test that expects the browser's question before a page is left waits for it.
        if (dialog.type() !== 'beforeunload') complaints.push(`dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      page.on('request', (request) => {
        const url = new URL(request.url())
        if (url.protocol !== 'blob:' && url.protocol !== 'data:' && url.host !== host)
          foreign.push(request.url())
      })
      await page.goto(`${service.url}/console/${path}`)
      return { page, context, complaints, foreign }
    },
    async [Symbol.asyncDispose]() {
      await browser.close()
    },
  }
}

const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Colours on their way from one theme to the other have no contrast yet. Infinite animations are not waited for. */
const STILL = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  .then(() => Promise.all(document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
    .map(({ finished }) => finished.catch(() => {}))))
  .then(() => 0)`

/**
 * Returns the violations of WCAG 2.2 AA and good practice that axe finds, or of these rules only, one line for each place.
 * Runs in the page itself: there are no frames, for which the usual adapter opens another page each time.
 */
export async function accessibilityViolations(page: Page, rules?: string[]): Promise<string[]> {
  const runOnly = rules === undefined ? { type: 'tag', values: STANDARDS } : { type: 'rule', values: rules }
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(`${axe.source}; 0`)
  await page.evaluate(STILL)
  // An open menu covers other controls.
  const found: unknown = await page.evaluate(`axe
    .run(document.querySelector('.menu-panel:popover-open') ?? document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] })
    .then(({ violations, passes }) => passes.length === 0 ? ['nothing was looked at'] : violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => id + ': ' + html.slice(0, 160) + ' ' + failureSummary)))`)
  return Array.isArray(found) ? found.map(String) : [`no list: ${String(found)}`]
}

/** Waits until the resized page is at most as wide as the screen. */
export const fits = (page: Page, width: number): Promise<void> =>
  waitForExpression(page, `innerWidth <= ${width} && document.documentElement.scrollWidth <= ${width}`)

/** Asserts that axe finds no violation with a light and a dark theme and on a phone. Leaves the page at the size of a phone. */
export async function assertAccessible(page: Page): Promise<void> {
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.emulateMedia({ colorScheme: 'dark' })
  assert.deepEqual(await accessibilityViolations(page, ['color-contrast']), [], 'dark')
  await page.setViewportSize({ width: 360, height: 740 })
  await fits(page, 360)
  assert.deepEqual(await accessibilityViolations(page, ['color-contrast', 'target-size']), [], '360 pixels')
}

/** Evaluates an expression at each frame until it is true. The page's CSP blocks Playwright's `waitForFunction`. */
export async function waitForExpression(page: Page, expression: string): Promise<void> {
  await page.evaluate(`new Promise((resolve, reject) => {
    const late = performance.now() + ${TIMEOUT_MS}
    const look = () => {
      if (${expression}) resolve()
      else if (performance.now() > late) reject(new Error('it never came true'))
      else requestAnimationFrame(look)
    }
    look()
  })`)
}

/** Clicks a button that copies and returns the copied text. */
export async function copyWith(button: Locator): Promise<string> {
  const page = button.page()
  const copied = async () => String(await page.evaluate('navigator.clipboard.readText()'))
  // Also where a test has replaced the method that pages call.
  await page.evaluate("Clipboard.prototype.writeText.call(navigator.clipboard, '')")
  await button.click()
  await eventually(async () => (await copied()) !== '', 'the copied text')
  return copied()
}

/** A day as pages show it, which leave out the present year: `5 ene`, or `5 ene 2026`. */
export const shownDay = (day: string, year: number): string =>
  new Date().getFullYear() === year ? day : `${day} ${year}`

/** The table of domains. */
export const domainGrid = (page: Page): Locator => page.getByRole('grid', { name: 'Dominios' })

/** The row of a domain, by its name without `.cl`. */
export const domainRow = (page: Page, name: string): Locator =>
  domainGrid(page)
    .getByRole('row')
    .filter({ has: page.getByText(`${name}.cl`, { exact: true }) })

/** Waits until there are as many of these as texts, with these texts in this order. */
export async function showsTexts(all: Locator, texts: readonly string[]): Promise<void> {
  let shown: readonly string[] = []
  await eventually(
    async () => isDeepStrictEqual((shown = await all.allTextContents()), texts),
    () => `${JSON.stringify(texts)}, but ${JSON.stringify(shown)}`,
  )
}

/** Waits until there is this number of them. */
export const showsCount = (all: Locator, count: number): Promise<void> =>
  eventually(async () => (await all.count()) === count, `${count} of ${String(all)}`)

/** The message below the screen that contains this text. */
export const toast = (page: Page, text: string | RegExp): Locator =>
  page.locator('.toast').filter({ hasText: text })

/** The number of results that a screen shows with their noun. Filters and messages show numbers, too. */
export const resultCount = (page: Page, text: string): Locator =>
  page.getByRole('status').and(page.getByText(text, { exact: true }))

/** Opens a screen by its link in the side bar. */
export const openScreen = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).click()

/** Chooses an entry of the menu of the screen. */
export async function chooseMore(page: Page, entry: string): Promise<void> {
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: entry, exact: true }).click()
}

/** Pastes a key where a screen asks for one. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('Clave de API').fill(key)
  await page.getByRole('button', { name: 'Entrar', exact: true }).click()
}

export async function addKey(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Mi sesión' }).click()
  await page.getByRole('button', { name: 'Agregar una clave' }).click()
  await enterKey(page, key)
}

export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Mi sesión' }).click()
  await page.getByRole('button', { name: 'Salir', exact: true }).click()
}
