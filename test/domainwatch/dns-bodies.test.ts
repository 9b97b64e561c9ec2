/** Bodies of bulk `dns` calls are parsed in threads, where senders take turns: without a key nobody holds the event loop. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { postFrom } from '../support/senders.ts'
import { startService } from '../support/service.ts'

const DNS = '/api/v1/domainwatch/dns'
const JSON_BODY = { 'content-type': 'application/json' }
const SENDERS = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']

const service = await startService()
after(() => service[Symbol.asyncDispose]())

test('bodies without a key wait for a thread', { timeout: 300_000 }, async () => {
  const body = `{"data":[${'[],'.repeat(340_000)}[]]}`
  let isSeen = false
  const send = async (from: string) => {
    while (!isSeen) {
      const { status } = await postFrom(`${service.url}${DNS}`, { from, headers: JSON_BODY, body })
      assert.equal(status, 401)
    }
  }
  const look = async () => {
    while (!isSeen) {
      const metrics = await (await fetch(`${service.url}/metrics`)).text()
      isSeen = Number(/^catalejo_tasks_waiting (\d+)/m.exec(metrics)?.[1]) > 0
    }
  }
  await Promise.all([look(), ...[...SENDERS, ...SENDERS, ...SENDERS].map(send)])
})

test('an extremely deeply nested name is an invalid name', async () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000)
  const { status } = await postFrom(`${service.url}${DNS}?api=${service.domainKey}`, {
    from: '127.0.0.2',
    headers: JSON_BODY,
    body: `{"data":[${deep},"nic.cl"]}`,
  })
  assert.equal(status, 400)
})
