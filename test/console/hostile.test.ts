/** Whatever names, agents, accounts and pictures hold, the console shows it and runs none of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { copyWith, toast } from '../support/browser.ts'
import { record, stored } from '../support/domains.ts'
import { ImageClient } from '../support/images.ts'
import { watch } from '../support/watches.ts'

/** Each would run in one place or another if it were taken for more than a text. */
const TEXTS = [
  '"><img src=x onerror=alert(1)>.png',
  `'"--></script><script>alert(2)</script><svg onload=alert(3)>.png`,
  'javascript:alert(4)//.png',
  '[x](javascript:alert(5)) ![x](x"onerror="alert(6)) [img]javascript:alert(7)[/img].png',
] as const
const ACCOUNT = '<b onclick=alert(11)>cuenta</b><img src=x onerror=alert(12)>'
const SVG = (colour: string) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40" onload="alert(8)"><script>alert(9)</script>` +
      `<foreignObject width="60" height="40"><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="alert(10)"/></body></foreignObject>` +
      `<rect width="30" height="40" fill="${colour}"/><rect x="30" width="30" height="40" fill="blue"/></svg>`,
  )

const hashes: string[] = []

const { service, browser } = await startConsole({ flags: { 'dns-servers': '127.0.0.1:9' } })
const client = new ImageClient(service.url, service.imageKey)
for (const [i, name] of TEXTS.entries()) {
  const { body } = await client.upload(SVG(`#f0000${i}`), { name, mime: 'image/svg+xml' })
  hashes.push(String(body['hash']))
}
await stored(
  service,
  TEXTS.map((agent, i) => record(`hostil${i}`, { agent })),
)
const { key } = await service.newKey(ACCOUNT, 'domainwatch')
await stored(service, [record('hostil0', { agent: TEXTS[0], status: 0 })], { key })
for (const name of TEXTS) await watch(service, { name, atom: '' })
const admin = (await service.newKey('dueña', 'admin')).key
for (const name of TEXTS) await service.newKey(name, 'imagestore')
/** What the page ran of it: a script that came to run, one that its policy stopped, or an element made of a text. */
async function madeOf(page: Page): Promise<number> {
  return page.locator('[onerror], [onload], [src="x"], [href^="javascript:"], script:not([src])').count()
}

const allKeys = () => ({ domainwatch: service.domainKey, imagestore: service.imageKey, admin })

test('in the gallery, the details, two side by side, and before deleting', async () => {
  const { page } = await browser.open(service, 'imagenes', allKeys())
  for (const name of TEXTS) await page.getByRole('img', { name, exact: true }).waitFor()
  await page
    .locator('.tile img.loaded')
    .nth(TEXTS.length - 1)
    .waitFor()
  for (const name of TEXTS) await page.getByLabel(`Seleccionar ${name}`, { exact: true }).check()
  const selected = page.getByRole('region', { name: '4 seleccionadas' })
  await selected.getByRole('button', { name: 'Enviar a la papelera' }).click()
  await toast(page, '4 imágenes en la papelera').waitFor()
  await page.goto(`${service.url}/console/imagenes?papelera`)
  for (const name of TEXTS) await page.getByLabel(`Seleccionar ${name}`, { exact: true }).check()
  await selected.getByRole('button', { name: 'Borrar definitivamente' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancelar' }).click()
  assert.equal(await madeOf(page), 0)
  await selected.getByRole('button', { name: 'Restaurar' }).click()
  await toast(page, '4 imágenes restauradas').waitFor()

  await page.goto(`${service.url}/console/imagenes?imagen=${hashes[0]}`)
  const dialog = page.getByRole('dialog', { name: TEXTS[0], exact: true })
  await dialog.getByText('image/svg+xml').waitFor()
  await dialog.locator('.bench-result img').waitFor()
  const near = page.getByRole('region', { name: 'Similares' })
  for (const name of TEXTS.slice(1)) await near.getByText(name, { exact: true }).waitFor()
  assert.equal(await madeOf(page), 0)
  await near.getByRole('link').first().click()
  await page
    .getByRole('dialog', { name: 'Comparar' })
    .locator('figcaption')
    .getByText(TEXTS[0], { exact: true })
    .waitFor()
  assert.equal(await madeOf(page), 0)
})

test('while uploading, also in the error', async () => {
  const { page } = await browser.open(service, 'imagenes', allKeys())
  const files = TEXTS.map((name, i) => ({
    name,
    mimeType: 'image/svg+xml',
    buffer: i === 0 ? Buffer.from('<svg onload=alert(13)>') : SVG(`#0f000${i}`),
  }))
  await page.locator('input[type=file]').setInputFiles(files)
  const list = page.getByRole('region', { name: 'Subidas' })
  await list.getByText('3 imágenes subidas').waitFor()
  await list.getByText('La imagen está dañada').waitFor()
  for (const name of TEXTS) await list.getByText(name, { exact: true }).waitFor()
  assert.equal(await madeOf(page), 0)
})

test('copied HTML contains exactly one image', async () => {
  const { page, context } = await browser.open(service, '', allKeys())
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  // A page without any policy, as most are.
  const other = await context.newPage()
  const ran: string[] = []
  other.on('dialog', (opened) => {
    ran.push(opened.message())
    void opened.dismiss()
  })
  for (const [i, name] of TEXTS.entries()) {
    await page.goto(`${service.url}/console/imagenes?imagen=${hashes[i]}`)
    const links = page.getByRole('region', { name: 'Enlaces', exact: true })
    await other.setContent(await copyWith(links.getByRole('button', { name: 'HTML' })))
    await other.locator(`img[src="${service.url}/i/${hashes[i]}"]`).waitFor()
    assert.deepEqual(
      await other.evaluate(
        `[...document.body.querySelectorAll('*')].map(({ tagName, alt }) => [tagName, alt])`,
      ),
      [['IMG', name.replace(/\.png$/, '')]],
    )
  }
  assert.deepEqual(ran, [])
})

test('agents in lists and figures, accounts among the keys', async () => {
  const { page } = await browser.open(service, 'dominios?search=hostil', allKeys())
  // The closed menu of agents has them too.
  const grid = page.getByRole('grid')
  for (const agent of TEXTS) await grid.getByText(agent, { exact: true }).first().waitFor()
  assert.equal(await madeOf(page), 0)
  await page.goto(`${service.url}/console/cifras`)
  for (const agent of TEXTS) await page.getByRole('link', { name: agent, exact: true }).waitFor()
  assert.equal(await madeOf(page), 0)
  await page.goto(`${service.url}/console/claves`)
  for (const account of TEXTS) {
    await page.getByRole('rowheader', { name: account, exact: true }).waitFor()
    await page.getByRole('cell', { name: account, exact: true }).waitFor()
  }
  await page.getByRole('button', { name: `Editar límites ${TEXTS[0]}`, exact: true }).click()
  await page.getByRole('dialog', { name: `Límites de ${TEXTS[0]}`, exact: true }).waitFor()
  assert.equal(await madeOf(page), 0)
})

test('in details and their history, in lists of filters, in triage, among watches', async () => {
  const { page } = await browser.open(service, 'dominios?ficha=hostil0', allKeys())
  const sheet = page.getByRole('complementary', { name: 'Detalles de hostil0.cl' })
  await sheet.getByRole('definition').getByText(TEXTS[0], { exact: true }).waitFor()
  await sheet.getByText(`por ${ACCOUNT}`, { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Agente', exact: true }).click()
  const agents = page.getByRole('group', { name: 'Agente' })
  for (const agent of TEXTS) await agents.getByText(agent, { exact: true }).waitFor()
  assert.equal(await madeOf(page), 0)
  await agents.getByText(TEXTS[1], { exact: true }).click()
  await page.getByRole('row').filter({ hasText: 'hostil1.cl' }).waitFor()
  assert.equal(await madeOf(page), 0)

  await page.goto(`${service.url}/console/triaje`)
  await page
    .locator('.triage-card')
    .getByText(/onload=alert|onerror=alert|javascript:/)
    .first()
    .waitFor()
  assert.equal(await madeOf(page), 0)

  await page.goto(`${service.url}/console/vigilancias`)
  for (const name of TEXTS) await page.getByRole('heading', { name, exact: true }).waitFor()
  await page.getByRole('button', { name: `Más: ${TEXTS[0]}`, exact: true }).click()
  await page.getByRole('button', { name: 'Eliminar', exact: true }).click()
  const asked = page.getByRole('dialog', { name: `¿Eliminar «${TEXTS[0]}»?`, exact: true })
  await asked.getByRole('button', { name: 'Eliminar', exact: true }).click()
  await toast(page, `Alerta «${TEXTS[0]}» eliminada`).waitFor()
  assert.equal(await madeOf(page), 0)
})

test('in a list that is to be imported, and before a key is revoked', async () => {
  const { page } = await browser.open(service, 'importar', allKeys())
  const lines = ['hostil9.cl', ...TEXTS, '']
  const file = { name: `${TEXTS[0]}.txt`, mimeType: 'text/plain', buffer: Buffer.from(lines.join('\n')) }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByText(`${TEXTS[0]}.txt`, { exact: true }).waitFor()
  await page.getByLabel('Formato').selectOption('Eliminados')
  await page.getByRole('button', { name: 'Importar', exact: true }).click()
  const row = page.getByRole('region', { name: 'Importaciones anteriores' }).getByRole('row')
  await row.getByText('<img src=x onerror=alert(1)>.png.txt').waitFor()
  await row
    .getByText(/líneas? con problemas/)
    .first()
    .waitFor()
  assert.equal(await madeOf(page), 0)

  await page.goto(`${service.url}/console/claves`)
  const key = page.getByRole('row').filter({ has: page.getByRole('cell', { name: ACCOUNT, exact: true }) })
  await key.getByRole('button', { name: /^Revocar/ }).click()
  await page.getByRole('dialog').getByText(`en la cuenta ${ACCOUNT} pierden`).waitFor()
  assert.equal(await madeOf(page), 0)
})
