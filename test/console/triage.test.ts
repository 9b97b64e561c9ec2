import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { CDPSession, Page } from 'playwright-core'
import { httpErrors } from '../../src/http/errors.ts'
import { startConsole } from '../support/console.ts'
import { toast, openScreen } from '../support/browser.ts'
import type { Visit } from '../support/browser.ts'
import { getFields, record, stored, update, wholeRecords } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { holdRequests } from '../support/gate.ts'
import { call, type Fields } from '../support/http.ts'
import { claim } from '../support/queue.ts'

const TOTAL = 60
/** In the order of the queue: the newest deletion first. */
let names: readonly string[]
let round = 0

const { service, browser } = await startConsole({ flags: { 'dns-servers': '127.0.0.1:9' } })
const ana = (await service.newKey('Ana', 'domainwatch')).key

// Each test has names of its own, which a view of its own shows.
beforeEach(async () => {
  round++
  names = Array.from({ length: TOTAL }, (_, i) => `ronda${round}-${i}`)
  const freed = names.map((name, i) => {
    const date_reg = new Date(Date.UTC(2026, 0, 31) - i * 60_000).toISOString().slice(0, 19).replace('T', ' ')
    return record(name, { status: 0, date_reg })
  })
  await stored(service, freed, { encoding: 'json' })
  // An account holds 100 names at most: those of the test before would be among them.
  await call(service, '/api/v1/domainwatch/queue', { method: 'DELETE', query: { api: service.domainKey } })
})

const open = (key = service.domainKey, visit: Visit = {}) =>
  browser.open(service, `triaje?starts=ronda${round}-`, { domainwatch: key }, visit)
const nameAt = (index: number) => names[index] ?? ''
const card = (page: Page, name: string) =>
  page.locator('.triage-name').getByText(`${name}.cl`, { exact: true })
const shownName = async (page: Page) =>
  (await page.locator('.triage-name').innerText()).trim().replace(/\.cl$/, '')
const left = (page: Page, n: number) => page.getByText(n === 1 ? 'queda 1' : `quedan ${n}`, { exact: true })

/** The accounts that hold names of this test. */
async function holders(): Promise<ReadonlySet<unknown>> {
  const query = { starts: `ronda${round}-`, limit: TOTAL, fields: 'claimed_by' }
  return new Set((await wholeRecords(service, query)).map((one) => one['claimed_by']))
}

const decisionOn = (name: string) => getFields(service, name, 'revision', 'discarded', 'seen')

const asAna = (changes: readonly Fields[]) => update(service, changes, { key: ana, encoding: 'json' })

test('keys decide on one name after the other; decisions are stored with their author and can be undone', async () => {
  const { page } = await open()
  await card(page, nameAt(0)).waitFor()
  await left(page, TOTAL).waitFor()
  await page.keyboard.press('r')
  await card(page, nameAt(1)).waitFor()
  await toast(page, `1 dominio en revisión: ${nameAt(0)}.cl`).waitFor()
  await page.keyboard.press('d')
  await card(page, nameAt(2)).waitFor()
  await toast(page, `1 dominio descartado: ${nameAt(1)}.cl`).waitFor()
  await page.keyboard.press('Space')
  await card(page, nameAt(3)).waitFor()
  await left(page, TOTAL - 3).waitFor()
  await toast(page, `1 dominio visto: ${nameAt(2)}.cl`).waitFor()
  assert.deepEqual(await decisionOn(nameAt(0)), { revision: 1, discarded: 0, seen: 1 })
  assert.deepEqual(await decisionOn(nameAt(1)), { revision: 0, discarded: 1, seen: 1 })
  assert.deepEqual(await decisionOn(nameAt(2)), { revision: 0, discarded: 0, seen: 1 })
  assert.deepEqual(await getFields(service, nameAt(2), 'seen_by'), { seen_by: 'grupo' })
  // One press is one gesture: the third is undone, then the second.
  await page.keyboard.press('z')
  await card(page, nameAt(2)).waitFor()
  await toast(page, `Deshecho: ${nameAt(2)}.cl`).waitFor()
  await page.keyboard.press('z')
  await card(page, nameAt(1)).waitFor()
  await toast(page, `Deshecho: ${nameAt(1)}.cl`).waitFor()
  await left(page, TOTAL - 1).waitFor()
  assert.deepEqual(await decisionOn(nameAt(1)), { revision: 0, discarded: 0, seen: 0 })
  assert.deepEqual(await decisionOn(nameAt(0)), { revision: 1, discarded: 0, seen: 1 })
})

test('two members never get the same name, and each sees that the other is active', async () => {
  const mine = await open()
  await card(mine.page, nameAt(0)).waitFor()
  const theirs = await open(ana)
  await theirs.page.locator('.triage-name').waitFor()
  const shown = await shownName(theirs.page)
  assert.ok(names.indexOf(shown) > 10, shown)
  await theirs.page.locator('.colleagues').getByText('grupo: 21').waitFor()
  await left(theirs.page, TOTAL - 21).waitFor()
  // Leaving gives the names back.
  await openScreen(mine.page, 'Estadísticas')
  await eventually(async () => !(await holders()).has('grupo'), 'the names of the screen that was left')
  await theirs.page.keyboard.press('Space')
  await left(theirs.page, TOTAL - 1).waitFor()
  // So does closing the page.
  await theirs.page.close({ runBeforeUnload: true })
  await eventually(async () => !(await holders()).has('Ana'), 'the names of the page that was closed')
  await mine.page.goBack()
  await card(mine.page, nameAt(0)).waitFor()
  await left(mine.page, TOTAL - 1).waitFor()
})

test('on a slow connection the next name is shown immediately, and undo waits for the decision that it undoes', async () => {
  const { page } = await open()
  await card(page, nameAt(0)).waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.keyboard.press('d')
  await card(page, nameAt(1)).waitFor()
  await page.keyboard.press('r')
  await card(page, nameAt(2)).waitFor()
  await left(page, TOTAL - 2).waitFor()
  const first = await gate.next()
  await page.keyboard.press('z')
  await card(page, nameAt(1)).waitFor()
  await page.keyboard.press('z')
  await card(page, nameAt(0)).waitFor()
  await first.pass()
  await gate.open()
  await toast(page, `Deshecho: ${nameAt(0)}.cl`).waitFor()
  await toast(page, `Deshecho: ${nameAt(1)}.cl`).waitFor()
  for (const i of [0, 1]) {
    assert.deepEqual(await decisionOn(nameAt(i)), { revision: 0, discarded: 0, seen: 0 }, nameAt(i))
  }
})

test('many decisions are undone in a row, and their names come again in the same order', async () => {
  const { page } = await open()
  const many = 25
  await card(page, nameAt(0)).waitFor()
  for (let i = 0; i < many; i++) {
    await page.keyboard.press('d')
    await card(page, nameAt(i + 1)).waitFor()
  }
  const areDiscarded = (discarded: number) =>
    eventually(async () => {
      const decisions = await Promise.all(names.slice(0, many).map(decisionOn))
      return decisions.every((one) => one['discarded'] === discarded)
    }, 'the decisions')
  await areDiscarded(1)
  const gate = await holdRequests(page, 'domainwatch/queue')
  for (let i = many; i > 0; i--) {
    await page.keyboard.press('z')
    await card(page, nameAt(i - 1)).waitFor()
  }
  await areDiscarded(0)
  const answered = page.waitForResponse(/domainwatch\/queue\?/)
  await gate.open()
  await (await answered).finished()
  await left(page, TOTAL).waitFor()
  for (let i = 0; i < many; i++) {
    await page.keyboard.press('Space')
    await card(page, nameAt(i + 1)).waitFor()
    assert.equal(await page.getByRole('alert').count(), 0)
  }
})

test('a name whose decision is not stored yet is not shown again when the user comes back', async () => {
  const { page } = await open()
  await card(page, nameAt(0)).waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.keyboard.press('d')
  await card(page, nameAt(1)).waitFor()
  await page.keyboard.press('r')
  await card(page, nameAt(2)).waitFor()
  await openScreen(page, 'Estadísticas')
  await page.getByRole('heading', { name: 'Estadísticas', level: 1 }).waitFor()
  await page.goBack()
  await page.locator('.triage-name').waitFor()
  assert.equal(await shownName(page), nameAt(2))
  await left(page, TOTAL - 2).waitFor()
  await gate.open()
  await toast(page, `1 dominio descartado: ${nameAt(0)}.cl`).waitFor()
  await toast(page, `1 dominio en revisión: ${nameAt(1)}.cl`).waitFor()
})

test('a decision that could not be stored shows the reason, and its name returns after the current one', async () => {
  const { page } = await open()
  await card(page, nameAt(0)).waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.keyboard.press('d')
  await card(page, nameAt(1)).waitFor()
  await (await gate.next()).answer(httpErrors.internal_error())
  await gate.open()
  await toast(page, `No se pudo descartar ${nameAt(0)}.cl`).waitFor()
  await card(page, nameAt(1)).waitFor()
  await page.keyboard.press('Space')
  await card(page, nameAt(0)).waitFor()
})

test('a decision of a colleague is shown with the current state, and never overwritten', async () => {
  const { page } = await open()
  await card(page, nameAt(0)).waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.keyboard.press('d')
  await card(page, nameAt(1)).waitFor()
  const held = await gate.next()
  await asAna([{ domain: nameAt(0), revision: 1, seen: 1 }])
  await held.pass()
  await gate.open()
  await toast(
    page,
    /No se pudo descartar .* alguien lo cambió mientras tanto; ahora: Libre · Revisión/,
  ).waitFor()
  assert.deepEqual(await decisionOn(nameAt(0)), { revision: 1, discarded: 0, seen: 1 })
  // Nor by an undo.
  await page.keyboard.press('d')
  await toast(page, `1 dominio descartado: ${nameAt(1)}.cl`).waitFor()
  await asAna([{ domain: nameAt(1), revision: 1 }])
  await page.keyboard.press('z')
  await toast(page, /alguien lo cambió mientras tanto: .* \(ahora: Libre · Revisión · Descartado\)/).waitFor()
  assert.deepEqual(await decisionOn(nameAt(1)), { revision: 1, discarded: 1, seen: 1 })
})

test('a note and tags are edited on the card by keyboard, and not overwritten by a colleague', async () => {
  const { page } = await open()
  await card(page, nameAt(0)).waitFor()
  // On a slow line, the page claims names again late.
  const gate = await holdRequests(page, 'domainwatch/queue')
  await page.keyboard.press('n')
  await page.keyboard.type('rd: para el verano')
  await page.keyboard.press('Enter')
  await toast(page, `Guardado: la nota de ${nameAt(0)}.cl`).waitFor()
  const tag = page.getByRole('combobox', { name: 'Etiquetas' })
  await tag.fill('Marca-1')
  await tag.press('Enter')
  await toast(page, `Guardado: las etiquetas de ${nameAt(0)}.cl`).waitFor()
  assert.deepEqual(await getFields(service, nameAt(0), 'note', 'tags', 'seen'), {
    note: 'rd: para el verano',
    tags: ['marca-1'],
    seen: 0,
  })
  assert.deepEqual((await claim(service, ana, { search: nameAt(0), length: nameAt(0).length })).names, [])
  await gate.open()
  // A colleague writes another one while this one is typed.
  await page.getByRole('textbox', { name: 'Nota' }).fill('la mía')
  await asAna([{ domain: nameAt(0), note: 'la de Ana' }])
  await page.getByRole('textbox', { name: 'Nota' }).press('Enter')
  await toast(page, /No se guardó el cambio de la nota .* mientras tanto alguien puso «la de Ana»/).waitFor()
  assert.deepEqual(await getFields(service, nameAt(0), 'note'), { note: 'la de Ana' })
})

test('the end stays on the screen while the queue is read again', async () => {
  const { page } = await browser.open(service, `triaje?starts=${nameAt(TOTAL - 1)}`, {
    domainwatch: service.domainKey,
  })
  await card(page, nameAt(TOTAL - 1)).waitFor()
  const gate = await holdRequests(page, 'domainwatch/queue')
  await page.keyboard.press('Space')
  const end = page.getByRole('heading', { name: 'No queda nada por decidir' })
  await end.waitFor()
  const again = await gate.next()
  assert.equal(await end.isVisible(), true)
  await again.pass()
  await gate.open()
})

/** A finger that goes down at the middle of the card, along these points to the right of there, and up. */
async function drag(page: Page, cdp: CDPSession, points: readonly number[]): Promise<void> {
  const box = await page.locator('.triage-name').boundingBox()
  const [x, y] = [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2]
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] })
  for (const dx of points) {
    await cdp.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x: x + dx, y }] })
  }
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
}

test('on a phone a swipe decides, a reversed one does not, and buttons are large', async () => {
  const { page, context } = await open(service.domainKey, {
    width: 390,
    height: 844,
    touch: true,
  })
  await card(page, nameAt(0)).waitFor()
  const cdp = await context.newCDPSession(page)
  await drag(page, cdp, [20, 60, 120, 60, 20])
  await card(page, nameAt(0)).waitFor()
  await drag(page, cdp, [20, 60, 140])
  await card(page, nameAt(1)).waitFor()
  await toast(page, `1 dominio en revisión: ${nameAt(0)}.cl`).waitFor()
  await drag(page, cdp, [-20, -60, -140])
  await card(page, nameAt(2)).waitFor()
  await toast(page, `1 dominio descartado: ${nameAt(1)}.cl`).waitFor()
  assert.deepEqual(await decisionOn(nameAt(0)), { revision: 1, discarded: 0, seen: 1 })
  assert.deepEqual(await decisionOn(nameAt(1)), { revision: 0, discarded: 1, seen: 1 })
  for (const button of await page.locator('.triage-keys button').all()) {
    const { width = 0, height = 0 } = (await button.boundingBox()) ?? {}
    assert.ok(width >= 80 && height >= 56, `${width} × ${height}`)
  }
})

test('the space key acts on the card after a click on a button, and on buttons elsewhere', async () => {
  const { page } = await open()
  await card(page, nameAt(0)).waitFor()
  await page.locator('.triage-keys').getByRole('button', { name: 'Descartar' }).click()
  await card(page, nameAt(1)).waitFor()
  await page.keyboard.press('Space')
  await card(page, nameAt(2)).waitFor()
  await page.locator('.triage-keys').getByRole('button', { name: 'Descartar' }).focus()
  await page.keyboard.press('Space')
  await card(page, nameAt(3)).waitFor()
  await eventually(async () => (await decisionOn(nameAt(2)))['seen'] === 1)
  assert.deepEqual(await decisionOn(nameAt(2)), { revision: 0, discarded: 0, seen: 1 })
  await page.getByRole('button', { name: '¿Cómo funciona?' }).focus()
  await page.keyboard.press('Space')
  const help = page.getByRole('dialog', { name: '¿Cómo funciona?' })
  await help.waitFor()
  assert.deepEqual(await help.getByRole('row').allInnerTexts(), [
    'Ctrl K\tPaleta de comandos',
    'r\tMarcar para revisión y seguir',
    'd\tDescartar y seguir',
    'Espacio\tDejar como está y seguir',
    'n\tEscribir una nota',
    'z⌫\tVolver al anterior',
    '?\tEsta ayuda',
  ])
  await page.keyboard.press('Escape')
  await card(page, nameAt(3)).waitFor()
})
