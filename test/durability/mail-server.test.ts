import assert from 'node:assert/strict'
import { test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { noExim, startExim } from '../support/exim.ts'
import { startNode } from '../support/node-process.ts'
import { startService, type TestService } from '../support/service.ts'
import { confirmMail, PASSWORD, pathOfPem, USER } from '../support/smtp.ts'
import { watch, watchUntil } from '../support/watches.ts'

test(
  'a real mail server accepts mails of watches, and rejections and outages are distinguished',
  { skip: noExim },
  async () => {
    const exim = await startExim()
    await using service = await startService()
    await service.stop()
    const node = await startNode({
      flags: { port: '0', data: service.data },
      environment: {
        NODE_EXTRA_CA_CERTS: pathOfPem('authority'),
        CATALEJO_SMTP_URL: `smtp://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${exim.port}?from=avisos@example.cl`,
      },
    })
    try {
      const target: TestService = Object.create(service, { url: { value: node.url } })
      const name = 'Ñandú <b>'
      const { id } = await watch(target, { name, starts: 'correo', to: 'mailto:ana@example.cl' })
      await eventually(async () => (await exim.mails()).length === 1)
      await confirmMail((await exim.mails())[0])
      await stored(target, [record('correo-ñandú')])
      await watchUntil(target, id, ({ last_delivery }) => last_delivery !== null)
      await eventually(async () => (await exim.mails()).length === 2)
      const mail = (await exim.mails()).find(({ subject }) => subject !== 'Confirme su dirección de correo')
      assert.equal(mail?.subject, 'Ñandú <b>: 1 nombre')
      assert.match(mail?.text ?? '', /^• correo-ñandú\.cl: nuevo · agente: grupo$/m)
      assert.match(mail?.messageId ?? '', /^<msg_[\w-]+@example\.cl>$/)
      assert.match(await exim.log(), /<= avisos@example\.cl .* P=esmtpsa X=TLS1\.[23].* A=plain:catalejo/)

      const gone = await watch(target, { starts: 'otro', to: 'mailto:nadie@example.cl' })
      await stored(target, [record('otro')])
      const dead = await watchUntil(target, gone.id, ({ state }) => state === 'dead')
      assert.equal(dead['last_error'], 'El servidor de correo respondió 550: la dirección no existe')

      await exim.stop()
      await stored(target, [record('correo-2')])
      const failed = await watchUntil(target, id, ({ attempts }) => Number(attempts) > 0)
      assert.match(
        String(failed['last_error']),
        /^(No se pudo enviar el correo \(\w+\)|El servidor de correo respondió 421)$/,
      )
    } finally {
      await node.stop()
      await exim.stop()
    }
  },
)
