import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, openScreen, enterKey, signOut } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'
import { record, stored } from '../support/domains.ts'

const { service, browser } = await startConsole({
  flags: { 'auth-header': 'Remote-User', 'trusted-proxies': '127.0.0.1' },
})
await stored(service, [record('alfa')])

/** Whom the proxy has authenticated; undefined if it asks for that first, on a page of another host. */
let user: string | undefined = 'grupo'
const proxy = createServer((incoming, outgoing) => {
  const { method, headers } = incoming
  if (user === undefined && incoming.url === '/console/session') {
    outgoing.writeHead(302, { location: 'https://login.invalid/' }).end()
    return
  }
  const to = request(`${service.url}${incoming.url}`, {
    method,
    headers: { ...headers, 'remote-user': user ?? '' },
  })
  to.on('response', (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.headers)
    response.pipe(outgoing)
  })
  to.on('error', () => outgoing.destroy())
  incoming.pipe(to)
}).listen(0, '127.0.0.1')
await once(proxy, 'listening')
after(() => {
  proxy.closeAllConnections()
  proxy.close()
})
const address = proxy.address()
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
const visit = () => browser.open({ url }, 'dominios', {})

const alfa = (page: Page) =>
  page.getByRole('grid', { name: 'Dominios' }).getByText('alfa.cl', { exact: true })
const sessions = async () =>
  (await service.app.context.accounts.keys()).filter(({ id }) => id.startsWith('session-'))
/** Everything that the browser keeps for later. */
const kept = async (page: Page) =>
  String(await page.evaluate('JSON.stringify([localStorage, sessionStorage])'))

test('signs in without a key, keeps the key in memory, and again when the key expires', async () => {
  const { page } = await visit()
  const used: string[] = []
  page.on('request', (one) => {
    const key = new URL(one.url()).searchParams.get('api')
    if (key !== null) used.push(key)
  })
  await alfa(page).waitFor()
  await page.reload()
  await alfa(page).waitFor()
  await eventually(async () => used.length > 0, 'a request with a key')
  const found = await kept(page)
  for (const key of used) assert.ok(!found.includes(key), 'a key is kept')

  const [last] = (await sessions()).toSorted((one, other) => other.created_at - one.created_at)
  for (const { id } of await sessions()) await service.revokeKey(id)
  const opened = (await sessions()).length
  await openScreen(page, 'Lo que hice hoy')
  await eventually(async () => (await sessions()).length > opened, 'another session')
  await page.getByRole('heading', { name: 'Lo que hice hoy' }).waitFor()
  assert.equal(await page.getByLabel('Clave de API').count(), 0)
  assert.equal(last?.account, 'grupo')
})

test('stays signed out in every tab until the user signs in again', async () => {
  const { page, context } = await visit()
  await alfa(page).waitFor()
  const other = await context.newPage()
  await other.goto(`${url}/console/dominios`)
  await alfa(other).waitFor()
  await signOut(page)
  for (const tab of [page, other]) await tab.getByText('Cerró la sesión de la consola.').waitFor()
  assert.equal(await page.getByLabel('Clave de API').count(), 0)
  await page.reload()
  const again = page.getByRole('button', { name: 'Volver a entrar' })
  await again.waitFor()
  await assertAccessible(page)
  await again.click()
  await alfa(page).waitFor()
})

test('says why it could not sign in, and takes a key for this tab then', async () => {
  user = 'desconocida'
  const { page } = await visit()
  await page
    .getByText('No se pudo abrir la sesión: La cuenta desconocida no puede entrar a la consola')
    .waitFor()
  assert.equal(await page.getByLabel('Recordarme en este equipo').count(), 0)
  user = undefined
  await page.getByRole('button', { name: 'Volver a entrar' }).click()
  await page
    .getByText('No se pudo abrir la sesión: la página de ingreso pide identificarse otra vez')
    .waitFor()
  await enterKey(page, service.domainKey)
  await alfa(page).waitFor()
  user = 'grupo'
})
