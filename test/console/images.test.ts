import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { startBrowser, type TestBrowser } from '../support/browser.ts'
import { ImageClient } from '../support/images.ts'
import { startService, type TestService } from '../support/service.ts'
import sharp from 'sharp'

const corpus = new URL('../../../shared/corpus/orientation/', import.meta.url)
const logo = readFileSync(new URL('../../assets/catalejo.png', import.meta.url))
/** What would run if a name or an SVG were taken for more than it is. */
const HOSTILE_NAME = '"><img src=x onerror=alert(1)>.png'
const HOSTILE_SVG = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40" onload="alert(2)"><script>alert(3)</script><rect width="60" height="40" fill="red"/></svg>',
)

let service: TestService
let browser: TestBrowser
let client: ImageClient

/** Photographs where they are at hand, else pictures of the same sizes. */
async function photograph(name: string, width: number, height: number): Promise<Buffer> {
  const file = new URL(name, corpus)
  if (existsSync(file)) return readFileSync(file)
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const
  return sharp({ create: { width, height, channels: 3, background: '#357', noise } })
    .jpeg()
    .toBuffer()
}

before(async () => {
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
  client = new ImageClient(service.url, service.imageKey)
  await client.upload(await photograph('Landscape_1.jpg', 1_800, 1_200), {
    name: 'Muelle.jpg',
    mime: 'image/jpeg',
  })
  await client.upload(await photograph('Portrait_6.jpg', 1_200, 1_800), {
    name: 'Faro.jpg',
    mime: 'image/jpeg',
  })
  await client.upload(HOSTILE_SVG, { name: HOSTILE_NAME, mime: 'image/svg+xml' })
})

after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

const open = (path: string) => browser.open(service, path, { imagestore: service.imageKey })

test('the gallery shows what there is, and finds by name; hostile names and pictures run nothing', async () => {
  const { page, context, complaints, foreign } = await open('imagenes')
  await page.getByRole('img', { name: 'Muelle.jpg' }).waitFor()
  await page.getByRole('status').filter({ hasText: '3 imágenes' }).waitFor()
  await page.locator('.tile img.loaded').nth(2).waitFor()
  assert.equal(await page.getByRole('img', { name: HOSTILE_NAME }).count(), 1)
  await page.getByRole('img', { name: HOSTILE_NAME }).click()
  await page.getByRole('dialog').getByText('image/svg+xml').waitFor()
  await page.getByRole('dialog').locator('.bench-result img').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('searchbox').fill('faro')
  await page.getByRole('status').filter({ hasText: '1 imagen' }).waitFor()
  await page.waitForURL(/search=faro/)
  assert.deepEqual([complaints, foreign], [[], []])
  await context.close()
})

test("uploading by picking, dropping and pasting, each with its outcome in the API's words", async () => {
  const { page, context, complaints } = await open('imagenes')
  await page.getByRole('img', { name: 'Faro.jpg' }).waitFor()
  await page.locator('input[type=file]').setInputFiles([
    { name: 'Catalejo.png', mimeType: 'image/png', buffer: logo },
    { name: 'rota.png', mimeType: 'image/png', buffer: Buffer.from('no image at all') },
  ])
  const list = page.getByRole('region', { name: 'Subidas' })
  await list.getByText('La imagen está dañada').waitFor()
  await list.getByText('1 imagen subida').waitFor()
  await page.getByRole('img', { name: 'Catalejo.png' }).waitFor()

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
  await list.getByRole('button', { name: 'Limpiar la lista' }).click()
  await list.waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await context.close()
})

test('details, links for each target, and the bench with bytes and kind', async () => {
  const { page, context, complaints } = await open('imagenes')
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
    await links.getByRole('button', { name: label }).click()
    await links.getByText('Copiado').last().waitFor()
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), expected)
  }
  await links.getByRole('button', { name: 'HTML' }).click()
  const html = String(await page.evaluate('navigator.clipboard.readText()'))
  assert.match(html, /srcset="[^"]*&amp;m=w_320 320w, /)
  assert.doesNotMatch(html, /&m=/)

  const bench = dialog.getByRole('region', { name: 'Mesa de modificadores' })
  await bench.getByText(/^image\/webp · .* menos$/).waitFor()
  await bench.getByLabel('Ancho').fill('120')
  await bench.getByLabel('Formato').selectOption('jpg')
  await bench.getByRole('button', { name: 'Grises' }).click()
  await bench.getByText(`${url}&m=w_120,gray,f_jpg`).waitFor()
  await bench.getByText(/^image\/jpeg · /).waitFor()
  assert.equal(
    await page.evaluate(`{
      const image = document.querySelector('.bench-result img')
      image.decode().then(() => image.naturalWidth)
    }`),
    120,
  )
  await bench.getByLabel('Ancho').fill('9999')
  await bench.getByText(/El modificador w_9999 no es válido/).waitFor()
  assert.deepEqual(complaints, [])
  await context.close()
})

test('deleting asks first, many at once', async () => {
  for (const [name, width] of [
    ['uno', 30],
    ['dos', 31],
  ] as const) {
    await client.upload(await sharp(logo).resize(width).png().toBuffer(), { name: `borrar-${name}.png` })
  }
  const { page, context, complaints } = await open('imagenes?search=borrar')
  await page.getByLabel('Seleccionar borrar-uno.png').check()
  await page.getByLabel('Seleccionar borrar-dos.png').check()
  await page.getByRole('region', { name: '2 seleccionadas' }).getByRole('button', { name: 'Borrar' }).click()
  const dialog = page.getByRole('dialog', { name: '¿Borrar 2 imágenes?' })
  await dialog.getByRole('button', { name: 'Cancelar' }).click()
  assert.equal(await page.getByRole('img', { name: /borrar/ }).count(), 2)
  await page.getByRole('region', { name: '2 seleccionadas' }).getByRole('button', { name: 'Borrar' }).click()
  await dialog.getByRole('button', { name: 'Borrar' }).click()
  await page.getByText('2 imágenes borradas').waitFor()
  await page.getByText('Ninguna imagen se llama así').waitFor()
  assert.deepEqual(complaints, [])
  await context.close()
})
