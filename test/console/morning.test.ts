import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { waitForExpression, assertAccessible } from '../support/browser.ts'
import { ChatReceiver, checkNtfy } from '../support/chat-receiver.ts'
import { LIST, record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { ManualClock } from '../support/service.ts'
import { watch } from '../support/watches.ts'

/** 8:30 in Santiago, in summer. */
const clock = new ManualClock('2026-01-05T11:30:00Z')
const MINUTE_MS = 60_000
/** Names that can be decided in bulk, and those to be read one by one. */
const [NOISE, WORTHY] = [1_700, 300]
const MEMBERS = ['grupo', 'Ana', 'Beto'] as const

const ntfy = await ChatReceiver.start(checkNtfy)
const flags = {
  'dns-servers': '127.0.0.1:9',
  'webhook-networks': '127.0.0.0/8',
  'ntfy-url': ntfy.url,
}
const { service, browser } = await startConsole({ clock, flags })

after(() => ntfy[Symbol.dispose]())

interface Decided {
  readonly name: string
  readonly revision: number
  readonly discarded: number
  readonly seen: number
  readonly seen_by: string | null
}

/** All freed names, as `list` returns them page by page. */
async function freed(): Promise<readonly Decided[]> {
  const all: Decided[] = []
  for (const starts of ['ruido', 'nombre']) {
    let path = `${LIST}?api=${service.domainKey}&starts=${starts}&limit=1000&fields=seen,seen_by`
    for (;;) {
      const reply = await call(service, path)
      // Its shape is asserted by the tests of `list`.
      const { data } = reply.body as { data: readonly [readonly Decided[]] }
      all.push(...data[0])
      const [, next] = /<([^>]*)>; rel="next"/.exec(reply.headers.get('link') ?? '') ?? []
      if (next === undefined) break
      path = next.slice(service.url.length)
    }
  }
  return all
}

/** Decides on one name after the other, until none is left. Returns those that this member decided on. */
async function triage(page: Page, key: 'r' | 'd' | 'Space'): Promise<readonly string[]> {
  const decided: string[] = []
  const done = 'No queda nada por decidir'
  const nameOrDone = page.locator('.triage-name').or(page.getByRole('heading', { name: done }))
  for (;;) {
    const shown = await nameOrDone.innerText()
    if (shown === done) return decided
    await page.keyboard.press(key)
    decided.push(shown.trim().replace(/\.cl$/, ''))
    await waitForExpression(
      page,
      `document.querySelector('.triage-name')?.innerText !== ${JSON.stringify(shown)}`,
    )
  }
}

test('three members decide on 2,000 released names, each once, and the daily digest is one message', async () => {
  await watch(service, { name: 'Liberados', status: '0', to: 'ntfy:liberados', digest: '09:00' })
  const names = [
    ...Array.from({ length: NOISE }, (_, i) => `ruido-${i}`),
    ...Array.from({ length: WORTHY }, (_, i) => `nombre${i}`),
  ]
  const records = names.map((name) => record(name, { status: 0, date_reg: '2026-01-05 08:00:00' }))
  await stored(service, records, { encoding: 'json' })

  const keys = [service.domainKey]
  for (const account of MEMBERS.slice(1)) keys.push((await service.newKey(account, 'domainwatch')).key)
  const visits = await Promise.all(
    keys.map((key) => browser.open(service, 'dominios?status=0', { domainwatch: key })),
  )
  const [first] = visits
  assert.ok(first !== undefined)

  // One of them decides on the bulk together.
  await first.page.goto(`${service.url}/console/dominios?starts=ruido-`)
  await first.page.getByRole('checkbox', { name: 'Seleccionar las filas cargadas' }).check()
  await first.page.getByRole('button', { name: 'Seleccionar los 1.700' }).click()
  await first.page
    .getByRole('region', { name: /1\.700/ })
    .getByRole('button', { name: 'Descartar' })
    .click()
  await first.page.locator('.toast').filter({ hasText: '1.700 dominios descartados' }).waitFor()

  // The rest is read by all three at the same time.
  for (const { page } of visits) await page.goto(`${service.url}/console/triaje`)
  const decided = await Promise.all(
    visits.map(({ page }, i) => triage(page, (['r', 'd', 'Space'] as const)[i] ?? 'r')),
  )
  await eventually(async () => (await freed()).every(({ seen }) => seen === 1), 'the last decision')
  const all = await freed()
  assert.equal(all.length, NOISE + WORTHY)

  // Nobody was shown a name that another decided on.
  assert.deepEqual(decided.flat().toSorted(), names.slice(NOISE).toSorted())
  for (const [i, account] of MEMBERS.entries()) {
    const own = all.filter(({ name, seen_by }) => seen_by === account && name.startsWith('nombre'))
    assert.deepEqual(own.map(({ name }) => name).toSorted(), decided[i]?.toSorted(), account)
    assert.ok(own.length > 0, account)
    const marks = own.map(({ revision, discarded }) => `${revision}${discarded}`)
    assert.deepEqual([...new Set(marks)], [['10', '01', '00'][i]], account)
  }
  assert.ok(all.every(({ name, discarded }) => !name.startsWith('ruido') || discarded === 1))

  assert.equal(ntfy.received.length, 0, 'nothing before the hour of the digest')
  clock.advance(31 * MINUTE_MS)
  await eventually(() => ntfy.received.length > 0, 'the digest')
  const [digest] = ntfy.received
  assert.equal(digest?.body['topic'], 'liberados')
  assert.match(String(digest?.body['title']), /^Liberados: 2\.?000 nombres$/)
  await assertAccessible(first.page)
  for (const { complaints, context } of visits) {
    assert.deepEqual(complaints, [])
    await context.close()
  }
})
