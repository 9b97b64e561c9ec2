/** The audit log as a screen of administrators. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { audit as texts } from '../../console/i18n/texts/audit.ts'
import { AUDIT_ACTIONS } from '../../src/http/auth/queries.ts'
import { assertAccessible } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { call } from '../support/http.ts'

const { service, browser } = await startConsole()
const { key: admin, id } = await service.newKey('dueña', 'admin')
const { audit } = service.app.context

test('each action has a text in both languages, and each of these texts an action', () => {
  const described = Object.keys(texts).filter((key) => key.startsWith('audit.did.'))
  assert.deepEqual(
    described,
    AUDIT_ACTIONS.map((action) => `audit.did.${action}`),
  )
})

test('an administrator reads who did what, of everyone or of one account, page by page', async () => {
  for (let i = 1; i <= 100; i++)
    await audit.record({ account: 'ana', keyId: 'k7mq2x9apd' }, 'rule.update', `regla-${i}`)
  await audit.record({ account: 'cli:root', keyId: null }, 'secret.renew', 'fotos')
  const { page, context, complaints } = await browser.open(service, 'sistema', { admin })
  await page.getByRole('heading', { name: 'Sistema', level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('auditor')
  await page.getByRole('option', { name: 'Auditoría' }).click()
  const rows = page.getByRole('region', { name: 'Auditoría' }).locator('tbody tr')
  await rows.getByText('regla-100', { exact: true }).waitFor()
  assert.equal(await rows.count(), 100)
  const told = (await rows.first().locator('th, td').allInnerTexts()).slice(1)
  assert.deepEqual(told, ['cli:root', '–', 'Renovó el secreto de los enlaces', 'fotos'])
  await page.getByRole('button', { name: 'Mostrar más' }).click()
  await rows.getByText('regla-1', { exact: true }).waitFor()
  assert.equal(await rows.count(), 101)
  assert.equal(await page.getByRole('button', { name: 'Mostrar más' }).count(), 0)

  await page.getByRole('link', { name: 'cli:root' }).click()
  await page.waitForURL(/auditoria\?account=cli%3Aroot$/)
  await rows.getByText('regla-100', { exact: true }).waitFor({ state: 'detached' })
  assert.equal(await rows.count(), 1)
  const account = page.getByRole('searchbox', { name: 'Cuenta' })
  await account.fill('nadie')
  await page.getByRole('heading', { name: 'Esta cuenta no tiene entradas' }).waitFor()
  await account.fill('dueña')
  await page.getByRole('heading', { name: 'Esta cuenta no tiene entradas' }).waitFor()
  await page.waitForURL(/account=due%C3%B1a$/)
  // What is done in the console is there at the next look.
  await call(service, '/api/v1/admin/create', {
    query: { api: admin, account: 'nueva', service: 'domainwatch' },
    method: 'POST',
  })
  await page.reload()
  await rows.getByText('Creó una clave', { exact: true }).waitFor()
  assert.equal(await rows.getByText(id, { exact: true }).count(), 1)
  await page.goBack()
  await page.waitForURL(/account=cli%3Aroot$/)
  await rows.getByText('fotos', { exact: true }).waitFor()
  await assertAccessible(page)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('the screen needs a key of an administrator', async () => {
  const { page, context } = await browser.open(service, 'auditoria', { domainwatch: service.domainKey })
  await page.getByRole('heading', { name: 'administración' }).waitFor()
  assert.equal(await page.getByRole('table').count(), 0)
  await context.close()
})
