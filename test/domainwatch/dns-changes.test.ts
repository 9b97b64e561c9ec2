import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ns, RCODE, soa, startScriptedDns, type Answer } from '../dns/scripted.ts'
import { DNS, EVENTS, record, stored, storedNames, update } from '../support/domains.ts'
import { EventReader } from '../support/event-reader.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { createWatch, removeWatch, watch, getWatches } from '../support/watches.ts'
import { WebhookReceiver, type Received } from '../support/webhook-receiver.ts'

/** What the DNS says now, by name. A TTL of 0 keeps the service from caching it. */
const zone = new Map<string, { ns?: readonly string[]; mx?: readonly string[] }>()
const dns = await startScriptedDns(({ name, question }): Answer => {
  const known = zone.get(name)
  if (known === undefined) return { rcode: RCODE.NXDOMAIN, authorities: [soa('cl', 0, 0)] }
  const hosts = question.type === 'NS' ? known.ns : question.type === 'MX' ? known.mx : undefined
  if (hosts === undefined || hosts.length === 0) return { authorities: [soa('cl', 0, 0)] }
  if (question.type === 'NS') return { answers: hosts.map((host) => ns(name, host, 0)) }
  const mx = { name, type: 'MX', class: 'IN', ttl: 0 }
  return { answers: hosts.map((exchange) => ({ ...mx, data: { preference: 10, exchange } })) }
})
const flags = { 'dns-servers': dns.address, 'webhook-networks': '127.0.0.0/8' }
const service = await startService({ flags })
after(async () => {
  await service[Symbol.asyncDispose]()
  await dns.stop()
})

const api = service.domainKey

/** Looks a name up, as a client of the service would. */
async function look(domain: string, types = 'mx'): Promise<void> {
  await call(service, DNS, { query: { api, domain: `${domain}.cl`, types } })
}

async function history(domain: string) {
  const { body } = await call(service, '/api/v1/domainwatch/history', { query: { api, domain } })
  const { dns: nameServers, mx } = Object(body)
  const undated = ({ first, last, ...rest }: Record<string, unknown>) => {
    assert.ok(String(first) <= String(last))
    return rest
  }
  const periods = (entries: Record<string, unknown>[]) => entries.map(undated)
  return { dns: periods(nameServers), mx: periods(mx) }
}

/** Waits until the history of a name has this many entries. @param entries without `mx` if the service may have asked for it itself */
async function observed(domain: string, entries: { dns: number; mx?: number }) {
  let found = await history(domain)
  await eventually(
    async () => {
      found = await history(domain)
      return found.dns.length === entries.dns && found.mx.length === (entries.mx ?? found.mx.length)
    },
    () => JSON.stringify(found),
  )
  return found
}

const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
const mail = (...hosts: string[]) => hosts.map((exchange) => ({ preference: 10, exchange }))
const newsIn = (data: unknown) => {
  const { event, account, before, record: shown, dns: news } = Object(data)
  return { event, account, before, name: shown.name, news }
}
const dnsEvent = (name: string, news: unknown) => ({ event: 'dns', account: null, before: null, name, news })

test('changed name servers and the first and last MX record are events, if requested', async () => {
  await stored(service, [record('novedad', { status: 0 }), record('ajeno')])
  // Another node hears of them a moment later, and would tell a reader who came before that.
  await service.caughtUp()
  await using asking = await EventReader.open(service, { api, changes: 'all,dns', status: '0' })
  await using only = await EventReader.open(service, { api, changes: 'dns', search: 'novedad' })
  await using old = await EventReader.open(service, { api })
  const steps = [
    { ns: [] },
    { ns: ['ns1.cl'] },
    { ns: ['ns1.cl'], mx: ['a.cl'] },
    { ns: ['ns1.cl'], mx: ['b.cl', 'c.cl'] },
    { ns: ['ns2.cl'], mx: ['.'] },
  ]
  const entries = [
    { dns: 1, mx: 1 },
    { dns: 2, mx: 1 },
    { dns: 2, mx: 2 },
    { dns: 2, mx: 3 },
    { dns: 3, mx: 4 },
  ]
  for (const [i, step] of steps.entries()) {
    zone.set('novedad.cl', step)
    zone.set('ajeno.cl', { ns: [`ns${i}.cl`] })
    await look('novedad')
    await look('ajeno')
    await observed('novedad', entries[i] ?? { dns: 0, mx: 0 })
  }
  await update(service, [{ domain: 'novedad', revision: 1 }])
  const expected = [
    dnsEvent('novedad', { type: 'ns', from: [], to: ['ns1.cl'] }),
    dnsEvent('novedad', { type: 'mx', from: [], to: mail('a.cl') }),
    dnsEvent('novedad', { type: 'ns', from: ['ns1.cl'], to: ['ns2.cl'] }),
    dnsEvent('novedad', { type: 'mx', from: mail('b.cl', 'c.cl'), to: mail('.') }),
  ]
  const events = (await asking.take(5)).map(({ event, data }) => {
    assert.equal(event, Object(data).event)
    return newsIn(data)
  })
  // Both types are stored independently, so the last two may come in either order.
  assert.deepEqual(events.slice(0, 4).toSorted(byText), expected.toSorted(byText))
  assert.equal(events[4]?.event, 'changed')
  const alone = (await only.take(4)).map(({ data }) => newsIn(data))
  assert.deepEqual(alone.toSorted(byText), expected.toSorted(byText))
  // The first event of a client that does not ask is the change of the record.
  assert.equal((await old.next())?.event, 'changed')
  assert.deepEqual(await history('novedad'), {
    dns: [
      { status: 200, dns: ['ns2.cl'] },
      { status: 200, dns: ['ns1.cl'] },
      { status: 200, dns: [] },
    ],
    mx: [{ mx: mail('.') }, { mx: mail('b.cl', 'c.cl') }, { mx: mail('a.cl') }, { mx: [] }],
  })
})

test('a feed of DNS changes shows each as soon as the service knows it, with a title that says what happened', async () => {
  await stored(service, [record('cartero')])
  const query = { api, format: 'atom', search: 'cartero', changes: 'dns' }
  const feed = async (changes = 'dns') => (await call(service, EVENTS, { query: { ...query, changes } })).text
  const titlesIn = (text: string) =>
    [...text.matchAll(/<entry>.*?<title>(.*?)<\/title>/gs)].map(([, title = '']) => title)
  for (const [i, mx] of [[], ['a.cl'], []].entries()) {
    zone.set('cartero.cl', { ns: [`ns${i}.cl`], mx })
    await look('cartero')
    await observed('cartero', { dns: i + 1, mx: i + 1 })
    // Another node hears of it a moment later.
    await eventually(async () => titlesIn(await feed()).length === 2 * i, `${2 * i} entries`)
  }
  assert.deepEqual(titlesIn(await feed()).toSorted(byText), [
    'cartero.cl: cambió de servidores de nombres (ns1.cl)',
    'cartero.cl: cambió de servidores de nombres (ns2.cl)',
    'cartero.cl: dejó de recibir correo',
    'cartero.cl: empezó a recibir correo (a.cl)',
  ])
  assert.equal(titlesIn(await feed('all')).length, 1)
})

test('a watch with changes=dns notifies of them only', async () => {
  using receiver = await WebhookReceiver.start()
  const names = ['vigilado', 'vecino']
  for (const name of names) zone.set(`${name}.cl`, { ns: ['ns1.cl'] })
  await storedNames(service, names)
  const { id } = await watch(service, { search: 'vigi', dns: '1', changes: 'dns', url: receiver.url })
  const shown = (await getWatches(service)).find((one) => one['id'] === id)
  assert.deepEqual([shown?.['changes'], shown?.['filters']], ['dns', { search: 'vigi', dns: '1' }])
  for (const [i, host] of ['ns1.cl', 'ns2.cl'].entries()) {
    for (const name of names) {
      zone.set(`${name}.cl`, { ns: [host] })
      await look(name, 'ns')
      await observed(name, { dns: i + 1 })
    }
    await update(service, [{ domain: 'vigilado', revision: i }])
  }
  await receiver.until(1)
  const changes = ({ body }: Received) => Object(body.data).changes
  assert.deepEqual(receiver.received.flatMap(changes).map(newsIn), [
    dnsEvent('vigilado', { type: 'ns', from: ['ns1.cl'], to: ['ns2.cl'] }),
  ])
  await removeWatch(service, id)
})

test('changes rejects unknown values', async () => {
  const { body } = await createWatch(service, { name: 'x', atom: '', changes: 'mx' })
  const msg = 'El parámetro changes debe ser uno de: new, all, dns, new,dns, all,dns'
  assert.deepEqual(body, { status: 400, msg })
  const events = await call(service, EVENTS, { query: { api, changes: 'new' } })
  assert.deepEqual(events.body, {
    status: 400,
    msg: 'El parámetro changes debe ser uno de: all, dns, all,dns',
  })
})
