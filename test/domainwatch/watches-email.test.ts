/** Mails and webhooks over TLS, and who gets mails in turn. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/service.ts'
import { confirmMail, PASSWORD, pathOfPem, startMailServer, USER } from '../support/smtp.ts'
import { onWatch, removeWatch, watch, watchUntil } from '../support/watches.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

const KNOWN = getCACertificates('default')
const AUTHORITY = await readFile(pathOfPem('authority'), 'utf8')

const server = await startMailServer('loopback')
/** The flags of a service that sends mails to a port, encrypted. */
const mailsTo = (port: number, password = PASSWORD) => ({
  'smtp-url': `smtp://${USER}:${encodeURIComponent(password)}@127.0.0.1:${port}?from=avisos@example.cl`,
})
const target = await startService({ flags: { ...mailsTo(server.port), 'webhook-networks': '127.0.0.0/8' } })
setDefaultCACertificates([...KNOWN, AUTHORITY])
after(async () => {
  setDefaultCACertificates(KNOWN)
  await target[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

/** Confirms the addresses that were asked, and forgets the mails. */
async function confirmAll(count: number): Promise<void> {
  await eventually(() => server.mails.length === count)
  for (const mail of server.mails.splice(0)) await confirmMail(mail)
}

test('mails are encrypted, with text and HTML in which notes and names are escaped', async () => {
  const name = 'Marca <b> ñandú'
  const { id } = await watch(target, { name, starts: 'correo', to: 'mailto:Ana.Soto@example.cl' })
  await confirmAll(1)
  await stored(target, [{ ...record('correo-1'), agent: '<script>&' }])
  await eventually(async () => server.mails.length === 1)
  const [mail] = server.mails
  assert.ok(mail !== undefined)
  assert.equal(mail.subject, 'Marca <b> ñandú: 1 nombre')
  assert.deepEqual(mail.from?.value, [{ name: 'Catalejo', address: 'avisos@example.cl' }])
  assert.deepEqual(mail.to && 'value' in mail.to ? mail.to.value : [], [
    { name: '', address: 'Ana.Soto@example.cl' },
  ])
  assert.match(mail.messageId ?? '', /^<msg_[\w-]+@example\.cl>$/)
  assert.equal(mail.headers.get('auto-submitted'), 'auto-generated')
  const link = `${target.url}/console/dominios`
  assert.equal(
    mail.text,
    `Marca <b> ñandú: 1 nombre\n• correo-1.cl: nuevo · agente: <script>&\n` +
      `Abrir en Catalejo: ${link}?starts=correo\n\n-- \n` +
      'Catalejo envía este mensaje por la alerta «Marca <b> ñandú».\n',
  )
  assert.ok(typeof mail.html === 'string')
  assert.ok(mail.html.includes(`<a href="${link}?ficha=correo-1"><b>correo-1.cl</b></a>: nuevo`))
  assert.ok(mail.html.includes('agente: &lt;script&gt;&amp;'))
  assert.doesNotMatch(mail.html, /<script/)
  await watchUntil(target, id, ({ pending }) => pending === 0)

  // A mailbox that does not exist any more is given up.
  server.mails.splice(0)
  const gone = await watch(target, { starts: 'correo', to: 'mailto:nadie@example.cl' })
  await confirmAll(1)
  server.unknown.add('nadie@example.cl')
  await stored(target, [record('correo-2')])
  const dead = await watchUntil(target, gone.id, ({ state }) => state === 'dead')
  assert.equal(dead['last_error'], 'El servidor de correo respondió 550: la dirección no existe')
  await eventually(async () => server.mails.length === 1)
  for (const one of [id, gone.id]) await removeWatch(target, one)
  server.mails.splice(0)
})

test('nothing is sent with an invalid certificate, or with a wrong password', async () => {
  await using self = await startMailServer('self-signed')
  const errorAt = async (port: number, password?: string) => {
    await using service = await startService({ flags: mailsTo(port, password) })
    const { id } = await watch(service, { starts: 'seguro', to: 'mailto:ana@example.cl' })
    return (await watchUntil(service, id, ({ last_error }) => last_error !== null))['last_error']
  }
  assert.equal(await errorAt(self.port), 'No se pudo enviar el correo (ESOCKET)')
  assert.equal(await errorAt(server.port, 'otra'), 'El servidor de correo respondió 535')
  assert.deepEqual([self.mails, server.mails], [[], []])
})

test('slow recipients of one account delay no mail of another', async () => {
  const { key: otherKey } = await target.newKey('otra', 'domainwatch')
  const slow = Array.from({ length: 9 }, (_, i) => `mailto:a${i}@lento.cl`).join(',')
  await watch(target, { starts: 'turno', to: slow })
  await watch(target, { starts: 'otro', to: 'mailto:b@example.cl' }, otherKey)
  await confirmAll(10)
  server.slowDomain = 'lento.cl'
  await stored(target, [record('turno1')])
  await eventually(async () => server.held.length === 4)
  await stored(target, [record('otro1')])
  await eventually(async () => server.mails.length === 1)
  assert.match(server.mails[0]?.text ?? '', /otro1\.cl/)
  server.slowDomain = ''
  for (const answer of server.held) answer()
  await eventually(async () => server.mails.length === 10)
})

test('webhooks are sent only to servers with a certificate of a known authority', async (t) => {
  // A receiver would send a certificate of the authority that it knows.
  setDefaultCACertificates(KNOWN)
  const certificates = await Promise.all(
    ['loopback', 'self-signed', 'elsewhere'].map((name) => readFile(pathOfPem(name))),
  )
  const receivers = await Promise.all(certificates.map((pem) => WebhookReceiver.start(pem)))
  t.after(() => receivers.forEach((receiver) => receiver[Symbol.dispose]()))
  /** The outcome of a test to each. */
  const outcomes = async () => {
    const results = []
    for (const { url } of receivers) {
      const { id } = await watch(target, { url })
      const { delivered, error } = Object((await onWatch(target, 'test', { id })).body)
      results.push([delivered, error])
    }
    return results
  }
  const refused = (code: string) => [0, `No se pudo conectar con el receptor (${code})`]
  const arrived = () => receivers.map(({ received }) => received.length)
  assert.deepEqual(await outcomes(), [
    refused('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    refused('DEPTH_ZERO_SELF_SIGNED_CERT'),
    refused('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
  ])
  assert.deepEqual(arrived(), [0, 0, 0])
  setDefaultCACertificates([...KNOWN, AUTHORITY])
  assert.deepEqual(await outcomes(), [
    [1, null],
    refused('DEPTH_ZERO_SELF_SIGNED_CERT'),
    refused('ERR_TLS_CERT_ALTNAME_INVALID'),
  ])
  assert.deepEqual(arrived(), [1, 0, 0])
})
