import assert from 'node:assert/strict'
import { test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { startNode } from '../support/node-process.ts'
import { startService, type TestService } from '../support/service.ts'
import { confirmMail, PASSWORD, pathOfPem, startMailServer, USER, type MailServer } from '../support/smtp.ts'
import { removeWatch, watch, watchUntil } from '../support/watches.ts'

/** Runs `work` on a node with the database of `service` that sends mails to the port, and knows the test authority. */
async function withMail(
  service: TestService,
  port: number,
  password: string,
  work: (target: TestService) => Promise<void>,
) {
  const node = await startNode({
    flags: {
      port: '0',
      data: service.data,
      'database-url': service.databaseUrl || undefined,
    },
    environment: {
      NODE_EXTRA_CA_CERTS: pathOfPem('authority'),
      CATALEJO_SMTP_URL: `smtp://${USER}:${encodeURIComponent(password)}@127.0.0.1:${port}?from=avisos@example.cl`,
    },
  })
  try {
    await work(Object.create(service, { url: { value: node.url } }))
  } finally {
    await node.stop()
  }
}

/** Confirms the addresses that were asked, and forgets the mails. */
async function confirmAll(server: MailServer, count: number): Promise<void> {
  await eventually(() => server.mails.length === count)
  for (const mail of server.mails.splice(0)) await confirmMail(mail)
}

test('mails are encrypted, with text and HTML in which notes and names are escaped', async () => {
  await using server = await startMailServer('loopback')
  await using service = await startService()
  // Needs a process of its own, without a load balancer.
  assert.ok(service.app)
  await service.stop()
  await withMail(service, server.port, PASSWORD, async (target) => {
    const name = 'Marca <b> ñandú'
    const { id } = await watch(target, { name, starts: 'correo', to: 'mailto:Ana.Soto@example.cl' })
    await confirmAll(server, 1)
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
    await confirmAll(server, 1)
    server.unknown.add('nadie@example.cl')
    await stored(target, [record('correo-2')])
    const dead = await watchUntil(target, gone.id, ({ state }) => state === 'dead')
    assert.equal(dead['last_error'], 'El servidor de correo respondió 550: la dirección no existe')
    await eventually(async () => server.mails.length === 1)
    for (const one of [id, gone.id]) await removeWatch(target, one)
  })
})

test('nothing is sent without encryption, with an invalid certificate, or with a wrong password', async () => {
  await using self = await startMailServer('self-signed')
  await using server = await startMailServer('loopback')
  await using service = await startService()
  assert.ok(service.app)
  await service.stop()
  const errorAt = async (port: number, password: string) => {
    let error: unknown
    await withMail(service, port, password, async (target) => {
      const { id } = await watch(target, { starts: 'seguro', to: 'mailto:ana@example.cl' })
      const shown = await watchUntil(target, id, ({ last_error }) => last_error !== null)
      error = shown['last_error']
      await removeWatch(target, id)
    })
    return error
  }
  assert.equal(await errorAt(self.port, PASSWORD), 'No se pudo enviar el correo (ESOCKET)')
  assert.equal(await errorAt(server.port, 'otra'), 'El servidor de correo respondió 535')
  assert.deepEqual([self.mails, server.mails], [[], []])
})

test('slow recipients of one account delay no mail of another', async () => {
  await using server = await startMailServer('loopback')
  await using service = await startService()
  assert.ok(service.app)
  const { key: otherKey } = await service.newKey('otra', 'domainwatch')
  await service.stop()
  await withMail(service, server.port, PASSWORD, async (target) => {
    const slow = Array.from({ length: 9 }, (_, i) => `mailto:a${i}@lento.cl`).join(',')
    await watch(target, { starts: 'turno', to: slow })
    await watch(target, { starts: 'otro', to: 'mailto:b@example.cl' }, otherKey)
    await confirmAll(server, 10)
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
})
