/** The words of names, and campaigns: names that share words or other things, and were registered together. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startConsole } from '../support/console.ts'
import { record, stored } from '../support/domains.ts'
import { assertAccessible, resultCount, openScreen, showsTexts, showsCount } from '../support/browser.ts'
import { seenWith } from '../support/campaigns.ts'

const { service, browser } = await startConsole()

const registered = (names: readonly string[], day: string) =>
  stored(
    service,
    names.map((name, i) => record(name, { date_reg: `2025-03-${day} 1${i}:00:00` })),
  )

test('campaigns say what their names share, and open them in the table', async () => {
  const { page } = await browser.open(service, '', { domainwatch: service.domainKey })
  await openScreen(page, 'Campañas')
  await page.getByRole('heading', { name: 'No se encontraron campañas' }).waitFor()

  await registered(['pago-xkq1', 'cuenta-xkq2', 'acceso-xkq33', 'clave-xkq4'], '03')
  await registered(['jirafa-azul', 'jirafa-roja', 'casajirafa', 'jirafa'], '05')
  const siblings = ['ghjkl', 'lmnpq', 'rstvw', 'uvwxk', 'zxcvb', 'qwrtp', 'fghjk', 'dfghj', 'bvcxz']
  await registered(siblings, '07')
  await seenWith(service, 'ns1.malo.example', siblings)
  await page.reload()
  const groups = page.locator('.watch')
  await showsCount(groups, 3)
  const shown = (await groups.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))
  const said = [
    /^ns1\.malo\.example Servidor de nombres .* 9 nombres · 7 mar 2025, 10:00 – 7 mar 2025, 18:00 ghjkl\.cl .* y 1 más$/,
    /^jirafa Palabra .* 4 nombres · .* jirafa-azul\.cl jirafa-roja\.cl casajirafa\.cl jirafa\.cl$/,
    /^\*-xkq# Forma de escribirse .* 4 nombres · /,
  ]
  assert.equal(shown.length, said.length)
  for (const [i, pattern] of said.entries()) assert.match(shown[i] ?? '', pattern)
  await assertAccessible(page)
  await page.setViewportSize({ width: 1280, height: 800 })

  const rows = page.getByRole('row').filter({ has: page.locator('.cell-name') })
  await page.getByRole('link', { name: 'Abrir los 9 nombres ns1.malo.example' }).click()
  await page.waitForURL(/dominios\?.*ns=ns1\.malo\.example/)
  await resultCount(page, '9 dominios').waitFor()
  await showsCount(rows, 9)
  await page.goBack()
  await page.getByRole('link', { name: 'Abrir los 4 nombres jirafa' }).click()
  await resultCount(page, '4 dominios').waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'Abrir los de esta forma *-xkq#' }).click()
  await page.waitForURL(/pattern=\*-xkq\*/)
  await resultCount(page, '4 dominios').waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'clave-xkq4.cl' }).click()
  await page.getByRole('complementary', { name: 'Detalles de clave-xkq4.cl' }).waitFor()

  await page.goBack()
  await page.getByLabel('Inscrito desde').fill('2025-03-05')
  await page.waitForURL(/campanas\?from=2025-03-05$/)
  await showsCount(groups, 2)
  await page.getByLabel('Inscrito hasta').fill('2025-03-01')
  await page.getByRole('alert').getByText('debe ser anterior o igual').waitFor()
  await page.getByRole('button', { name: '¿Cómo funciona?' }).click()
  await page.getByRole('dialog').getByText('Reúne los nombres que alguien inscribió juntos').waitFor()
})

test('the words of a name are coloured, and a click filters by a word', async () => {
  await stored(
    service,
    ['casa', 'casaverde', 'xqzw'].map((name) => record(name)),
  )
  const { page } = await browser.open(service, 'dominios?from=2025-12-01', { domainwatch: service.domainKey })
  const names = page.getByRole('grid', { name: 'Dominios' }).locator('.domain')
  await names.filter({ hasText: 'casaverde' }).waitFor()
  await showsTexts(page.locator('.second-word'), ['verde'])

  await page.getByRole('button', { name: 'Una palabra' }).click()
  await showsTexts(names, ['casa.cl'])
  await page.getByRole('button', { name: 'Una palabra', pressed: true }).waitFor()

  await page.getByRole('button', { name: 'Una palabra' }).click()
  await names.filter({ hasText: 'xqzw' }).waitFor()
})
