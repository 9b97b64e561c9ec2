import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Route } from 'playwright-core'
import sharp from 'sharp'
import { startConsole } from '../support/console.ts'
import {
  accessibilityViolations,
  copyWith,
  waitForExpression,
  toast,
  resultCount,
  openScreen,
  chooseMore,
  addKey,
  showsCount,
} from '../support/browser.ts'
import { corpus } from '../support/corpus.ts'
import { ImageClient, noise, stamped } from '../support/images.ts'
import { call } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'

const logo = readFileSync(new URL('../../assets/catalejo.png', import.meta.url))
const photograph = (name: string): Buffer => readFileSync(new URL(`orientation/${name}`, corpus))

const { service, browser } = await startConsole()
const client = new ImageClient(service.url, service.imageKey)
await client.upload(photograph('Landscape_1.jpg'), {
  name: 'Muelle.jpg',
  mime: 'image/jpeg',
})
await client.upload(photograph('Portrait_6.jpg'), {
  name: 'Faro.jpg',
  mime: 'image/jpeg',
})
await client.upload(logo, { name: 'Catalejo.png' })

const open = (path: string) => browser.open(service, path, { imagestore: service.imageKey })

test('the images of a replaced key are neither shown nor selected for the next one', async () => {
  const { key } = await service.newKey('otra', 'imagestore')
  const { page } = await open('imagenes')
  await page.getByRole('img', { name: 'Muelle.jpg' }).waitFor()
  await page.locator('.tile').first().getByRole('checkbox').check()
  await page.getByRole('region', { name: '1 seleccionada' }).waitFor()
  await addKey(page, key)
  await page.getByText('Todavía no hay imágenes').waitFor()
  assert.equal(await page.getByRole('img', { name: 'Muelle.jpg' }).count(), 0)
  assert.equal(await page.locator('.selection').count(), 0)
})

test('the gallery shows images and searches by name', async () => {
  const { page } = await open('imagenes')
  await page.getByRole('img', { name: 'Muelle.jpg' }).waitFor()
  await resultCount(page, '3 imágenes').waitFor()
  await page.locator('.tile img.loaded').nth(2).waitFor()
  await page.getByRole('searchbox').fill('faro')
  await resultCount(page, '1 imagen').waitFor()
  await page.waitForURL(/search=faro/)
})

test('a placeholder is shown until the picture has loaded', async () => {
  const { page } = await open('')
  await page.getByRole('link', { name: /^Imágenes\s*\d/ }).waitFor()
  const held: (() => void)[] = []
  let isHeld = true
  await page.route('**/i/*', async (route) => {
    if (isHeld) await new Promise<void>((resolve) => held.push(resolve))
    await route.continue()
  })
  await openScreen(page, 'Imágenes')
  const tile = page.getByRole('listitem').filter({ has: page.getByRole('img', { name: 'Muelle.jpg' }) })
  const placeholder = tile.locator('.thumb.blurred')
  await placeholder.waitFor()
  // All that are shown have one, and each is behind its own picture.
  const shown = String(
    await page.evaluate(
      `getComputedStyle(document.querySelector('.thumb.blurred:has(img[alt="Muelle.jpg"])')).backgroundImage`,
    ),
  )
  assert.match(shown, /^url\("data:image\/png;base64,.{100,}"\)$/)
  assert.equal(await tile.locator('img.loaded').count(), 0)
  isHeld = false
  for (const release of held) release()
  await tile.locator('img.loaded').waitFor()
})

test('pictures that failed to load are requested again after a reconnection', async () => {
  const { page } = await open('')
  await page.getByRole('link', { name: /^Imágenes\s*\d/ }).waitFor()
  const lose = (route: Route) => route.abort('connectionreset')
  await page.route('**/i/*', lose)
  await openScreen(page, 'Imágenes')
  await page.locator('.tile-broken').nth(2).waitFor()
  await page.unroute('**/i/*', lose)
  await page.evaluate("window.dispatchEvent(new Event('offline'))")
  await page.locator('.tile img.loaded').nth(2).waitFor()
})

test('uploads by picker, drop and paste each show the message of the API', async () => {
  const { page, context } = await open('imagenes')
  await page.getByRole('img', { name: 'Faro.jpg' }).waitFor()
  await page.locator('input[type=file]').setInputFiles([
    { name: 'elegida.png', mimeType: 'image/png', buffer: stamped(logo, 'elegida') },
    { name: 'rota.png', mimeType: 'image/png', buffer: Buffer.from('no image at all') },
  ])
  const list = page.getByRole('region', { name: 'Subidas' })
  await list.getByText('La imagen está dañada').waitFor()
  await list.getByText('1 imagen subida').waitFor()
  await page.getByRole('img', { name: 'elegida.png' }).waitFor()

  // As a person's browser would send them: files that a script hands over cannot come from the disk.
  const small = (await sharp(logo).resize(40).png().toBuffer()).toString('base64')
  for (const kind of ['drop', 'paste']) {
    await page.evaluate(`{
      const bytes = Uint8Array.from(atob('${small}'), (c) => c.charCodeAt(0))
      const data = new DataTransfer()
      data.items.add(new File([bytes, new Uint8Array(${kind === 'drop' ? 1 : 2})], '${kind}.png', { type: 'image/png' }))
      window.dispatchEvent('${kind}' === 'drop'
        ? new DragEvent('drop', { dataTransfer: data, cancelable: true })
        : new ClipboardEvent('paste', { clipboardData: data, cancelable: true }))
    }`)
    await page.getByRole('img', { name: `${kind}.png` }).waitFor()
  }
  await list.getByText('3 imágenes subidas').waitFor()

  // As slow as a telephone far from everything, until what there is to see was seen.
  const network = await context.newCDPSession(page)
  const uploadAt = (uploadThroughput: number) =>
    network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput,
    })
  await uploadAt(10_000)
  const large = await noise(256, 256).png().toBuffer()
  await page
    .locator('input[type=file]')
    .setInputFiles([{ name: 'grande.png', mimeType: 'image/png', buffer: large }])
  const bar = list.getByRole('progressbar', { name: 'grande.png' })
  await bar.waitFor()
  await waitForExpression(
    page,
    `[...document.querySelectorAll('.upload progress')].some(({ value }) => value > 0 && value < 1)`,
  )
  await uploadAt(-1)
  await list.getByText('4 imágenes subidas').waitFor()
  assert.equal(await bar.count(), 0)
  await list.getByRole('button', { name: 'Limpiar la lista' }).click()
  await list.waitFor({ state: 'detached' })
})

test('details show links for each target, and the playground shows bytes and format', async () => {
  const { page, context } = await open('imagenes')
  await page.getByRole('img', { name: 'Muelle.jpg' }).click()
  await page.waitForURL(/imagen=/)
  const dialog = page.getByRole('dialog', { name: 'Muelle.jpg' })
  await dialog.getByText('1.800 × 1.200').waitFor()
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const links = dialog.getByRole('region', { name: 'Enlaces', exact: true })
  const hash = new URL(page.url()).searchParams.get('imagen') ?? ''
  const url = `${service.url}/i/${hash}`
  for (const [label, expected] of [
    ['Dirección', url],
    ['Markdown', `![Muelle](<${url}>)`],
    ['BBCode', `[img]${url}[/img]`],
  ] as const) {
    assert.equal(await copyWith(links.getByRole('button', { name: label })), expected)
  }
  const html = await copyWith(links.getByRole('button', { name: 'HTML' }))
  assert.match(html, /srcset="[^"]*&amp;m=w_320 320w, /)
  assert.doesNotMatch(html, /&m=/)

  const bench = dialog.getByRole('region', { name: 'Probar transformaciones' })
  await bench.getByText(/^image\/webp · .* menos$/).waitFor()
  await bench.getByLabel('Ancho').fill('120')
  await bench.getByLabel('Formato').selectOption('jpg')
  await bench.getByRole('button', { name: 'Escala de grises' }).click()
  await bench.getByText(`${url}&m=w_120,gray,f_jpg`).waitFor()
  await bench.getByText(/^image\/jpeg · /).waitFor()
  await waitForExpression(page, `document.querySelector('.bench-result img')?.naturalWidth === 120`)
  await bench.getByLabel('Ancho').fill('9999')
  await bench.getByText(/El modificador w_9999 no es válido/).waitFor()
})

test('near-duplicates are compared side by side, and one is deleted', async () => {
  const source = await noise(64, 48).resize(600, 450).jpeg({ quality: 95 }).toBuffer()
  const small = await sharp(source).resize(300).jpeg({ quality: 60 }).toBuffer()
  await client.upload(source, { name: 'Bruma.jpg' })
  const { body } = await client.upload(small, { name: 'Bruma chica.jpg' })
  const { page, context } = await open('imagenes?search=bruma')
  await page.getByRole('img', { name: 'Bruma.jpg' }).click()
  const near = page.getByRole('region', { name: 'Similares' })
  await near.getByRole('link', { name: /Bruma chica\.jpg/ }).click()
  await page.waitForURL(/con=/)
  const dialog = page.getByRole('dialog', { name: 'Comparar' })
  await dialog.getByText(/^(Difieren? en \d+ de 64 bits|Muy parecida)$/).waitFor()
  const side = (name: string) =>
    dialog.getByRole('figure').filter({ has: page.getByRole('img', { name, exact: true }) })
  await side('Bruma.jpg').getByText('600 × 450 más grande').waitFor()
  await side('Bruma chica.jpg').getByText('300 × 225').waitFor()
  assert.equal(await side('Bruma chica.jpg').getByText('más grande').count(), 0)
  await waitForExpression(
    page,
    `[...document.querySelectorAll('.compare img')].every(({ naturalWidth }) => naturalWidth > 0)`,
  )
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.emulateMedia({ colorScheme: 'dark' })
  assert.deepEqual(await accessibilityViolations(page, ['color-contrast']), [])

  // Zoom and position are the same on both sides: by button, keys, mouse and two fingers.
  const places = () =>
    page.evaluate<string[]>(
      `[...document.querySelectorAll('.compare-frame')].map(({ style }) => style.transform)`,
    )
  const picture = dialog.locator('.compare-picture').first()
  await dialog.getByRole('button', { name: 'Acercar' }).click()
  await page.keyboard.press('+')
  await dialog.getByText('225 %').waitFor()
  await page.keyboard.press('ArrowRight')
  const moved = await places()
  assert.deepEqual(moved, Array(2).fill('scale(2.25) translate(-4.44444%, 0%)'))
  const { x, y, width, height } = (await picture.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  await page.mouse.move(x + width / 2, y + height / 2)
  await page.mouse.down()
  await page.mouse.move(x + width / 2 + 30, y + height / 2 + 20)
  await page.mouse.up()
  const dragged = await places()
  assert.equal(dragged[0], dragged[1])
  assert.notEqual(dragged[0], moved[0])
  await dialog.getByRole('button', { name: 'Ajustar a la pantalla' }).click()
  const hand = await context.newCDPSession(page)
  const fingers = (gap: number) =>
    [-gap, gap].map((dx, id) => ({ x: x + width / 2 + dx, y: y + height / 2, id }))
  await hand.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: fingers(20) })
  await hand.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: fingers(60) })
  await hand.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  await dialog.getByText('300 %').waitFor()
  await page.keyboard.press('0')
  await dialog.getByText('100 %').waitFor()
  await dialog.getByRole('button', { name: 'Diferencia' }).click()
  await dialog.getByText('Negro donde son iguales; más claro cuanto más difieren.').waitFor()
  await showsCount(dialog.locator('.compare-frame.difference img'), 2)
  assert.deepEqual(await accessibilityViolations(page), [])

  // A link shows the same two.
  await page.reload()
  await side('Bruma chica.jpg')
    .getByRole('button', { name: 'Enviar esta a la papelera Bruma chica.jpg' })
    .click()
  await toast(page, '1 imagen en la papelera').waitFor()
  await page.getByRole('dialog', { name: 'Bruma.jpg' }).waitFor()
  assert.equal((await client.get(String(body['hash']))).status, 404)
})

test('duplicates are grouped, and counted on the one shown', async () => {
  const one = await noise(40, 40).png().toBuffer()
  for (const name of ['a', 'b', 'c'])
    await client.upload(stamped(one, name), { name: `repetida ${name}.png` })
  const { page } = await open('imagenes?search=repetida')
  await resultCount(page, '3 imágenes').waitFor()
  await page.getByRole('button', { name: 'Agrupar duplicadas' }).click()
  await resultCount(page, '1 imagen').waitFor()
  await page.waitForURL(/agrupar/)
  await page.getByText('y 2 duplicadas').waitFor()
})

test('usage shows limits, formats and uploads per day', async () => {
  // Its day does not change between the uploads.
  await using service = await startService({ clock: new ManualClock(new Date().toISOString()) })
  const client = new ImageClient(service.url, (await service.newKey('medida', 'imagestore')).key)
  await client.upload(await sharp(logo).resize(50).png().toBuffer())
  await client.upload(await sharp(logo).resize(50).webp().toBuffer())
  const admin = (await service.newKey('dueña', 'admin')).key
  await call(service, '/api/v1/admin/settle', {
    method: 'POST',
    query: { api: admin, account: 'medida', max_images: 4, max_bytes: 1_000_000 },
  })
  const { page } = await browser.open(service, 'espacio', { imagestore: client.key })
  await page.getByText('de 1 MB').waitFor()
  await page.getByText('de 4', { exact: true }).waitFor()
  await page.getByRole('rowheader', { name: 'image/webp' }).waitFor()
  const uploads = page.getByRole('region', { name: 'Subidas por día (UTC)' })
  await uploads.getByText('imágenes: 2').waitFor()
  await uploads.getByText('Ver como tabla').click()
  await showsCount(uploads.getByRole('rowheader'), 1)
})

test('deleted images go to the trash, from where they come back or are deleted permanently after a confirmation', async () => {
  for (const [name, width] of [
    ['uno', 30],
    ['dos', 31],
  ] as const) {
    await client.upload(await sharp(logo).resize(width).png().toBuffer(), { name: `borrar-${name}.png` })
  }
  const { page } = await open('imagenes?search=borrar')
  const picture = (name: string) => page.getByRole('img', { name: `borrar-${name}.png` })
  const choose = async (...names: readonly string[]) => {
    for (const name of names) await page.getByLabel(`Seleccionar borrar-${name}.png`).check()
  }
  const press = (name: string) =>
    page.locator('.selection').getByRole('button', { name, exact: true }).click()
  await page.locator('.tile img.loaded').nth(1).waitFor()
  await choose('uno', 'dos')
  await press('Enviar a la papelera')
  const done = toast(page, '2 imágenes en la papelera')
  await done.getByRole('button', { name: 'Deshacer' }).click()
  await toast(page, '2 imágenes restauradas').waitFor()
  await choose('uno', 'dos')
  await press('Enviar a la papelera')
  await page.getByText('Ninguna imagen cumple los filtros').waitFor()
  await page.keyboard.press('z')
  await picture('uno').waitFor()
  await picture('dos').waitFor()
  await choose('uno', 'dos')
  await press('Enviar a la papelera')
  await page.getByText('Ninguna imagen cumple los filtros').waitFor()

  await page.getByRole('searchbox').fill('')
  await chooseMore(page, 'Papelera')
  await page.getByRole('heading', { name: 'Papelera', level: 1 }).waitFor()
  await page.getByText(' · quedan 7 días').nth(1).waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  // A click on a picture selects it: its links do not work.
  await page.getByRole('button', { name: 'borrar-uno.png' }).click()
  await press('Restaurar')
  await toast(page, '1 imagen restaurada').waitFor()
  await picture('uno').waitFor({ state: 'detached' })
  await choose('dos')
  await press('Borrar definitivamente')
  const dialog = page.getByRole('dialog', { name: '¿Borrar 1 imagen definitivamente?' })
  await dialog.getByRole('button', { name: 'Cancelar' }).click()
  await press('Borrar definitivamente')
  await dialog.getByRole('button', { name: 'Borrar definitivamente' }).click()
  await toast(page, '1 imagen borrada').waitFor()
  await picture('dos').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Volver a la galería' }).click()
  await picture('uno').waitFor()
  assert.equal(await picture('dos').count(), 0)
})
