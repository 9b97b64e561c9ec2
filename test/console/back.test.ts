import assert from 'node:assert/strict'
import { test } from 'node:test'
import { domainRow } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { record, stored } from '../support/domains.ts'

const { service, browser } = await startConsole()
await stored(service, [record('casa'), record('casona', { status: 0 }), record('perro', { status: 0 })])

test('Back undoes one change of the filters at a time, and all that was typed in a field together', async () => {
  const { page, context, complaints } = await browser.open(service, '', { domainwatch: service.domainKey })
  const queryIs = (query: string) =>
    page.waitForURL((url) => url.pathname + url.search === `/console/${query}`)
  await page.getByRole('navigation').getByRole('link', { name: 'Dominios', exact: true }).click()
  await domainRow(page, 'perro').waitFor()
  await page.getByRole('button', { name: /^Libre/ }).click()
  await queryIs('dominios?status=0')
  await page.getByRole('searchbox').press('End')
  await page.getByRole('searchbox').pressSequentially(' casa')
  await queryIs('dominios?search=casa&status=0')
  await page.getByRole('button', { name: /^Libre/ }).click()
  await queryIs('dominios?search=casa')
  await domainRow(page, 'casa').waitFor()

  await page.goBack()
  await queryIs('dominios?search=casa&status=0')
  await page.getByText('Ningún dominio coincide').waitFor()
  await page.goBack()
  await queryIs('dominios?status=0')
  await domainRow(page, 'casona').waitFor()
  assert.equal(await page.getByRole('searchbox').inputValue(), 'estado:libre')
  await page.goBack()
  await queryIs('dominios')
  await domainRow(page, 'casa').waitFor()
  await page.goBack()
  await queryIs('')
  assert.deepEqual(complaints, [])
  await context.close()
})
