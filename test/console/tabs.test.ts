/** Several tabs of one browser and one account: what runs or is shown in one is not done again in another. */
import { test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { record, stored, wholeRecords } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { holdRequests } from '../support/gate.ts'

const flags = { 'dns-servers': '127.0.0.1:9' }
const { service, browser } = await startConsole({ flags })
const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })
async function nextTab(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${service.url}/console/${path}`)
  return page
}

const shownName = async (page: Page) =>
  (await page.locator('.triage-name').innerText()).trim().replace(/\.cl$/, '')
const card = (page: Page, name: string) =>
  page.locator('.triage-name').getByText(`${name}.cl`, { exact: true })

/** Marks names as seen until this one comes, which another tab has left: that is heard a moment later. */
async function goesOnTo(page: Page, name: string): Promise<void> {
  for (let shown = await shownName(page), before = ''; shown !== name; shown = await shownName(page)) {
    if (shown !== before) await page.keyboard.press(' ')
    before = shown
  }
}

/** Free names, in the order of the queue. */
async function freed(stem: string, total: number): Promise<void> {
  const names = Array.from({ length: total }, (_, i) => `${stem}${i}`)
  const time = (i: number) => new Date((total - i) * 1_000).toISOString().slice(11, 19)
  await stored(
    service,
    names.map((name, i) => record(name, { status: 0, date_reg: `2026-01-10 ${time(i)}` })),
  )
}

/** The names that accounts hold. */
async function claimed(): Promise<readonly string[]> {
  const all = await wholeRecords(service, { limit: 1_000 })
  return all.filter((one) => one['claimed_by'] !== null).map((one) => String(one['name']))
}

test('two tabs in triage never show the same name, and what is decided in one leaves the other', async () => {
  // On a slow machine, dozens are marked as seen before a tab hears of one that was closed.
  await freed('par', 300)
  const { page, context } = await open('triaje?starts=par')
  await card(page, 'par0').waitFor()
  const other = await nextTab(context, 'triaje?starts=par')
  await card(other, 'par1').waitFor()
  // A decision that is on its way is one.
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.keyboard.press('r')
  await card(page, 'par2').waitFor()
  const third = await nextTab(context, 'triaje?starts=par')
  await card(third, 'par3').waitFor()
  await gate.open()
  await third.keyboard.press(' ')
  await card(third, 'par4').waitFor()
  await other.keyboard.press('d')
  await card(other, 'par5').waitFor()
  await page.keyboard.press(' ')
  await card(page, 'par6').waitFor()
  await other.keyboard.press('z')
  await card(other, 'par1').waitFor()
  await goesOnTo(page, 'par5')
  await third.close({ runBeforeUnload: true })
  await goesOnTo(page, 'par4')
  const shown = await Promise.all([page, other].map(shownName))
  await eventually(async () => {
    const held = new Set(await claimed())
    return shown.every((name) => held.has(name)) && held.size > 20
  }, 'a tab that was closed releases nothing that the others need')
})

test('two tabs that reach the same name together show it in one', async () => {
  await freed('vez', 30)
  const { page, context } = await open('dominios')
  const other = await nextTab(context, 'dominios')
  const gates = await Promise.all([page, other].map((tab) => holdRequests(tab, 'domainwatch/queue')))
  await Promise.all([page, other].map((tab) => tab.goto(`${service.url}/console/triaje?starts=vez`)))
  const held = await Promise.all(gates.map((gate) => gate.next()))
  await Promise.all(held.map((one) => one.pass()))
  await Promise.all(gates.map((gate) => gate.open()))
  await eventually(
    async () => (await Promise.all([page, other].map(shownName))).toSorted().join() === 'vez0,vez1',
    'each tab has a name of its own',
  )
})
