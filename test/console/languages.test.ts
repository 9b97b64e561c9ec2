/** Each language on every screen: nothing of the other, and numbers and dates as people write them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { AUDIT_ACTIONS } from '../../src/http/auth/queries.ts'
import { startConsole } from '../support/console.ts'
import { record, stored } from '../support/domains.ts'
import { ImageClient, noise } from '../support/images.ts'
import { watch } from '../support/watches.ts'

const { service, browser } = await startConsole({ flags: { 'dns-servers': '127.0.0.1:9' } })
await stored(service, [
  record('a', { date_reg: '2025-03-04 05:06:07' }),
  record('unico', { status: 0, date_reg: '2025-03-03 05:06:07' }),
])
await watch(service, { name: 'alert', atom: '' })
const client = new ImageClient(service.url, service.imageKey)
await client.upload(await noise(60, 40).png().toBuffer(), { name: 'photo.png' })
const { key: admin, id } = await service.newKey('owner', 'admin')
for (const action of AUDIT_ACTIONS)
  await service.app.context.audit.record({ account: 'owner', keyId: id }, action, 'x')
const keys = { domainwatch: service.domainKey, imagestore: service.imageKey, admin }
/** All that is read or heard, without the name of the other language and examples of names. */
async function textsOf(page: Page): Promise<string[]> {
  const found: unknown = await page.evaluate(`[...document.querySelectorAll('body *')].flatMap((element) => [
      ...[...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data),
      ...['aria-label', 'title', 'alt'].map((name) => element.getAttribute(name) ?? ''),
    ])`)
  assert.ok(Array.isArray(found))
  return found.map(String).filter((text) => text !== 'Español')
}

const SCREENS = [
  ['', 'Home'],
  ['dominios?ficha=unico', 'The DNS servers could not answer'],
  ['triaje', '1 left'],
  ['agregar', 'Add names'],
  ['importar', 'Choose a file'],
  ['cifras', 'By agent'],
  ['vigilancias', 'Deliveries'],
  ['imagenes', '1 image'],
  ['imagenes?papelera', 'The trash is empty'],
  ['espacio', 'Average size'],
  ['claves', 'New key'],
  ['auditoria', 'Signed in through the proxy'],
  ['sistema', 'Health'],
] as const

for (const [path, text] of SCREENS) {
  test(`in English, nothing on the screen ${path || 'inicio'} is in Spanish`, async () => {
    const { page, context } = await browser.open(service, path, keys, { language: 'en', locale: 'en-GB' })
    await page.getByText(text, { exact: false }).first().waitFor()
    const spanish = (await textsOf(page)).filter((one) => /[áéíóúñ¿¡«»]/i.test(one))
    assert.deepEqual(spanish, [])
    await context.close()
  })
}

test('the reasons of lookalikes are in the language of the page', async () => {
  await stored(service, [record('unicos', { date_reg: '2025-03-02 05:06:07' })])
  for (const [language, reason] of [
    ['es', 'en plural'],
    ['en', 'singular or plural'],
  ] as const) {
    for (const [path, list] of [
      ['dominios?ficha=unico', '.sheet .lookalikes'],
      ['triaje', '.triage-card .lookalikes'],
    ] as const) {
      const { page, context } = await browser.open(service, path, keys, { language })
      await page.locator(list).getByText(reason, { exact: true }).waitFor()
      await context.close()
    }
  }
})

test('one of something is said in the singular', async () => {
  const { page, context } = await browser.open(service, 'triaje', keys)
  await page.getByText('queda 1', { exact: true }).waitFor()
  await page.goto(`${service.url}/console/dominios`)
  await page.getByRole('button', { name: 'Largo' }).first().click()
  await page.getByRole('button', { name: '1 carácter' }).waitFor()
  await context.close()
})

test('dates at home are written in the language of the page', async () => {
  for (const [language, text] of [
    ['es', '4 mar 2025, 05:06'],
    ['en', '4 Mar 2025, 05:06'],
  ] as const) {
    const { page, context } = await browser.open(service, '', keys, { language })
    await page.getByText(text, { exact: true }).first().waitFor()
    await context.close()
  }
})

for (const [action, text] of [
  ['Upload ticket', 'Largest size of each (MB)'],
  ['Banned images', 'No banned images'],
] as const) {
  test(`in English, nothing in the dialog ${action} is in Spanish`, async () => {
    const { page, context } = await browser.open(service, 'imagenes', keys, {
      language: 'en',
      locale: 'en-GB',
    })
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('button', { name: action }).click()
    await page.getByRole('dialog').getByText(text).waitFor()
    const spanish = (await textsOf(page)).filter((one) => /[áéíóúñ¿¡«»]/i.test(one))
    assert.deepEqual(spanish, [])
    await context.close()
  })
}
