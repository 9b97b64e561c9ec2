import assert from 'node:assert/strict'
import { test } from 'node:test'
import { domainErrors } from '../../src/domainwatch/errors.ts'
import { startConsole } from '../support/console.ts'
import {
  domainRow,
  domainGrid,
  shownDay,
  resultCount,
  openScreen,
  chooseMore,
  enterKey,
  toast,
} from '../support/browser.ts'
import { getFields, record, stored, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { ManualClock } from '../support/service.ts'

const COUNT = 1_300
const NAMES = ['ñandú', 'casa-blanca', 'catalejo', 'mi-banco', 'xilófono']
const clock = new ManualClock('2026-01-05T13:20:30Z')

const { service, browser } = await startConsole({ clock })
const at = (i: number) =>
  new Date(Date.UTC(2025, 11, 31) - i * 60_000).toISOString().slice(0, 19).replace('T', ' ')
await stored(service, [
  ...NAMES.map((name, i) => record(name, { date_reg: `2026-01-0${5 - i} 09:00:00`, status: i % 2 })),
  ...Array.from({ length: COUNT }, (_, i) => record(`nombre${i}`, { date_reg: at(i) })),
])

const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })

/** The marks of `casa-blanca`. */
const getMarks = () => getFields(service, 'casa-blanca', 'revision', 'discarded')

test('sign-in identifies the key, and keeps it for the tab only unless requested otherwise', async () => {
  const { page, context } = await browser.open(service, '', {})
  await page.getByLabel('Clave de API').fill('wrong')
  await page.getByRole('button', { name: 'Entrar' }).click()
  await page.getByText('La clave de API no es válida').waitFor()
  await enterKey(page, service.domainKey)
  await page.getByRole('heading', { name: 'Inicio', level: 1 }).waitFor({ state: 'attached' })
  await openScreen(page, 'Dominios')
  await domainRow(page, 'ñandú').waitFor()
  assert.ok(page.url().endsWith('/console/dominios'))

  const other = await context.newPage()
  await other.goto(`${service.url}/console/`)
  await other.getByLabel('Clave de API').fill(service.imageKey)
  await other.getByLabel('Recordarme en este equipo').check()
  await other.getByRole('button', { name: 'Entrar' }).click()
  await other.getByRole('heading', { name: 'Inicio', level: 1 }).waitFor()
  const third = await context.newPage()
  await third.goto(`${service.url}/console/imagenes`)
  await third.getByRole('heading', { name: 'Imágenes', level: 1 }).waitFor()
  await third.goto(`${service.url}/console/dominios`)
  await third.getByRole('heading', { name: 'Esta pantalla necesita una clave de dominios' }).waitFor()
})

test('the first load of the table takes at most 178 KB in at most 22 files, fonts included', async () => {
  const { page } = await open('dominios')
  // What the page fetches ahead after 1.5 s is not counted, however slow the machine is.
  await page.addInitScript(`{
    const schedule = setTimeout
    globalThis.setTimeout = (work, ms, ...rest) => (ms === 1_500 ? 0 : schedule(work, ms, ...rest))
  }`)
  await page.reload()
  await domainRow(page, 'ñandú').waitFor()
  const sizes = await page.evaluate(`document.fonts.ready.then(() =>
    performance.getEntries()
      .filter(({ name }) => name.includes('/console/'))
      .map(({ encodedBodySize = 0 }) => encodedBodySize))`)
  assert.ok(Array.isArray(sizes) && sizes.length <= 22, String(sizes))
  const total = sizes.reduce((sum, size) => sum + Number(size), 0)
  // 176 KB in 21 files in November 2026.
  assert.ok(total > 100_000 && total <= 178_000, String(total))
})

test('search while typing: words, chips and the URL are equivalent, and a link restores the view', async () => {
  const { page, context } = await open('dominios')
  await domainRow(page, 'ñandú').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('ban largo:8')
  await domainRow(page, 'mi-banco').waitFor()
  await resultCount(page, '1 dominio').waitFor()
  await page.waitForURL(/search=ban&length=8/)
  await page.getByRole('button', { name: 'Inscrito' }).click()
  assert.equal(await page.getByRole('searchbox').inputValue(), 'ban largo:8 estado:inscrito')
  await page.waitForURL(/status=1/)

  const again = await context.newPage()
  await again.goto(page.url())
  await domainRow(again, 'mi-banco').waitFor()
  assert.equal(await again.getByRole('searchbox').inputValue(), 'ban largo:8 estado:inscrito')
  assert.equal(await again.getByRole('button', { name: 'Inscrito' }).getAttribute('aria-pressed'), 'true')
  await again.getByRole('button', { name: 'largo:8' }).click()
  await again.getByRole('button', { name: 'Quitar filtros' }).click()
  await domainRow(again, 'catalejo').waitFor()
  // What a filter does not take is said without asking.
  await again.getByRole('searchbox').fill('largo:muy')
  await again.getByRole('alert').getByText('debe ser un número entre 1 y 63').waitFor()
})

test('rows load in pages while scrolling to the end and back', async () => {
  const { page } = await open('dominios')
  await domainRow(page, 'ñandú').waitFor()
  await domainGrid(page).focus()
  const last = domainRow(page, `nombre${COUNT - 1}`)
  await page.keyboard.press('End')
  await last.waitFor()
  await resultCount(page, '1.305 dominios').waitFor()
  assert.ok((await domainGrid(page).getByRole('row').count()) < 80, 'only what is in sight is there')
  await page.keyboard.press('Home')
  await domainRow(page, 'ñandú').waitFor()
  await domainGrid(page).getByRole('button', { name: 'Inscripción' }).click()
  await last.waitFor()
  await page.waitForURL(/sort=asc/)
})

test('single keys mark records and undo marks; discarded records show the time left', async () => {
  const { page } = await open('dominios')
  await domainRow(page, 'ñandú').waitFor()
  await domainGrid(page).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('r')
  await domainRow(page, 'casa-blanca').getByText('Revisión').waitFor()
  await toast(page, '1 dominio en revisión').waitFor()
  assert.deepEqual(await getMarks(), { revision: 1, discarded: 0 })
  // Rows that were read before are shown with the mark, too.
  await page.getByRole('searchbox').fill('catalejo')
  await domainRow(page, 'casa-blanca').waitFor({ state: 'detached' })
  await page.getByRole('searchbox').fill('')
  await domainRow(page, 'casa-blanca').getByText('Revisión').waitFor()
  await domainGrid(page).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('z')
  await toast(page, 'Deshecho').waitFor()
  assert.deepEqual(await getMarks(), { revision: 0, discarded: 0 })

  await page.keyboard.press('d')
  await toast(page, '1 dominio descartado').waitFor()
  assert.deepEqual(await getMarks(), { revision: 0, discarded: 1 })
  // What is typed comes into the address a moment later.
  await page.waitForURL(/dominios$/)
  await page.reload()
  await domainRow(page, 'casa-blanca')
    .getByText(/Descartado, quedan/)
    .waitFor({ state: 'attached' })
  await domainGrid(page).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('d')
  await toast(page, '1 dominio restaurado').waitFor()
  assert.deepEqual(await getMarks(), { revision: 0, discarded: 0 })

  // Typed letters are not shortcuts.
  await page.getByRole('searchbox').fill('')
  await page.getByRole('searchbox').pressSequentially('dr')
  await page.getByText('Ningún dominio coincide').waitFor()
  assert.deepEqual(await getMarks(), { revision: 0, discarded: 0 })
})

test('what a colleague changed is shown immediately when the user comes back to a view', async () => {
  const { page, context } = await open('dominios')
  await domainRow(page, 'mi-banco').waitFor()
  await eventually(async () =>
    (await call(service, '/metrics')).text.includes('\ncatalejo_event_streams 1\n'),
  )
  await update(service, [{ domain: 'mi-banco', revision: 1 }])
  await domainRow(page, 'mi-banco').getByText('Revisión').waitFor()
  await page.getByRole('searchbox').fill('catalejo')
  await domainRow(page, 'mi-banco').waitFor({ state: 'detached' })
  // The rows are read again when the view is open, but late.
  await page.route('**/domainwatch/list?*', () => {})
  await page.getByRole('searchbox').fill('')
  await domainRow(page, 'mi-banco').getByText('Revisión').waitFor()
  await context.close()
  await update(service, [{ domain: 'mi-banco', revision: 0 }])
})

test('details have their own URL, and explain the DNS response', async () => {
  const { page } = await open('dominios')
  await domainRow(page, 'ñandú').waitFor()
  await domainGrid(page).focus()
  await page.keyboard.press('Enter')
  const sheet = page.getByRole('complementary', { name: 'Detalles de ñandú.cl' })
  await sheet.getByText('xn--and-6ma2c.cl').waitFor()
  await sheet
    .getByText(`${shownDay('5 ene', 2026)}, 09:00`, { exact: true })
    .first()
    .waitFor()
  await page.waitForURL(/ficha=%C3%B1and%C3%BA/)
  for (const [status, body, said] of [
    [200, { status: 200, domain: 'x', dns: ['a.nic.cl', 'b.nic.cl'] }, 'b.nic.cl'],
    [200, { status: 200, domain: 'x', dns: [] }, 'no tiene servidores de nombres'],
    [
      404,
      { ...domainErrors.domain_not_found().body(), domain: 'x', dns: [] },
      'Según el DNS, el nombre no existe',
    ],
    [
      504,
      { ...domainErrors.dns_timeout().body(), domain: 'x', dns: [] },
      'Esto no indica si el dominio existe',
    ],
  ] as const) {
    await page.route('**/domainwatch/dns?*', (route) => route.fulfill({ status, json: body }))
    await sheet.getByRole('button', { name: 'Consultar de nuevo' }).click()
    await sheet.getByText(said).waitFor()
    await page.unroute('**/domainwatch/dns?*')
  }
  await page.keyboard.press('j')
  await page.getByRole('complementary', { name: 'Detalles de casa-blanca.cl' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('complementary').waitFor({ state: 'detached' })
})

test('a view is exported as a curl command and as a file', async () => {
  const { page, context } = await open('dominios?search=casa&length=11')
  await domainRow(page, 'casa-blanca').waitFor()
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await chooseMore(page, 'Copiar como curl')
  await toast(page, 'Copiado').waitFor()
  assert.equal(
    await page.evaluate('navigator.clipboard.readText()'),
    `curl '${service.url}/api/v1/domainwatch/list?search=casa&length=11&api='"$CATALEJO_KEY"`,
  )
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Exportar CSV' }).click()
  const file = await (await download).createReadStream()
  const text = (await file.toArray()).map(String).join('')
  const [head = '', line = ''] = text.split('\r\n')
  assert.equal(head.split(',').slice(-5).join(), 'seen,seen_by,seen_at,note,tags')
  assert.match(line, /^casa-blanca,11,/)
})

test('a service that stops without a word is not shown as live', async () => {
  const { page } = await open('dominios')
  await page.clock.install()
  await page.reload()
  const live = page.getByText('En vivo', { exact: true })
  await live.waitFor()
  await page.route('**/healthz', (route) => route.abort('timedout'))
  await page.clock.fastForward('00:20')
  await live.waitFor({ state: 'detached' })
  await page.unroute('**/healthz')
  await page.clock.fastForward('00:05')
  await live.waitFor()
})
