/**
 * Claims while a user triages, pauses, leaves and comes back: the clocks of the service and of the page are moved
 * together.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startBrowser, type TestBrowser, toast } from '../support/browser.ts'
import { getFields, record, stored, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { claim, QUEUE } from '../support/queue.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'

const MINUTE_MS = 60_000
const TOTAL = 60
/** The page claims again at most so long after a decision, its own or one of others. */
const SOON_MS = 10_000
/** Counts the claims that are on their way in the page itself: the browser reports requests a moment later. */
const COUNT_CLAIMS = `{
  globalThis.claims = 0
  const send = fetch
  globalThis.fetch = async (url, init) => {
    const n = init.method === 'POST' && url.pathname === '${QUEUE}' ? 1 : 0
    claims += n
    try {
      return await send(url, init)
    } finally {
      claims -= n
    }
  }
}`
let browser: TestBrowser

before(async () => (browser = await startBrowser()))
after(() => browser?.[Symbol.asyncDispose]())

/** `n0` is the newest deletion, and the first in the queue. */
const freed = Array.from({ length: TOTAL }, (_, i) => {
  const second = String(TOTAL - 1 - i).padStart(2, '0')
  return record(`n${i}`, { status: 0, date_reg: `2026-01-10 10:00:${second}` })
})

interface Morning extends AsyncDisposable {
  readonly service: TestService
  readonly page: Page
  readonly complaints: readonly string[]
  readonly ana: string
  /** Lets the time pass for everybody. */
  readonly pass: (minutes: number) => Promise<void>
}

async function startMorning(): Promise<Morning> {
  // 9:00 in Santiago, in summer.
  const clock = new ManualClock('2026-01-15T12:00:00Z')
  const service = await startService({ clock, flags: { 'dns-servers': '127.0.0.1:9' } })
  await stored(service, freed, { encoding: 'json' })
  const ana = (await service.newKey('Ana', 'domainwatch')).key
  const { page, context, complaints } = await browser.open(service, 'triaje', {
    domainwatch: service.domainKey,
  })
  await page.clock.install()
  await page.addInitScript(COUNT_CLAIMS)
  await page.reload()
  await card(page, 'n0').waitFor()
  return {
    service,
    page,
    complaints,
    ana,
    async pass(minutes) {
      const claimed = () =>
        eventually(async () => (await page.evaluate('claims')) === 0, 'no claim is on its way')
      // A claim that is planned or on its way would bring the page's old time to the service's new one.
      await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + SOON_MS)
      await claimed()
      // Those that a claim has planned.
      await page.clock.runFor(SOON_MS)
      await claimed()
      clock.advance(minutes * MINUTE_MS)
      await page.clock.fastForward(minutes * MINUTE_MS)
      await page.clock.resume()
    },
    async [Symbol.asyncDispose]() {
      await context.close()
      await service[Symbol.asyncDispose]()
    },
  }
}

const card = (page: Page, name: string) =>
  page.locator('.triage-name').getByText(`${name}.cl`, { exact: true })

/** Until when accounts hold names, by account. */
async function holders(service: TestService): Promise<Readonly<Record<string, string>>> {
  const { body } = await call(service, QUEUE, { query: { api: service.domainKey } })
  // Its shape is asserted by the tests of the queue.
  const { data } = body as { data: readonly { account: string; until: string }[] }
  return Object.fromEntries(data.map(({ account, until }) => [account, until.slice(11, 16)]))
}

const heldUntil = (service: TestService, time: string) =>
  eventually(async () => (await holders(service))['grupo'] === time, `claims until ${time}`)

const decisionOn = (service: TestService, name: string) =>
  getFields(service, name, 'revision', 'discarded', 'seen_by')

test('claims are extended during triage, and expire after the user left, whatever colleagues do', async () => {
  await using morning = await startMorning()
  const { service, page, complaints, ana, pass } = morning
  await heldUntil(service, '09:10')
  for (const [i, until] of ['09:14', '09:18', '09:22'].entries()) {
    await pass(4)
    await heldUntil(service, until)
    await page.keyboard.press('Space')
    await card(page, `n${i + 1}`).waitFor()
    await toast(page, `1 dominio visto: n${i}.cl`).waitFor()
  }
  const { names } = await claim(service, ana, { limit: 2 })
  assert.ok(!names.includes('n3'), names.join())
  // They stop pressing keys at 9:12, and stay on the page.
  await pass(4)
  await heldUntil(service, '09:26')
  await pass(4)
  await heldUntil(service, '09:30')
  await pass(4)
  // A colleague's decision is shown, and extends nothing.
  await update(service, [{ domain: 'n3', revision: 1, seen: 1 }], { key: ana, encoding: 'json' })
  await page.locator('.triage-facts').getByText('Revisión', { exact: true }).waitFor()
  await page.clock.fastForward('00:10')
  await pass(7)
  await page.getByRole('alert').getByText('Ana ya decidió sobre este nombre.').waitFor()
  assert.deepEqual(await holders(service), {})
  await page.getByRole('button', { name: 'Siguiente' }).click()
  await card(page, 'n4').waitFor()
  await heldUntil(service, '09:41')
  assert.deepEqual(complaints, [])
})

test('when a claim ends during a decision, the user sees who has the name now, and neither decision is lost', async () => {
  await using morning = await startMorning()
  const { service, page, complaints, ana, pass } = morning
  await pass(19)
  await page.getByRole('alert').getByText('Su turno con este nombre venció').waitFor()
  const { names, until } = await claim(service, ana, { limit: 3 })
  assert.deepEqual(names, ['n0', 'n1', 'n2'])
  // Back at the page, which was in the background.
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
  const notice = page
    .getByRole('alert')
    .getByText(`Ana tiene ahora este nombre, hasta las ${until.slice(11, 16)}.`)
  await notice.waitFor()
  await card(page, 'n0').waitFor()
  // Ana is quicker. What is shown of that a moment before the key is pressed is not what it was meant for.
  await update(service, [{ domain: 'n0', revision: 1, seen: 1 }], { key: ana, encoding: 'json' })
  await page.locator('.triage-facts').getByText('Revisión', { exact: true }).waitFor()
  await page.keyboard.press('d')
  await toast(
    page,
    /No se pudo descartar n0\.cl: alguien lo cambió mientras tanto; ahora: Libre · Revisión/,
  ).waitFor()
  assert.deepEqual(await decisionOn(service, 'n0'), { revision: 1, discarded: 0, seen_by: 'Ana' })
  // What Ana holds comes to nobody else.
  await card(page, 'n3').waitFor()
  assert.equal(await notice.count(), 0)
  assert.deepEqual(complaints, [])
})

test('a key pressed after a long absence decides on the shown name, and the next name is held by nobody', async () => {
  await using morning = await startMorning()
  const { service, page, complaints, ana, pass } = morning
  await pass(19)
  await page.getByRole('alert').getByText('Su turno con este nombre venció').waitFor()
  const { names } = await claim(service, ana, { limit: 3 })
  assert.deepEqual(names, ['n0', 'n1', 'n2'])
  await page.keyboard.press('r')
  await card(page, 'n3').waitFor()
  await toast(page, '1 dominio en revisión: n0.cl').waitFor()
  assert.deepEqual(await decisionOn(service, 'n0'), { revision: 1, discarded: 0, seen_by: 'grupo' })
  // The colleague, who looks at the same name, cannot overwrite it unseen.
  const reply = await update(service, [{ domain: 'n0', discarded: 1, expect: { seen: 0 } }], {
    key: ana,
    encoding: 'json',
  })
  assert.equal(reply.status, 409)
  assert.deepEqual(await decisionOn(service, 'n0'), { revision: 1, discarded: 0, seen_by: 'grupo' })
  assert.deepEqual(complaints, [])
})
