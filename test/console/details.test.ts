import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ns, RCODE, startScriptedDns, type Handler } from '../dns/scripted.ts'
import { startConsole } from '../support/console.ts'
import { shownDay } from '../support/browser.ts'
import { DNS, record, stored, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { ManualClock } from '../support/service.ts'

const HISTORY = '/api/v1/domainwatch/history'
const HOUR_MS = 3_600_000
const clock = new ManualClock('2026-01-15T12:00:00Z')
const answers: Record<string, ReturnType<Handler>> = {}

const dns = await startScriptedDns(({ name }) => answers[name.toLowerCase()] ?? { rcode: RCODE.SERVFAIL })
const { service, browser } = await startConsole({ clock, flags: { 'dns-servers': dns.address } })
after(() => dns.stop())
const asked = (...servers: string[]) => {
  answers['casa.cl'] = { answers: servers.map((server) => ns('casa.cl', server, 0)) }
  return call(service, DNS, { query: { api: service.domainKey, domain: 'casa.cl' } })
}

test('the history shows author, time and values of each change, and changes of name servers', async () => {
  const { key } = await service.newKey('<i>Ana</i>', 'domainwatch')
  await stored(service, [record('casa'), record('casas')])
  clock.advance(HOUR_MS)
  await asked('a.nic.cl', 'b.nic.cl')
  // The last answer between two writes counts.
  await eventually(async () => {
    const query = { api: service.domainKey, domain: 'casa' }
    return (await call(service, HISTORY, { query })).text.includes('a.nic.cl')
  })
  clock.advance(HOUR_MS)
  await stored(service, [record('casa', { status: 0 })], { key })
  clock.advance(HOUR_MS)
  await asked('b.nic.cl', 'c.nic.cl')
  clock.advance(HOUR_MS)
  await update(service, [{ domain: 'casa', revision: 1, discarded: 1 }])

  const { page } = await browser.open(service, 'dominios?ficha=casa', {
    domainwatch: service.domainKey,
  })
  const sheet = page.getByRole('complementary', { name: 'Detalles de casa.cl' })
  const line = sheet.locator('.time-line')
  const day = shownDay('15 ene', 2026)
  // The page asked the DNS itself when it opened; what was seen is written down within a second.
  await line.getByText(`visto hasta ${day}, 13:00`).waitFor()
  const texts = (await line.getByRole('listitem').allTextContents()).map((text) =>
    // Changes use the clock of the database, not the manual one.
    text.replace(/(\d+ \w{3,4}( \d{4})?, \d\d:\d\d)(?=Revisión|Estado)/, ' NOW '),
  )
  assert.deepEqual(texts, [
    'Descartado por grupo NOW Revisión: no → sí',
    'Modificado por <i>Ana</i> NOW Estado: Inscrito → Libre',
    `Agregado por grupo NOW Estado: InscritoInscripción: ${shownDay('31 dic', 2025)}, 14:30`,
    `Servidores de nombres ${day}, 12:00 · visto hasta ${day}, 13:00Aparece c.nic.clDesaparece a.nic.cl`,
    `Servidores de nombres ${day}, 10:00Aparece a.nic.clAparece b.nic.cl`,
  ])
  // Own changes and those of others are shown immediately.
  await sheet.getByRole('button', { name: 'Restaurar' }).click()
  await line.getByText('Restaurado').waitFor()
  await page.getByText('En vivo').waitFor()
  await update(service, [{ domain: 'casa', agent: 'Otra' }], { key })
  await line.getByText('→ Otra').waitFor()
  await sheet.getByRole('link', { name: 'casas.cl' }).waitFor()
})

test('a long history shows its newest changes, and all on request', async () => {
  await stored(service, [record('vieja')])
  for (let i = 1; i <= 45; i++) await update(service, [{ domain: 'vieja', agent: `agente ${i}` }])
  const { page } = await browser.open(service, 'dominios?ficha=vieja', {
    domainwatch: service.domainKey,
  })
  const sheet = page.getByRole('complementary')
  await sheet.getByText('Ningún nombre guardado se le parece.').waitFor()
  const line = sheet.locator('.time-line')
  await line.getByText('agente 44 → agente 45').waitFor()
  assert.equal(await line.getByText('Agregado').count(), 0)
  await page.getByRole('button', { name: 'Ver todos los cambios' }).click()
  await line.getByText('Agregado').waitFor()
  await page.getByRole('button', { name: 'Ver todos los cambios' }).waitFor({ state: 'detached' })
})
