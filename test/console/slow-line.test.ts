/** A member on a slow line that breaks, and a colleague on a fast one, on the same records. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { commonErrors } from '../../src/lib/errors.ts'
import { startConsole } from '../support/console.ts'
import { domainRow, toast } from '../support/browser.ts'
import { getFields, record, stored, update, wholeRecords } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { holdRequests } from '../support/gate.ts'
import { call, type Fields } from '../support/http.ts'
import { claim } from '../support/queue.ts'
import { slowLine } from '../support/slow-line.ts'

const HISTORY = '/api/v1/domainwatch/history'
const QUEUED = 40

const { service, browser } = await startConsole({ flags: { 'dns-servers': '127.0.0.1:9' } })
const ana = (await service.newKey('Ana', 'domainwatch')).key
const at = (i: number) => `2026-01-05 08:${String(59 - i).padStart(2, '0')}:00`
await stored(
  service,
  [
    ...Array.from({ length: 12 }, (_, i) => record(`fila${i}`, { date_reg: at(i) })),
    ...Array.from({ length: QUEUED }, (_, i) => record(`cola${i}`, { status: 0, date_reg: at(i) })),
  ],
  { encoding: 'json' },
)

const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })
const asAna = (changes: readonly Fields[]) => update(service, changes, { key: ana, encoding: 'json' })
const lost = (page: Page) => page.locator('.lost').getByText('Sin conexión con el servicio. Se reintenta')

const toMarks = (name: string) => getFields(service, name, 'revision', 'discarded', 'note')

/** How often a record was changed. */
async function toChanges(domain: string): Promise<number> {
  const { body } = await call(service, HISTORY, { query: { api: service.domainKey, domain, limit: 50 } })
  return Object(body).data.length - 1
}

test('marks, undos and notes made offline are shown as unsaved, and stored once when online', async () => {
  const { page } = await open('dominios?starts=fila')
  await domainRow(page, 'fila0').waitFor()
  const line = await slowLine(page)
  await domainRow(page, 'fila0').click()
  const note = page.getByRole('textbox', { name: 'Nota' })
  await note.waitFor()
  await page.getByText('Agregado').waitFor()
  await line.break()
  await note.fill('escrita en el túnel')
  await note.press('Enter')
  // Three messages are shown at a time: those of the changes below take the place of this one.
  await toast(page, 'Sin conexión: se guardará cuando vuelva.').waitFor()
  await page.getByRole('heading', { name: 'fila0.cl' }).focus()
  await page.keyboard.press('r')
  await page.keyboard.press('j')
  await page.getByRole('heading', { name: 'fila1.cl' }).waitFor()
  await page.keyboard.press('d')
  await page.keyboard.press('z')
  await page.keyboard.press('r')
  await lost(page).filter({ hasText: '5 cambios por guardar' }).waitFor()
  // What is known stays in sight.
  await domainRow(page, 'fila0').getByText('Revisión').waitFor()
  await page.keyboard.press('k')
  await page.getByRole('heading', { name: 'fila0.cl' }).waitFor()
  assert.equal(await note.inputValue(), 'escrita en el túnel')
  assert.deepEqual(await toMarks('fila0'), { revision: 0, discarded: 0, note: '' })

  await line.mend()
  await page.locator('.table-row.pending').first().waitFor({ state: 'detached' })
  await lost(page).waitFor({ state: 'detached' })
  assert.deepEqual(await toMarks('fila0'), { revision: 1, discarded: 0, note: 'escrita en el túnel' })
  assert.deepEqual(await toMarks('fila1'), { revision: 1, discarded: 0, note: '' })
  assert.equal(await toChanges('fila0'), 2)
  // The first mark was on its way when it was undone.
  assert.equal(await toChanges('fila1'), 3)
})

test("a change whose response was lost is not repeated, and does not overwrite a colleague's change", async () => {
  const { page } = await open('dominios?starts=fila')
  await domainRow(page, 'fila2').waitFor()
  const line = await slowLine(page)
  await page.route('**/domainwatch/update?*', async (route) => {
    await page.unroute('**/domainwatch/update?*')
    await route.fetch()
    await line.break()
    await route.abort('connectionreset')
  })
  await domainRow(page, 'fila2').locator('.pick').click()
  await page.keyboard.press('d')
  await toast(page, 'Sin conexión: se guardará cuando vuelva.').waitFor()
  await asAna([{ domain: 'fila2', discarded: 0, revision: 1 }])
  await line.mend()
  await toast(page, /No se pudo descartar fila2\.cl: .*ahora: Inscrito · Revisión/).waitFor()
  await domainRow(page, 'fila2').getByText('Revisión').waitFor()
  await domainRow(page, 'fila2').getByText('Descartado').first().waitFor({ state: 'detached' })
  assert.deepEqual(await toMarks('fila2'), { revision: 1, discarded: 0, note: '' })
  assert.equal(await toChanges('fila2'), 2)
})

test('a change whose response was lost counts as stored although the service is busy when it is repeated', async () => {
  const { page } = await open('dominios?starts=fila')
  await domainRow(page, 'fila9').locator('.pick').click()
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.keyboard.press('d')
  await (await gate.next()).loseAnswer()
  await (await gate.next()).answer(commonErrors.overloaded())
  await gate.open()
  await toast(page, '1 dominio descartado: fila9.cl').waitFor()
  assert.deepEqual(await toMarks('fila9'), { revision: 0, discarded: 1, note: '' })
  assert.equal(await toChanges('fila9'), 1)
})

test('a rejection that arrives late does not hide what a colleague changed after it', async () => {
  const { page } = await open('dominios?starts=fila')
  await page.locator('.live').waitFor()
  const row = domainRow(page, 'fila10')
  await page.route('**/domainwatch/update?*', async (route) => {
    await asAna([{ domain: 'fila10', revision: 1 }])
    await row.getByText('Revisión').waitFor()
    const response = await route.fetch()
    await asAna([{ domain: 'fila10', revision: 0 }])
    await row.getByText('Revisión').waitFor({ state: 'detached' })
    await route.fulfill({ response })
  })
  await row.locator('.pick').click()
  await page.keyboard.press('d')
  await toast(page, /No se pudo descartar fila10\.cl/).waitFor()
  assert.deepEqual(
    [await row.getByText('Revisión').count(), await row.getByText('Descartado').count()],
    [0, 0],
  )
})

test('a mark that a colleague set during an outage, and then removed, is shown as removed', async () => {
  const { page } = await open('dominios?starts=fila')
  await page.locator('.live').waitFor()
  const mark = domainRow(page, 'fila11').getByText('Descartado').first()
  const gate = await holdRequests(page, 'domainwatch/update')
  await domainRow(page, 'fila11').locator('.pick').click()
  await page.keyboard.press('d')
  await (await gate.next()).lose()
  const again = await gate.next()
  await asAna([{ domain: 'fila11', discarded: 1, seen: 1 }])
  await again.pass()
  await toast(page, '1 dominio descartado: fila11.cl').waitFor()
  await mark.waitFor()
  await asAna([{ domain: 'fila11', discarded: 0 }])
  await mark.waitFor({ state: 'detached' })
})

test('changes whose answers a proxy replaced, as during a restart, are kept until the service is back, and stored once', async () => {
  const { page } = await open('dominios?starts=fila')
  await domainRow(page, 'fila7').waitFor()
  const away = (route: Route) =>
    route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>502 Bad Gateway</h1>' })
  await page.route('**/domainwatch/update?*', async (route) => {
    await route.fetch()
    await page.route('**/*', away)
    await away(route)
  })
  await domainRow(page, 'fila7').locator('.pick').click()
  await page.keyboard.press('d')
  await toast(page, 'Sin conexión: se guardará cuando vuelva.').waitFor()
  await page.keyboard.press('Escape')
  await domainRow(page, 'fila8').locator('.pick').click()
  await page.keyboard.press('r')
  await lost(page).filter({ hasText: '2 cambios por guardar' }).waitFor()
  assert.deepEqual(await toMarks('fila7'), { revision: 0, discarded: 1, note: '' })
  await page.unrouteAll()
  await lost(page).waitFor({ state: 'detached' })
  await toast(page, '1 dominio descartado: fila7.cl').waitFor()
  await toast(page, '1 dominio en revisión: fila8.cl').waitFor()
  assert.deepEqual(await toMarks('fila8'), { revision: 1, discarded: 0, note: '' })
  assert.deepEqual([await toChanges('fila7'), await toChanges('fila8')], [1, 1])
})

test("a colleague's note that arrives late does not hide a mark set after it", async () => {
  const { page } = await open('dominios?starts=fila&ficha=fila3')
  const note = page.getByRole('textbox', { name: 'Nota' })
  await note.waitFor()
  await page.locator('.live').waitFor()
  // Nothing is drawn of what is heard until the clock continues.
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 60_000)
  await asAna([{ domain: 'fila3', note: 'la de Ana' }])
  await page.keyboard.press('d')
  await eventually(async () => (await toMarks('fila3'))['discarded'] === 1)
  await page.clock.resume()
  await eventually(async () => (await note.inputValue()) === 'la de Ana')
  await page.getByText('Nota: – → la de Ana', { exact: true }).waitFor()
  await page.locator('.sheet').getByRole('button', { name: 'Restaurar' }).waitFor()
  await domainRow(page, 'fila3').getByText('Descartado').first().waitFor()
})

test('a conflicting note keeps its text, which can be saved after confirmation', async () => {
  const { page } = await open('dominios?starts=fila&ficha=fila4')
  const note = page.getByRole('textbox', { name: 'Nota' })
  await note.waitFor()
  const line = await slowLine(page)
  await note.fill('la mía')
  await line.break()
  await note.press('Enter')
  await toast(page, 'Sin conexión').waitFor()
  await asAna([{ domain: 'fila4', note: 'la de Ana', revision: 1 }])
  await line.mend()
  await toast(page, /No se guardó el cambio de la nota de fila4\.cl: .*«la de Ana»/).waitFor()
  await page.getByText('Sin guardar. En el servicio dice: «la de Ana»').waitFor()
  assert.equal(await note.inputValue(), 'la mía')
  // Also after looking at another record.
  await page.getByRole('heading', { name: 'fila4.cl' }).focus()
  await page.keyboard.press('j')
  await page.getByRole('heading', { name: 'fila5.cl' }).waitFor()
  await page.keyboard.press('k')
  await page.getByRole('button', { name: 'Guardar lo mío' }).click()
  await eventually(async () => (await toMarks('fila4'))['note'] === 'la mía')
  assert.deepEqual(await toMarks('fila4'), { revision: 1, discarded: 0, note: 'la mía' })
  assert.equal(await page.getByText('Sin guardar.').count(), 0)
})

test('changes that were made while the event stream was refused are shown when it opens', async () => {
  const { page } = await open('dominios?starts=fila')
  await page.clock.install()
  await page.route('**/domainwatch/events?*', (route) => route.fulfill({ status: 502, body: '' }))
  const refused = page.waitForResponse('**/domainwatch/events?*')
  await page.reload()
  await domainRow(page, 'fila6').waitFor()
  await refused
  await asAna([{ domain: 'fila6', revision: 1, seen: 1 }])
  assert.equal(await domainRow(page, 'fila6').getByText('Revisión').count(), 0)
  await page.unroute('**/domainwatch/events?*')
  await page.clock.fastForward(10_000)
  await page.clock.fastForward(10_000)
  await domainRow(page, 'fila6').getByText('Revisión').waitFor()
})

test('after an outage, what colleagues changed meanwhile is shown in place, and names that they added are announced', async () => {
  const { page } = await open('dominios?starts=fila')
  await page.locator('.live').waitFor()
  await asAna([{ domain: 'fila9', note: 'antes' }])
  await page.getByText('Nota: antes').waitFor({ state: 'attached' })
  const line = await slowLine(page)
  await line.break()
  await lost(page).waitFor()
  await asAna([{ domain: 'fila9', note: 'durante', revision: 1, seen: 1 }])
  await stored(service, [record('filas', { date_reg: '2026-01-06 08:00:00' })], { key: ana })
  await line.mend()
  await domainRow(page, 'fila9').getByText('Revisión').waitFor()
  await page.getByRole('button', { name: '1 cambio nuevo' }).waitFor()
  assert.equal(await domainRow(page, 'filas').count(), 0)
})

test('names that were added during an outage are announced although no event came before it', async () => {
  const { page } = await open('dominios?starts=fila')
  await page.locator('.live').waitFor()
  await domainRow(page, 'fila7').waitFor()
  const line = await slowLine(page)
  await line.break()
  await lost(page).waitFor()
  const names = ['filaa', 'filab', 'filac']
  await stored(
    service,
    names.map((name) => record(name, { date_reg: '2026-01-07 08:00:00' })),
    { key: ana },
  )
  await line.mend()
  await page.getByRole('button', { name: '3 cambios nuevos' }).waitFor()
  assert.equal(await domainRow(page, 'filaa').count(), 0)
})

test('on an unreliable connection two members decide each name of one queue once, and undo undoes the right one', async () => {
  const { page } = await open('triaje?starts=cola')
  const name = page.locator('.triage-name')
  await name.waitFor()
  const line = await slowLine(page)
  const own = new Map<string, string>()
  const press = async (key: 'r' | 'd' | 'Space') => {
    const shown = (await name.innerText()).trim().replace(/\.cl$/, '')
    await page.keyboard.press(key)
    own.set(shown, { r: '10', d: '01', Space: '00' }[key])
  }
  const undone = new Set<string>()
  const pressUndo = async () => {
    await page.keyboard.press('z')
    undone.add((await name.innerText()).trim().replace(/\.cl$/, ''))
  }
  const colleague = async (rounds: number) => {
    for (let i = 0; i < rounds; i++) {
      const { names } = await claim(service, ana, { starts: 'cola', limit: 1 })
      const [domain = ''] = names
      if (domain !== '') await asAna([{ domain, discarded: 1, seen: 1, expect: { seen: 0 } }])
    }
  }
  await Promise.all([
    (async () => {
      for (const key of ['r', 'd', 'Space', 'r', 'd'] as const) await press(key)
      // The last gesture is undone right away, and made differently.
      await pressUndo()
      await press('Space')
    })(),
    colleague(6),
  ])
  await line.break()
  for (const key of ['r', 'd', 'Space', 'd'] as const) await press(key)
  await pressUndo()
  await press('r')
  await lost(page).waitFor()
  await colleague(4)
  await line.mend()
  const done = page.getByRole('heading', { name: 'No queda nada por decidir' })
  for (;;) {
    await name.or(done).waitFor()
    if (await done.isVisible()) break
    await Promise.all([press('d'), colleague(1)])
  }
  const getQueue = () => wholeRecords(service, { starts: 'cola', limit: 1_000 })
  await eventually(async () => (await getQueue()).every((one) => one['seen_by'] !== null))
  const all = await getQueue()
  assert.equal(all.length, QUEUED)
  for (const one of all) {
    const [decided, author] = [String(one['name']), one['seen_by']]
    // A colleague may get a name between the undo and the next gesture, which is refused then.
    if (author === 'Ana' && (undone.has(decided) || !own.has(decided))) continue
    const marks = `${String(one['revision'])}${String(one['discarded'])}`
    assert.deepEqual([author, marks], ['grupo', own.get(decided)], decided)
  }
  assert.ok(all.every((one) => one['seen_by'] === 'grupo' || one['discarded'] === 1))
})
