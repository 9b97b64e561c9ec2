import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { EventReader } from '../support/event-reader.ts'
import { eventually } from '../support/eventually.ts'
import { call, ENCODINGS, send } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'
import {
  createWatch,
  deliveriesOf,
  onWatch,
  removeWatch,
  watch,
  WATCHES,
  getWatches,
  watchUntil,
} from '../support/watches.ts'
import { verify, WebhookReceiver } from '../support/webhook-receiver.ts'

const GONE = { status: 404, msg: 'La alerta no existe' }
const ONLY_OWNER = { status: 403, msg: 'Solo la cuenta dueña puede cambiar el destino' }
const HOUR = 3_600_000

const clock = new ManualClock(new Date().toISOString())
const service = await startService({ clock, flags: { 'webhook-networks': '127.0.0.0/8' } })
after(() => service[Symbol.asyncDispose]())
const other = (await service.newKey('otra', 'domainwatch')).key

const update = (fields: Record<string, unknown>, key?: string) => onWatch(service, 'update', fields, key)
const toShown = async (id: string) => (await getWatches(service)).find((one) => one['id'] === id)

test('given properties change, in all encodings; any filter replaces all', async () => {
  const { id } = await watch(service, { search: 'uno', length: '4', rev: '', atom: '' })
  for (const encoding of ENCODINGS) {
    const fields = { id, name: ` ${encoding} `, changes: 'all', search: encoding, dis: '' }
    const edited = await send(service, `${WATCHES}/update`, fields, {
      encoding,
      query: { api: service.domainKey },
    })
    assert.deepEqual(edited.body, { status: 200, id, secret: null, atom: null })
    const shown = await toShown(id)
    assert.deepEqual(
      [shown?.['name'], shown?.['changes'], shown?.['filters'], shown?.['atom']],
      [encoding, 'all', { search: encoding, dis: '' }, 1],
    )
  }
  await update({ id, changes: 'new' })
  assert.deepEqual((await toShown(id))?.['filters'], { search: 'json', dis: '' }, 'no filter was given')
  await update({ id, similar: 'MiBanco.cl' })
  assert.deepEqual((await toShown(id))?.['filters'], { similar: 'mibanco' })
  await update({ id, dns: 1 })
  assert.deepEqual((await toShown(id))?.['filters'], { similar: 'mibanco', dns: '1' }, 'no filter')
  await update({ id, search: 'otro' })
  assert.deepEqual((await toShown(id))?.['filters'], { search: 'otro', dns: '1' })
  await update({ id, search: '', dns: 0 })
  assert.deepEqual((await toShown(id))?.['filters'], { dns: '0' })
  await update({ id, search: '' })
  assert.deepEqual((await toShown(id))?.['filters'], { dns: '0' })
  await removeWatch(service, id)
})

test('invalid input is rejected and changes nothing', async () => {
  const { id } = await watch(service, { search: 'uno', atom: '' })
  const before = await toShown(id)
  for (const [fields, status, msg] of [
    [{ id: 'nadie', name: 'x' }, 404, GONE.msg],
    [{ id: 'a\0b', name: 'x' }, 404, GONE.msg],
    [{ name: 'x' }, 404, GONE.msg],
    [{ id, name: ' ' }, 400, 'El parámetro name debe ser un texto de 1 a 100 caracteres'],
    [{ id, name: 'nuevo', paused: '2' }, 400, 'El parámetro paused debe ser un entero entre 0 y 1'],
    [{ id, name: 'nuevo', atom: '0' }, 400, 'Falta uno de los parámetros url, to o atom'],
    [
      { id, name: 'nuevo', url: 'http://10.0.0.1/' },
      400,
      'El parámetro url debe llevar a una dirección pública',
    ],
  ] as const) {
    assert.deepEqual((await update(fields)).body, { status, msg })
  }
  assert.deepEqual(await toShown(id), before)
  await removeWatch(service, id)
})

test('a webhook is added, moved with its pending delivery, and removed; a feed too', async () => {
  using first = await WebhookReceiver.start()
  using second = await WebhookReceiver.start()
  const { id } = await watch(service, { starts: 'muda', atom: '' })
  const added = Object((await update({ id, url: first.url })).body)
  assert.match(added.secret, /^whsec_/)
  assert.equal(added.atom, null, 'the feed was there')
  first.answer = (response) => void response.writeHead(500).end()
  await stored(service, [record('muda1')])
  await first.until(1)
  await watchUntil(service, id, ({ attempts }) => attempts === 1)
  assert.deepEqual((await update({ id, url: second.url, atom: '0' })).body, {
    status: 200,
    id,
    secret: null,
    atom: null,
  })
  await second.until(1)
  const [failed, moved] = [first.received[0], second.received[0]]
  assert.ok(moved !== undefined)
  verify(added.secret, moved)
  assert.deepEqual([moved.id, moved.text], [failed?.id, failed?.text])
  assert.equal((await toShown(id))?.['atom'], 0)

  const again = Object((await update({ id, url: '', atom: '' })).body)
  assert.equal(again.secret, null)
  assert.equal((await call(service, new URL(again.atom).pathname)).status, 200)
  const shown = await toShown(id)
  assert.deepEqual([shown?.['url'], shown?.['pending'], shown?.['atom']], [null, 0, 1])
  await update({ id, atom: '0', url: first.url })
  assert.deepEqual((await call(service, new URL(again.atom).pathname)).body, GONE)
  await removeWatch(service, id)
})

test('new filters apply to later changes', async () => {
  using receiver = await WebhookReceiver.start()
  const { id } = await watch(service, { starts: 'antes', url: receiver.url })
  await stored(service, [record('antes1')])
  await receiver.until(1)
  await update({ id, starts: 'despues' })
  await stored(service, [record('antes2'), record('despues2')])
  await receiver.until(2)
  assert.deepEqual(receiver.changes, ['added antes1', 'added despues2'])
  await removeWatch(service, id)
})

test('a paused watch sends nothing, and after the pause only what was pending', async () => {
  using receiver = await WebhookReceiver.start()
  const { id, atom } = await watch(service, { starts: 'pausa', url: receiver.url, atom: '' })
  const feed = async () => (await call(service, new URL(atom).pathname)).text
  receiver.answer = (response) => void response.writeHead(500).end()
  await stored(service, [record('pausa1')])
  await receiver.until(1)
  await watchUntil(service, id, ({ attempts }) => attempts === 1)
  await eventually(async () => (await feed()).includes('pausa1'))
  receiver.answer = (response) => void response.writeHead(204).end()
  assert.equal((await update({ id, paused: 1 })).status, 200)
  assert.deepEqual([(await toShown(id))?.['paused'], (await toShown(id))?.['pending']], [1, 1])
  await using reader = await EventReader.open(service, { api: service.domainKey })
  await stored(service, [record('pausa2')])
  await reader.next()
  clock.advance(HOUR)
  assert.equal((await update({ id, paused: 0 })).status, 200)
  await stored(service, [record('pausa3')])
  await receiver.until(3)
  assert.deepEqual(receiver.changes, ['added pausa1', 'added pausa1', 'added pausa3'])
  assert.equal(receiver.received[1]?.id, receiver.received[0]?.id)
  await eventually(async () => (await feed()).includes('pausa3'))
  assert.equal((await feed()).includes('pausa2'), false)
  await removeWatch(service, id)
})

test('after a rotation both secrets sign for 24 hours, then the new one alone', async () => {
  using receiver = await WebhookReceiver.start()
  const { id, secret } = await watch(service, { starts: 'gira', url: receiver.url })
  const rotate = async () => Object((await onWatch(service, 'rotate', { id })).body)
  const tell = async (name: string) => {
    await stored(service, [record(name)])
    const count = receiver.received.length + 1
    await receiver.until(count)
    await watchUntil(service, id, ({ pending }) => pending === 0)
    const last = receiver.received[count - 1]
    assert.ok(last !== undefined)
    return last
  }
  verify(secret, await tell('gira1'))
  const rotated = await rotate()
  assert.deepEqual([rotated.status, rotated.id], [200, id])
  assert.equal(Date.parse(rotated.until_utc), clock.now() + 24 * HOUR)
  assert.match(rotated.until, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  assert.notEqual(rotated.secret, secret)
  verify([rotated.secret, secret], await tell('gira2'))
  clock.advance(24 * HOUR - 1)
  verify([rotated.secret, secret], await tell('gira3'))
  clock.advance(1)
  verify(rotated.secret, await tell('gira4'))
  const next = await rotate()
  const last = await rotate()
  verify([last.secret, next.secret], await tell('gira5'))
  const tested = await send(service, `${WATCHES}/test`, { id }, { query: { api: service.domainKey } })
  assert.equal(Object(tested.body).delivered, 1)
  const [test] = receiver.received.slice(-1)
  assert.ok(test !== undefined)
  verify([last.secret, next.secret], test)
  assert.equal(JSON.stringify(await getWatches(service)).includes('whsec_'), false)
  await removeWatch(service, id)
  const feed = await watch(service, { atom: '' })
  const none = await onWatch(service, 'rotate', { id: feed.id })
  assert.deepEqual(none.body, { status: 409, msg: 'La alerta no tiene webhook' })
  await removeWatch(service, feed.id)
})

test('the group sees shared watches only, without addresses, and edits all but what belongs to the owner', async () => {
  using receiver = await WebhookReceiver.start()
  const own = await watch(service, { search: 'secreto', url: receiver.url })
  const common = await watch(service, { search: 'comun', url: receiver.url, shared: '1' })
  await stored(service, [record('secreto'), record('comun')])
  await receiver.until(2)
  const mine = await watchUntil(service, own.id, ({ last_delivery }) => last_delivery !== null)
  const shared = await watchUntil(service, common.id, ({ last_delivery }) => last_delivery !== null)
  assert.deepEqual([mine['shared'], shared['shared']], [0, 1])
  const [destination] = Object(shared['destinations'])
  const masked = { ...shared, url: '…', destinations: [{ ...destination, to: 'webhook:…' }] }
  assert.deepEqual(await getWatches(service, other), [masked])

  const { data } = Object((await deliveriesOf(service, { id: own.id })).body)
  for (const [operation, fields] of [
    ['update', { name: 'robado' }],
    ['rotate', {}],
    ['replay', { delivery: data[0].id }],
    ['test', {}],
  ] as const)
    assert.deepEqual((await onWatch(service, operation, { id: own.id, ...fields }, other)).body, GONE)
  assert.deepEqual((await deliveriesOf(service, { id: own.id }, other)).body, GONE)
  assert.deepEqual((await removeWatch(service, own.id, other)).body, GONE)
  assert.deepEqual(
    (await getWatches(service)).find(({ id }) => id === own.id),
    mine,
  )

  const { id } = common
  assert.equal((await onWatch(service, 'update', { id, name: 'De todos' }, other)).status, 200)
  assert.equal((await watchUntil(service, id, ({ name }) => name === 'De todos'))['owner'], 'grupo')
  const listed = Object((await deliveriesOf(service, { id }, other)).body)
  const [delivery] = listed.data
  assert.equal((await onWatch(service, 'replay', { id, delivery: delivery.id }, other)).status, 200)
  await receiver.until(3)
  const tested = await onWatch(service, 'test', { id }, other)
  assert.deepEqual(Object(tested.body).data, [
    { channel: 'webhook', to: 'webhook:…', delivered: 1, code: 204, error: null },
  ])
  for (const taken of [
    { url: 'http://10.0.0.1/' },
    { url: '' },
    { to: 'discord:https://discord.com/api/webhooks/1/a' },
    { to: '' },
    { atom: '' },
    { atom: '0' },
    { shared: 0 },
    { shared: 1 },
  ])
    assert.deepEqual(
      (await onWatch(service, 'update', { id, name: 'Mía', ...taken }, other)).body,
      ONLY_OWNER,
    )
  assert.deepEqual((await onWatch(service, 'rotate', { id }, other)).body, ONLY_OWNER)
  assert.deepEqual((await removeWatch(service, id, other)).body, ONLY_OWNER)
  const edit = { id, search: 'ajena', to: '2026-12-31', paused: 1 }
  assert.equal((await onWatch(service, 'update', edit, other)).status, 200)
  const edited = await watchUntil(service, id, ({ paused }) => paused === 1)
  assert.deepEqual(
    [edited['name'], edited['filters'], edited['url'], edited['shared']],
    ['De todos', { search: 'ajena', to: '2026-12-31 23:59:59' }, receiver.url, 1],
  )
  await onWatch(service, 'test', { id })
  const [test] = receiver.received.slice(-1)
  assert.ok(test !== undefined)
  verify(common.secret, test)
  await onWatch(service, 'update', { id, shared: 0 })
  assert.deepEqual(await getWatches(service, other), [])
  assert.deepEqual((await onWatch(service, 'update', { id, name: 'x' }, other)).body, GONE)
  for (const one of [own, common]) await removeWatch(service, one.id)
})

test('a shared watch counts for the account that made it; the group shares at most 200', async () => {
  const last = (await service.newKey('última', 'domainwatch')).key
  const mine = await watch(service, { atom: '', shared: 1 })
  for (const [name, count] of Object.entries({ grupo: 49, vecina1: 50, vecina2: 50, vecina3: 50 })) {
    if (name !== 'grupo') await service.newKey(name, 'domainwatch')
    const account = `(SELECT id FROM accounts WHERE name = '${name}')`
    const rows = Array.from(
      { length: count },
      (_, i) => `('${name}${i}', ${account}, 'n', '{}', 'new', 1, 'active', 1)`,
    )
    await service.sql(
      `INSERT INTO watches (id, account_id, name, filters, changes, created_at, state, shared) VALUES ${rows.join()}`,
    )
  }
  const full = { status: 409, msg: 'El grupo ya tiene 200 alertas compartidas' }
  assert.deepEqual((await createWatch(service, { name: 'n', atom: '', shared: 1 }, last)).body, full)
  assert.equal((await getWatches(service, last)).length, 200)
  // An edit by another account does not change whose limit it counts for.
  assert.equal((await onWatch(service, 'update', { id: mine.id, name: 'x' }, last)).status, 200)
  const { id } = await watch(service, { atom: '' }, last)
  assert.deepEqual((await onWatch(service, 'update', { id, shared: 1 }, last)).body, full)
  const { body } = await createWatch(service, { name: 'n', atom: '' })
  assert.deepEqual(body, { status: 409, msg: 'La cuenta ya tiene 50 alertas' })
  await removeWatch(service, mine.id)
  const both = await Promise.all(
    [last, service.domainKey].map((key) => createWatch(service, { name: 'n', atom: '', shared: 1 }, key)),
  )
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 409],
  )
})
