import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityViolations, startBrowser } from '../support/browser.ts'
import { record, stored, update } from '../support/domains.ts'
import { call } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'

const DAY = 86_400_000

test('dismissed names are searched and forgotten; one that came back says who discarded it', async () => {
  const clock = new ManualClock(new Date().toISOString())
  await using service = await startService({ clock })
  const { key: ana } = await service.newKey('Ana', 'domainwatch')
  const domains = ['casa', 'casona', 'perro']
  await stored(
    service,
    domains.map((name) => record(name, { status: 0 })),
  )
  await update(
    service,
    domains.map((domain) => ({ domain, discarded: 1 })),
    { key: ana },
  )
  clock.advance(7 * DAY)
  // Any write removes what has expired.
  await stored(service, [record('perro', { status: 0 })])
  await using browser = await startBrowser()
  const { page, context, complaints } = await browser.open(service, 'descartados', {
    domainwatch: service.domainKey,
  })
  const rows = page.getByRole('region', { name: 'Descartados' }).locator('tbody tr')
  await rows.filter({ hasText: 'casona.cl' }).getByText('Ana').waitFor()
  assert.equal(await rows.count(), 2)
  await page.getByRole('searchbox', { name: 'Buscar en los descartados' }).fill('cason')
  await rows.filter({ hasText: 'casa.cl' }).waitFor({ state: 'detached' })
  await page.waitForURL(/descartados\?search=cason$/)
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.getByRole('button', { name: 'Olvidar casona.cl' }).click()
  await page.getByText('Ningún nombre descartado coincide').waitFor()
  const { body } = await call(service, '/api/v1/domainwatch/dismissed', { query: { api: ana } })
  assert.deepEqual(
    Object(body).data.map(({ name }: { name: string }) => name),
    ['casa'],
  )
  await context.close()

  for (const path of ['dominios?ficha=perro', 'triaje']) {
    const { page: other, context: its } = await browser.open(service, path, {
      domainwatch: service.domainKey,
    })
    await other.getByText('Descartado antes por Ana').waitFor()
    await its.close()
  }
  assert.deepEqual(complaints, [])
})
