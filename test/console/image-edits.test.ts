/** Sorting, filtering and stepping through images; tags, aliases and the focus of one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityViolations, copyWith, resultCount, showsTexts } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'
import { limited } from '../support/key-limits.ts'
import { answerOf, gradient, ImageClient, noise } from '../support/images.ts'

const { service, browser } = await startConsole()
const client = new ImageClient(service.url, service.imageKey)
/** In the order of their upload; the sizes of their files rise, too. */
const NAMES = ['Bote.png', 'Ancla.png', 'Cabo.jpg']
const hashes: string[] = []
for (const [i, name] of NAMES.entries()) {
  const picture = noise(40 + 20 * i, 40)
  const bytes = await (name.endsWith('.jpg') ? picture.resize(900).jpeg() : picture.png()).toBuffer()
  const { body } = await client.upload(bytes, { name })
  hashes.push(String(body['hash']))
}

const open = (path: string) => browser.open(service, path, { imagestore: service.imageKey })

test('the gallery is sorted and filtered, and its address keeps that', async () => {
  const { page } = await open('imagenes')
  const order = (...names: string[]) => showsTexts(page.locator('.tile-name'), names)
  await page.getByRole('button', { name: 'Ordenar y filtrar' }).click()
  await page.getByRole('combobox', { name: 'Orden' }).selectOption('Por nombre')
  await order('Ancla.png', 'Bote.png', 'Cabo.jpg')
  await page.getByRole('combobox', { name: 'Orden' }).selectOption('Más livianas primero')
  await order('Bote.png', 'Ancla.png', 'Cabo.jpg')
  await page.getByLabel('Tipo').selectOption('image/png')
  await order('Bote.png', 'Ancla.png')
  await resultCount(page, '2 imágenes').waitFor()
  await page.getByRole('button', { name: 'Ordenar y filtrar (1)' }).waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.reload()
  await order('Bote.png', 'Ancla.png')
  await page.getByRole('button', { name: 'Ordenar y filtrar (1)' }).click()
  await page.getByLabel('Subidas desde (UTC)').fill('2001-01-01')
  await page.getByLabel('Subidas hasta (UTC)').fill('2001-01-02')
  await page.getByText('Ninguna imagen cumple los filtros').waitFor()
  await page.getByRole('button', { name: 'Quitar los filtros' }).click()
  await order('Bote.png', 'Ancla.png', 'Cabo.jpg')
})

test('arrow keys and buttons step through the gallery, and Back returns to it', async () => {
  const { page } = await open('imagenes?orden=nombre')
  const titled = (name: string) => page.getByRole('dialog', { name }).waitFor()
  await page.getByRole('img', { name: 'Ancla.png' }).click()
  await titled('Ancla.png')
  assert.ok(await page.getByRole('button', { name: 'Imagen anterior' }).isDisabled())
  await page.keyboard.press('ArrowRight')
  await titled('Bote.png')
  await page.getByRole('button', { name: 'Imagen siguiente' }).click()
  await titled('Cabo.jpg')
  await page.keyboard.press('ArrowLeft')
  await titled('Bote.png')
  // In a field, arrows move the cursor.
  await page.getByLabel('Ancho').press('ArrowLeft')
  await page.getByLabel('Ancho').fill('4000')
  await page.getByText('40 × 40 (4.000 pedido, 40 resulta)').waitFor()
  await titled('Bote.png')
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('img', { name: 'Ancla.png' }).waitFor()
})

test('tags, aliases and the focus are set in the details', async () => {
  const [hash = ''] = hashes
  const { page, context } = await open(`imagenes?imagen=${hash}`)
  const dialog = page.getByRole('dialog', { name: 'Bote.png' })
  const has = async (field: string, value: unknown) =>
    eventually(
      async () => JSON.stringify((await client.get(hash)).body[field]) === JSON.stringify(value),
      field,
    )

  const tags = dialog.getByRole('region', { name: 'Etiquetas' })
  for (const tag of ['mar', 'en venta']) {
    await tags.getByLabel('Agregar una etiqueta').fill(tag)
    await page.keyboard.press('Enter')
    await tags.getByRole('link', { name: tag }).waitFor()
  }
  await has('tags', ['mar', 'en venta'])
  await tags.getByRole('button', { name: 'Quitar en venta' }).click()
  await has('tags', ['mar'])

  const focus = dialog.getByRole('region', { name: 'Foco' })
  const picture = focus.getByRole('button', { name: 'Elegir el foco' })
  await picture.scrollIntoViewIfNeeded()
  const box = await picture.boundingBox()
  assert.ok(box !== null)
  await page.mouse.click(box.x + box.width * 0.25, box.y + box.height * 0.75)
  const set = focus.getByRole('button', {
    name: /^Foco: 2[456] % desde la izquierda, 7[456] % desde arriba$/,
  })
  await set.press('ArrowUp')
  await focus.getByRole('button', { name: /^Foco: 2[456] % desde la izquierda, (69|70|71) % / }).waitFor()
  await eventually(async () => {
    const [x = 0, y = 0] = String((await client.get(hash)).body['focus'])
      .split(',')
      .map(Number)
    return Math.abs(x - 0.25) < 0.02 && Math.abs(y - 0.7) < 0.02
  }, 'the focus')
  await focus.getByRole('button', { name: 'Quitar el foco' }).click()
  await has('focus', null)

  const aliases = dialog.getByRole('region', { name: 'Alias' })
  await aliases.getByLabel('Agregar un alias').fill('Portada')
  await page.keyboard.press('Enter')
  await page.getByText(/No se pudo guardar Bote\.png/).waitFor()
  await aliases.getByLabel('Agregar un alias').fill('portada')
  await page.keyboard.press('Enter')
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const link = await copyWith(aliases.getByRole('button', { name: 'portada', exact: true }))
  assert.equal((await fetch(link)).status, 200)
  assert.deepEqual(await accessibilityViolations(page), [])
  await aliases.getByRole('button', { name: 'Quitar portada' }).click()
  await aliases.getByRole('button', { name: 'Quitar portada' }).waitFor({ state: 'detached' })
  assert.equal((await fetch(link)).status, 404)

  // A tag leads to the images that have it.
  await tags.getByRole('link', { name: 'mar' }).click()
  await resultCount(page, '1 imagen').waitFor()
})

test('the links of several images are copied together', async () => {
  const { page, context } = await open('imagenes?orden=nombre')
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  for (const name of ['Ancla.png', 'Bote.png']) await page.getByLabel(`Seleccionar ${name}`).check()
  const text = await copyWith(page.getByRole('button', { name: 'Copiar enlaces' }))
  assert.equal(text, [hashes[1], hashes[0]].map((hash) => `${service.url}/i/${hash}`).join('\n'))
  const downloaded = page.waitForEvent('download')
  await page.getByLabel('Seleccionar Bote.png').uncheck()
  await page.getByRole('button', { name: 'Descargar' }).click()
  assert.equal((await downloaded).suggestedFilename(), 'Ancla.png')
})

test('a key that may only read sees tags and focus, and changes neither', async () => {
  const { key } = await service.newKey('lectura', 'imagestore', limited({ scope: 'read' }))
  const own = new ImageClient(service.url, (await service.newKey('lectura', 'imagestore')).key)
  const { body } = await own.upload(await gradient(30, 20).png().toBuffer(), {
    name: 'Vela.png',
    tags: ['mar'],
  })
  await answerOf(
    await fetch(own.endpoint('alias', { name: 'vela', hash: String(body['hash']) }), { method: 'POST' }),
  )
  const { page } = await browser.open(service, `imagenes?imagen=${String(body['hash'])}`, {
    imagestore: key,
  })
  const dialog = page.getByRole('dialog', { name: 'Vela.png' })
  await dialog.getByRole('link', { name: 'mar' }).waitFor()
  for (const name of ['Quitar mar', 'Elegir el foco'])
    await eventually(async () => dialog.getByRole('button', { name }).isDisabled(), name)
})
