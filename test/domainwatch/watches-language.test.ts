/** Watches in English: their messages, webhooks and feeds. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ns, RCODE, soa, startScriptedDns, type Answer } from '../dns/scripted.ts'
import { ChatReceiver } from '../support/chat-receiver.ts'
import { DNS, record, stored, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { deliveriesUntil, onWatch, watch } from '../support/watches.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

/** What the DNS says now of the one name. */
let zone: { ns: readonly string[]; mx: readonly string[] } = { ns: [], mx: [] }
const dns = await startScriptedDns(({ name, question }): Answer => {
  if (name !== 'words.cl') return { rcode: RCODE.NXDOMAIN, authorities: [soa('cl', 0, 0)] }
  if (question.type === 'NS') return { answers: zone.ns.map((host) => ns(name, host, 0)) }
  const mx = { name, type: 'MX', class: 'IN', ttl: 0 }
  return {
    answers: zone.mx.map((exchange) => ({ ...mx, data: { preference: 10, exchange } })),
    authorities: [soa('cl', 0, 0)],
  }
})
const service = await startService({
  flags: { 'dns-servers': dns.address, 'webhook-networks': '127.0.0.0/8' },
})
after(async () => {
  await service[Symbol.asyncDispose]()
  await dns.stop()
})

const titlesIn = (feed: string) => [...feed.matchAll(/<title>(.*?)<\/title>/g)].map(([, title = '']) => title)
const getFeed = async (address: string) => (await call(service, new URL(address).pathname)).text

/** Looks the name up and waits until the feed shows it. */
async function changesTo(next: typeof zone, feed: string, titles: number): Promise<void> {
  zone = next
  await call(service, DNS, { query: { api: service.domainKey, domain: 'words.cl', types: 'mx' } })
  await eventually(async () => titlesIn(await getFeed(feed)).length >= titles, `${titles} titles`)
}

test('changes of records and of the DNS are reported in the language of the watch', async () => {
  using receiver = await WebhookReceiver.start()
  using slack = await ChatReceiver.start(() => ({ code: 200, body: 'ok' }))
  zone = { ns: ['ns0.cl'], mx: [] }
  await stored(service, [record('words')])
  const { id, atom } = await watch(service, {
    name: 'Words',
    search: 'words',
    changes: 'all,dns',
    language: 'en',
    atom: '',
    url: receiver.url,
    to: `slack:${slack.url}/services/x`,
  })
  const query = { api: service.domainKey, domain: 'words.cl' }
  await call(service, DNS, { query: { ...query, types: 'mx' } })
  await eventually(async () => {
    const { body } = await call(service, '/api/v1/domainwatch/history', { query })
    const { dns: servers, mx } = Object(body)
    return servers.length === 1 && mx.length === 1
  }, 'the first answers')
  await update(service, [{ domain: 'words', status: 0, note: 'good', tags: ['brand'] }])
  await eventually(async () => titlesIn(await getFeed(atom)).length === 2, 'the change of the record')
  await changesTo({ ns: ['ns1.cl'], mx: [] }, atom, 3)
  await changesTo({ ns: ['ns1.cl'], mx: ['mx.cl'] }, atom, 4)
  await changesTo({ ns: ['ns1.cl'], mx: [] }, atom, 5)
  const feed = await getFeed(atom)
  assert.match(feed, /<feed xmlns="http:\/\/www\.w3\.org\/2005\/Atom" xml:lang="en">/)
  assert.deepEqual(titlesIn(feed), [
    '.cl domains: Words',
    'words.cl: no longer receives mail',
    'words.cl: began to receive mail (mx.cl)',
    'words.cl: new name servers (ns1.cl)',
    'words.cl: deleted',
  ])
  const texts = [...feed.matchAll(/<content type="text">(.*?)<\/content>/gs)].map(([, text]) => text)
  assert.equal(texts.at(-1), 'deleted · agent: grupo · note: good · tags: brand')
  const chats = () => slack.received.map(({ body }) => String(body['text'])).join('\n')
  await eventually(() => /no longer receives mail/.test(chats()), 'the last message')
  // News that come together are on one line.
  for (const phrase of [
    'deleted',
    'new name servers (ns1.cl)',
    'began to receive mail (mx.cl)',
    ' · agent: grupo · note: good · tags: brand\n',
  ])
    assert.ok(chats().includes(phrase), phrase)

  const changes = () => receiver.received.flatMap(({ body }) => Object(body.data).changes)
  await eventually(() => changes().length === 4, 'all changes in webhooks')
  // The cursor of a destination is stored after its receiver has answered.
  const sent = receiver.received.length + slack.received.length
  const isLogged = (all: readonly Record<string, unknown>[]) =>
    all.length === sent && all.every(({ state }) => state === 'delivered')
  await deliveriesUntil(service, id, isLogged)
  // Cursors of another database: what happened since is not known.
  await service.sql(`UPDATE watch_destinations SET cursor = '000000000000-1' WHERE watch_id = '${id}'`)
  await service.sql(`UPDATE watches SET feed_cursor = '000000000000-1' WHERE id = '${id}'`)
  const before = receiver.received.length
  await onWatch(service, 'update', { id, name: 'More words' })
  await receiver.until(before + 1)
  assert.equal(receiver.received[before]?.body.type, 'domains.gap')
  assert.equal(
    Object(receiver.received[before]?.body.data).msg,
    'Earlier changes may be missing: read the list again',
  )
  await eventually(async () => (await getFeed(atom)).includes('may be missing'), 'the gap in the feed')
  assert.deepEqual(titlesIn(await getFeed(atom)).slice(0, 2), [
    '.cl domains: More words',
    'Earlier changes may be missing',
  ])
  await eventually(() => /More words: changes may be missing/.test(chats()), 'the gap in the chat')

  // Changes after it are reported again.
  await stored(service, [record('crosswords')])
  await receiver.until(before + 2)
  const [next] = Object(receiver.received[before + 1]?.body.data).changes
  assert.equal(next.record.name, 'crosswords')
  await eventually(async () => (await getFeed(atom)).includes('crosswords.cl'), 'the change in the feed')
  await eventually(() => chats().includes('crosswords.cl'), 'the change in the chat')

  await onWatch(service, 'test', { id })
  await receiver.until(before + 3)
  assert.equal(Object(receiver.received[before + 2]?.body.data).msg, 'Test of the notification')
})
