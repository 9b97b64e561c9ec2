import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startBrowser, type TestBrowser } from '../support/browser.ts'
import { records, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { holdRequests, slowDown } from '../support/gate.ts'
import { storeManyDomains } from '../support/many-domains.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let browser: TestBrowser
/** In the order of the list. */
let names: readonly string[]
let otherKey: string

before(async () => {
  ;[service, browser] = await Promise.all([
    startService({ flags: { 'dns-servers': '127.0.0.1:9' } }),
    startBrowser(),
  ])
  names = await storeManyDomains(service)
  otherKey = (await service.newKey('Ana', 'domainwatch')).key
})

after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

const open = (path = 'triaje') => browser.open(service, path, { domainwatch: service.domainKey })
const nameAt = (index: number) => names[index] ?? ''
const card = (page: Page, name: string) =>
  page.locator('.triage-name').getByText(`${name}.cl`, { exact: true })
const toast = (page: Page, text: string) => page.locator('.toast').filter({ hasText: text })
const left = (page: Page, n: number) =>
  page.getByText(`quedan ${new Intl.NumberFormat('es-CL').format(n)}`, { exact: true })

async function marksOf(name: string) {
  const found = await records(service, { search: name, length: [...name].length })
  const { revision, discarded } = found.find((one) => one.name === name) ?? {}
  return { revision, discarded }
}
const NO_MARKS = { revision: 0, discarded: 0 }

const setMarks = (marked: readonly string[], marks: Readonly<Record<string, number>>) =>
  update(
    service,
    marked.map((domain) => ({ domain, ...marks })),
    { key: otherKey, encoding: 'json' },
  )

test('with the newest 2,000 marked the next one is shown, and the count left is the true one', async () => {
  await setMarks(names.slice(0, 2_000), { revision: 1 })
  // Marked twice, counted once.
  await setMarks(names.slice(1_990, 2_000), { discarded: 1 })
  const { page, context, complaints } = await open()
  await card(page, nameAt(2_000)).waitFor()
  await left(page, names.length - 2_000).waitFor()
  await page.keyboard.press('d')
  await card(page, nameAt(2_001)).waitFor()
  await left(page, names.length - 2_001).waitFor()
  await page.keyboard.press('z')
  await card(page, nameAt(2_000)).waitFor()
  await left(page, names.length - 2_000).waitFor()
  await toast(page, `Deshecho: ${nameAt(2_000)}.cl`).waitFor()
  await setMarks(names.slice(0, 2_000), NO_MARKS)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a view is triaged to its end page by page, from the table; skips are remembered', async () => {
  const { page, context, complaints } = await open('dominios?search=nombre&length=7')
  const all = await records(service, { search: 'nombre', length: 7 })
  assert.equal(all.length, 10)
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: 'Triar esta vista' }).click()
  await page.waitForURL(/triaje\?search=nombre&length=7/)
  await left(page, all.length).waitFor()
  for (const { name } of all.slice(0, 2)) {
    await card(page, name).waitFor()
    await page.keyboard.press('Space')
  }
  await left(page, all.length - 2).waitFor()
  await page.getByText('2 saltados', { exact: true }).waitFor()
  await page.reload()
  await left(page, all.length - 2).waitFor()
  for (const { name } of all.slice(2)) {
    await card(page, name).waitFor()
    await page.keyboard.press('Space')
  }
  await page.getByRole('heading', { name: 'No queda nada por revisar' }).waitFor()
  await left(page, 0).waitFor()
  // Another view has skips of its own.
  await page.goto(`${service.url}/console/triaje`)
  await left(page, names.length).waitFor()
  await page.goto(`${service.url}/console/triaje?search=nombre&length=7`)
  await page.getByRole('button', { name: /^Ver los .* saltados$/ }).click()
  await card(page, all[0]?.name ?? '').waitFor()
  assert.deepEqual(complaints, [])
  await context.close()
})

test('names run out nowhere: the next page is there before the last name of this one', async () => {
  const { page, context } = await open()
  await card(page, nameAt(0)).waitFor()
  for (let i = 0; i < 260; i++) {
    await card(page, nameAt(i)).waitFor()
    await page.keyboard.press('Space')
  }
  await card(page, nameAt(260)).waitFor()
  await left(page, names.length - 260).waitFor()
  await context.close()
})

test('the space key is for the card after the menu, and after a click on a button', async () => {
  const { page, context } = await open('dominios')
  await page.getByRole('link', { name: 'Triaje' }).click()
  await card(page, nameAt(0)).waitFor()
  await page.keyboard.press('Space')
  await card(page, nameAt(1)).waitFor()
  await page.getByRole('link', { name: 'Triaje' }).focus()
  await page.keyboard.press('Space')
  await card(page, nameAt(2)).waitFor()
  await page.locator('.triage-keys').getByRole('button', { name: 'Descartar' }).click()
  await card(page, nameAt(3)).waitFor()
  await page.keyboard.press('Space')
  await card(page, nameAt(4)).waitFor()
  await page.locator('.triage-keys').getByRole('button', { name: 'Descartar' }).focus()
  await page.keyboard.press('Space')
  await card(page, nameAt(5)).waitFor()
  await toast(page, `1 dominio descartado: ${nameAt(2)}.cl`).waitFor()
  assert.deepEqual(await marksOf(nameAt(2)), { revision: 0, discarded: 1 })
  for (const i of [3, 4, 5]) assert.deepEqual(await marksOf(nameAt(i)), NO_MARKS, nameAt(i))
  // A button that is no part of the card keeps its key, and the card stays.
  await page.getByRole('button', { name: 'Atajos de teclado' }).focus()
  await page.keyboard.press('Space')
  await page.getByRole('dialog', { name: 'Atajos de teclado' }).waitFor()
  await page.keyboard.press('Escape')
  await card(page, nameAt(5)).waitFor()
  await setMarks([nameAt(2)], NO_MARKS)
  await context.close()
})

test('undo is for exactly the last one: under way, failed, and on a slow service', async () => {
  const [first, second, third, fourth] = [nameAt(0), nameAt(1), nameAt(2), nameAt(3)]
  const { page, context } = await open()
  await card(page, first).waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.keyboard.press('d')
  await card(page, second).waitFor()
  await page.keyboard.press('r')
  await card(page, third).waitFor()
  const [one, two] = [await gate.next(), await gate.next()]
  assert.partialDeepStrictEqual(one.body, { data: [{ domain: first, discarded: 1, seen: 1 }] })
  await page.keyboard.press('z')
  await card(page, second).waitFor()
  await two.pass()
  const undoing = await gate.next()
  assert.partialDeepStrictEqual(undoing.body, { data: [{ domain: second, revision: 0, seen: 0 }] })
  await undoing.pass()
  await toast(page, `Deshecho: ${second}.cl`).waitFor()
  assert.deepEqual(await marksOf(second), NO_MARKS)

  // What failed comes back after the name that is looked at, with the reason.
  await one.answer(503, 'El servicio está ocupado')
  await toast(page, `No se pudo descartar ${first}.cl: El servicio está ocupado`).waitFor()
  await card(page, second).waitFor()
  assert.deepEqual(await marksOf(first), NO_MARKS)
  await gate.open()
  await left(page, names.length).waitFor()
  await page.keyboard.press('Space')
  await card(page, first).waitFor()
  await page.keyboard.press('z')
  await card(page, second).waitFor()

  await slowDown(page)
  await page.keyboard.press('d')
  await card(page, first).waitFor()
  await page.keyboard.press('z')
  await card(page, second).waitFor()
  await page.keyboard.press('r')
  await page.keyboard.press('Space')
  await card(page, third).waitFor()
  await page.keyboard.press('d')
  await card(page, fourth).waitFor()
  // The last of them on that record.
  await toast(page, `1 dominio en revisión: ${second}.cl`).waitFor()
  assert.deepEqual(await marksOf(second), { revision: 1, discarded: 0 })
  await eventually(async () => (await marksOf(third)).discarded === 1)
  await setMarks([second, third], NO_MARKS)
  await context.close()
})

test('what a second member marks meanwhile is not shown again, is counted, and is not undone', async () => {
  const { page, context } = await open()
  await card(page, nameAt(0)).waitFor()
  await left(page, names.length).waitFor()
  // The page follows what others do once its stream is open.
  const stream = page.waitForResponse(/domainwatch\/events/)
  await page.reload()
  await stream
  await left(page, names.length).waitFor()
  await setMarks([nameAt(1), nameAt(2)], { revision: 1 })
  await left(page, names.length - 2).waitFor()
  await page.keyboard.press('d')
  await card(page, nameAt(3)).waitFor()
  await toast(page, `1 dominio descartado: ${nameAt(0)}.cl`).waitFor()
  await setMarks([nameAt(0)], { revision: 1 })
  await page.keyboard.press('z')
  await toast(page, `porque alguien lo cambió mientras tanto: ${nameAt(0)}.cl`).waitFor()
  assert.deepEqual(await marksOf(nameAt(0)), { revision: 1, discarded: 1 })
  await setMarks([nameAt(0), nameAt(1), nameAt(2)], NO_MARKS)
  await context.close()
})
