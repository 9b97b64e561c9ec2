/** Several tabs of one browser and one account: what runs or is shown in one is not done again in another. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { LIST, record, records, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { holdRequests } from '../support/gate.ts'
import { call } from '../support/http.ts'

const flags = { 'dns-servers': '127.0.0.1:9' }
const { service, browser } = await startConsole({ flags })
const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })
async function nextTab(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${service.url}/console/${path}`)
  return page
}

const ROWS = 5_000
const listOf = (stem: string) => ({
  name: `${stem}.csv`,
  mimeType: 'text/csv',
  buffer: Buffer.from(
    Array.from({ length: ROWS }, (_, i) => `${stem}${i}.cl,2024-01-01 10:00:00`).join('\n'),
  ),
})
const pick = (page: Page, file: ReturnType<typeof listOf>) =>
  page.locator('input[type=file]').setInputFiles(file)
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const elsewhere = (page: Page, stem: string) =>
  page.getByText(`La importación de ${stem}.csv sigue en otra pestaña: 2.000 de 5.000.`)

/** Stores the first 2,000 names of a list; the request for the next ones is held. */
async function startImport(page: Page, stem: string) {
  const gate = await holdRequests(page, 'domainwatch/add')
  await pick(page, listOf(stem))
  await button(page, 'Guardar').click()
  await (await gate.next()).pass()
  await page.getByText('2.000 de 5.000 guardados').waitFor()
  return gate
}

test('an import that runs in one tab is shown as running in another, which cannot start it again', async () => {
  const { page, context, complaints } = await open('importar')
  const gate = await startImport(page, 'corre')
  const other = await nextTab(context, 'importar')
  await elsewhere(other, 'corre').waitFor()
  let sent = 0
  other.on('request', (request) => (sent += request.url().includes('domainwatch/add') ? 1 : 0))
  // The file that the browser keeps has been looked for by the time the same file has been read again.
  await pick(other, listOf('corre'))
  await elsewhere(other, 'corre').waitFor()
  for (const name of ['Guardar', 'Empezar de nuevo', 'Continuar desde el 2.001', 'Descartar'])
    assert.equal(await button(other, name).count(), 0, name)
  await button(other, 'Cancelar').click()
  await elsewhere(other, 'corre').waitFor()
  for (const name of ['Continuar desde el 2.001', 'Descartar'])
    assert.equal(await button(other, name).count(), 0, name)
  await gate.open()
  await page.getByText('5.000 de 5.000 guardados').waitFor()
  await elsewhere(other, 'corre').waitFor({ state: 'detached' })
  await other.getByRole('row', { name: /corre\.csv .* 5\.000 de 5\.000 guardados Completa/ }).waitFor()
  assert.equal(sent, 0)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('an import whose tab was closed or crashed can be resumed in a tab that was open already', async () => {
  const { page, context } = await open('importar')
  await startImport(page, 'cierra')
  const other = await nextTab(context, 'importar')
  await elsewhere(other, 'cierra').waitFor()
  // Without an event for the page, as in a crash.
  await page.close()
  await button(other, 'Continuar desde el 2.001').click()
  await other.getByText('5.000 de 5.000 guardados').waitFor()
  assert.equal((await records(service, { search: 'cierra4999' })).length, 1)
  await context.close()
})

test('an import that was stopped in one tab and resumed in another is not resumed twice', async () => {
  const { page, context } = await open('importar')
  await startImport(page, 'sigue')
  await button(page, 'Detener').click()
  await button(page, 'Continuar').waitFor()
  const other = await nextTab(context, 'importar')
  const gate = await holdRequests(other, 'domainwatch/add')
  await button(other, 'Continuar desde el 2.001').click()
  const held = await gate.next()
  await elsewhere(page, 'sigue').waitFor()
  for (const name of ['Continuar', 'Continuar desde el 2.001'])
    assert.equal(await button(page, name).count(), 0, name)
  await held.pass()
  await gate.open()
  await other.getByText('5.000 de 5.000 guardados').waitFor()
  await context.close()
})

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
  const query = { api: service.domainKey, search: '', limit: 1_000, fields: 'all' }
  const { body } = await call(service, LIST, { query })
  // Its shape is asserted by the tests of `list`.
  const { data } = body as { data: readonly [readonly { name: string; claimed_by: string | null }[]] }
  return data[0].filter((one) => one.claimed_by !== null).map(({ name }) => name)
}

test('two tabs in triage never show the same name, and what is decided in one leaves the other', async () => {
  // On a slow machine, dozens are marked as seen before a tab hears of one that was closed.
  await freed('par', 300)
  const { page, context, complaints } = await open('triaje?starts=par')
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
  assert.deepEqual(complaints, [])
  await context.close()
})

test('two tabs at the end of the queue have nothing to tell each other', async () => {
  const { page, context } = await open('dominios')
  await context.addInitScript(`
    globalThis.questions = []
    const post = BroadcastChannel.prototype.postMessage
    BroadcastChannel.prototype.postMessage = function (message) {
      if (this.name.startsWith('catalejo.triage')) questions.push(message.isQuestion)
      post.call(this, message)
    }`)
  await nextTab(context, 'triaje?starts=nadie')
  await page.goto(`${service.url}/console/triaje?starts=nadie`)
  // Each asks the other from time to time whether it is still there.
  const asked = () => page.evaluate<number>('questions.filter(Boolean).length')
  await eventually(async () => (await asked()) >= 3, 'two more questions')
  const messages = await page.evaluate<number>('questions.length')
  assert.ok(messages < 20, `${messages} messages`)
  await context.close()
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
  await context.close()
})
