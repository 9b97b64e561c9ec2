import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { ManualClock, startService } from '../support/service.ts'
import { confirmationLink, confirmMail, mailFlags, startMailServer } from '../support/smtp.ts'
import { onWatch, removeWatch, watch, getWatches, watchUntil } from '../support/watches.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** An address that confirmed. */
const WITNESS = 'testigo@example.cl'
const UNCONFIRMED = 'La dirección está por confirmar: falta abrir el enlace que se le envió'

const clock = new ManualClock(new Date().toISOString())
const server = await startMailServer('loopback', true)
const service = await startService({ clock, flags: mailFlags(server) })
const other = (await service.newKey('otra', 'domainwatch')).key
const { id } = await watch(service, { starts: 'x', to: `mailto:${WITNESS}` })
await eventually(() => server.mails.length === 1)
await confirmMail(server.mails[0])
await removeWatch(service, id)
after(async () => {
  await service[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const getConfirmed = async (id: string, key?: string) => {
  const shown = (await getWatches(service, key)).find((one) => one['id'] === id)
  return Object(shown?.['destinations'])[0]?.confirmed
}
const mailsTo = (address: string) =>
  server.mails.filter(({ to }) => to !== undefined && 'text' in to && to.text.toLowerCase() === address)
/** Waits for as many mails to an address. */
const mailed = async (address: string, count: number) => {
  await eventually(
    () => mailsTo(address).length >= count,
    () => `${mailsTo(address).length} mails to ${address}`,
  )
  assert.equal(mailsTo(address).length, count)
  return mailsTo(address)
}
/** Waits until all that was written was mailed, as far as it may be: another address gets a mail of this name. */
async function mailWitness(name: string): Promise<void> {
  const { id } = await watch(service, { starts: name, to: `mailto:${WITNESS}` })
  await stored(service, [record(name)])
  await eventually(() => mailsTo(WITNESS).some(({ text }) => text?.includes(`${name}.cl`) === true))
  await removeWatch(service, id)
}
/** Records mails that an account sent a moment ago. */
async function plantMails(account: string, count: number, address: (i: number) => string): Promise<void> {
  const id = `(SELECT id FROM accounts WHERE name = '${account}')`
  const rows = Array.from(
    { length: count },
    (_, i) => `('${account}${i}', ${id}, '${address(i)}', ${clock.now() - i})`,
  )
  await service.sql(`INSERT INTO sent_mails (id, account_id, address, at) VALUES ${rows.join(', ')}`)
}

test('a new address gets one message with a link, and nothing else until its reader confirms by the page', async () => {
  const name = 'No <b>mirar</b>'
  const { id } = await watch(service, { name, starts: 'nueva', to: 'mailto:Ana@example.cl' })
  await mailed('ana@example.cl', 1)
  const [mail] = mailsTo('ana@example.cl')
  const link = confirmationLink(mail)
  assert.ok(link.startsWith(`${service.url}/w/confirmar/`))
  assert.equal(mail?.subject, 'Confirme su dirección de correo')
  assert.equal(
    mail.text,
    'Confirme su dirección de correo\nUn miembro de un grupo que usa Catalejo pidió enviar a esta dirección avisos de ' +
      'dominios .cl. Si los quiere recibir, abra el enlace y confirme. Si no, no haga nada: no recibirá ninguno.\n' +
      `Confirmar: ${link}\n`,
  )
  assert.ok(String(mail.html).includes(`<a href="${link}">Confirmar</a>`))

  const again = await watch(service, { starts: 'nueva', to: 'mailto:ana@EXAMPLE.cl' })
  const theirs = await watch(service, { starts: 'nueva', to: 'mailto:ana@example.cl' }, other)
  await removeWatch(service, again.id)
  const { body } = await onWatch(service, 'test', { id })
  assert.deepEqual(Object(body).data, [
    { channel: 'mailto', to: 'mailto:Ana@example.cl', delivered: 0, code: null, error: UNCONFIRMED },
  ])
  await stored(service, [record('nueva1')])
  await mailWitness('tras-nueva')
  // Programs that check mails open the links in them.
  for (const method of ['GET', 'HEAD', 'GET']) assert.equal((await fetch(link, { method })).status, 200)
  assert.deepEqual([await getConfirmed(id), await getConfirmed(theirs.id, other)], [0, 0])
  await mailWitness('otra-vez')
  await mailed('ana@example.cl', 1)

  const page = await fetch(link)
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.equal(page.headers.get('cache-control'), 'no-store')
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  assert.match(
    page.headers.get('content-security-policy') ?? '',
    /default-src 'none'.*frame-ancestors 'none'/,
  )
  const html = await page.text()
  assert.match(html, /<html lang="es">/)
  assert.match(html, /ana@example\.cl/)
  assert.match(html, /<form method="post"><button>Confirmar<\/button><\/form>/)
  for (let i = 0; i < 2; i++) {
    const confirmed = await fetch(link, { method: 'POST', body: new URLSearchParams() })
    assert.equal(confirmed.status, 200)
    assert.match(await confirmed.text(), /Dirección confirmada/)
  }
  // Each watch reports now, once, what happened meanwhile.
  await mailed('ana@example.cl', 3)
  for (const one of mailsTo('ana@example.cl').slice(1)) assert.match(one.text ?? '', /nueva1\.cl/)
  assert.deepEqual([await getConfirmed(id), await getConfirmed(theirs.id, other)], [1, 1])
  const more = await watch(service, { starts: 'confirmada', to: 'mailto:ANA@example.cl' })
  await stored(service, [record('confirmada')])
  await mailed('ana@example.cl', 4)
  for (const one of [id, more.id]) await removeWatch(service, one)
  await removeWatch(service, theirs.id, other)
  assert.equal(JSON.stringify(await service.log()).includes(link.split('/').at(-1) ?? link), false)
})

test('a link works for a week; then adding the address or testing it sends another, which is the only one that works', async () => {
  const { id } = await watch(service, { starts: 'plazo', to: 'mailto:luis@example.cl' })
  await mailed('luis@example.cl', 1)
  const first = confirmationLink(mailsTo('luis@example.cl')[0])
  clock.advance(7 * DAY - 1)
  assert.equal((await fetch(first)).status, 200)
  const add = () => watch(service, { starts: 'plazo', to: 'mailto:luis@example.cl' }, other)
  await add()
  await mailWitness('antes-del-plazo')
  await mailed('luis@example.cl', 1)
  clock.advance(1)
  assert.equal((await fetch(first)).status, 404)
  assert.equal((await fetch(first, { method: 'POST' })).status, 404)
  await mailWitness('tras-el-plazo')
  await mailed('luis@example.cl', 1)
  await add()
  await mailed('luis@example.cl', 2)
  await mailWitness('con-el-segundo')
  clock.advance(7 * DAY)
  assert.equal(Object((await onWatch(service, 'test', { id })).body).error, UNCONFIRMED)
  await mailed('luis@example.cl', 3)
  const links = mailsTo('luis@example.cl').map(confirmationLink)
  assert.equal(new Set(links).size, 3)
  for (const [i, link] of links.entries())
    assert.equal((await fetch(link, { method: 'POST' })).status, i === 2 ? 200 : 404)
  assert.equal(await getConfirmed(id), 1)
  for (const unknown of [`${links[2]}x`, `${service.url}/w/confirmar/`, `${service.url}/w/confirmar/%00`]) {
    const reply = await fetch(unknown, { method: 'POST' })
    assert.equal(reply.status, 404, unknown)
  }
  await removeWatch(service, id)
  for (const one of await getWatches(service, other)) await removeWatch(service, String(one['id']), other)
})

test('an address that does not exist is given up, and asked again when it is added again', async () => {
  server.unknown.add('nadie@example.cl')
  const { id } = await watch(service, { starts: 'nadie', to: 'mailto:nadie@example.cl' })
  const dead = await watchUntil(service, id, ({ state }) => state === 'dead')
  assert.deepEqual(
    [await getConfirmed(id), dead['last_error']],
    [0, 'El servidor de correo respondió 550: la dirección no existe'],
  )
  server.unknown.clear()
  await onWatch(service, 'update', { id, to: '', atom: '' })
  await onWatch(service, 'update', { id, to: 'mailto:nadie@example.cl' })
  await mailed('nadie@example.cl', 1)
  const shown = await watchUntil(service, id, ({ last_error }) => last_error === null)
  assert.deepEqual([shown['state'], await getConfirmed(id)], ['active', 0])
  await removeWatch(service, id)
})

test('50 mails a day reach an address, tests included; later news waits and comes together', async () => {
  const add = async (key?: string) =>
    (await watch(service, { starts: 'alud', to: 'mailto:eva@example.cl' }, key)).id
  const first = await add()
  await mailed('eva@example.cl', 1)
  await confirmMail(mailsTo('eva@example.cl')[0])
  await plantMails('grupo', 47, () => 'eva@example.cl')
  const second = await add()
  await stored(service, [record('alud1')])
  await mailed('eva@example.cl', 3)
  const third = await add(other)
  const full = 'La dirección ya recibió 50 mensajes en un día'
  const { body } = await onWatch(service, 'test', { id: first })
  assert.deepEqual([Object(body).delivered, Object(body).error], [0, full])
  for (const name of ['alud2', 'alud3']) {
    await stored(service, [record(name)])
    await mailWitness(`tras-${name}`)
  }
  const held = await watchUntil(service, second, ({ last_error }) => last_error === full)
  assert.deepEqual([held['state'], held['attempts'], held['pending']], ['active', 0, 1])
  await mailed('eva@example.cl', 3)
  clock.advance(Date.parse(String(held['next_attempt'])) - clock.now())
  await eventually(() => mailsTo('eva@example.cl').length > 3)
  for (const id of [first, second]) await removeWatch(service, id)
  await removeWatch(service, third, other)
})

test('an account sends 500 mails a day', async () => {
  // What the tests before left in flight counts for their accounts.
  const { key } = await service.newKey('mucha', 'domainwatch')
  await plantMails('mucha', 499, (i) => `a${i}@example.cl`)
  const { id } = await watch(service, { starts: 'muchos', to: 'mailto:ema@example.cl' }, key)
  await mailed('ema@example.cl', 1)
  await confirmMail(mailsTo('ema@example.cl')[0])
  const { body } = await onWatch(service, 'test', { id }, key)
  assert.equal(Object(body).error, 'La cuenta ya envió 500 correos en un día')
  // Another account may still send.
  const theirs = await watch(service, { starts: 'muchos', to: 'mailto:ema@example.cl' }, other)
  assert.equal(Object((await onWatch(service, 'test', { id: theirs.id }, other)).body).delivered, 1)
  clock.advance(DAY)
  assert.equal(Object((await onWatch(service, 'test', { id }, key)).body).delivered, 1)
  await removeWatch(service, id, key)
  await removeWatch(service, theirs.id, other)
})
