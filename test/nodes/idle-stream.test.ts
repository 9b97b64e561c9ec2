import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { record, stored } from '../support/domains.ts'
import { EventReader } from '../support/event-reader.ts'
import { eventually } from '../support/eventually.ts'
import { startNode } from '../support/node-process.ts'
import { startService } from '../support/service.ts'

const FAST_TIME = fileURLToPath(new URL('../support/fast-time.ts', import.meta.url))
const HEARTBEAT_S = 15
/** What a connection may be idle for, and half as much again. */
const IDLE_S = 130
const HEARTBEATS = Math.ceil((IDLE_S * 1.5) / HEARTBEAT_S)

/** Opens a stream, however often the node finds that its database took too long: to it a moment is seconds. */
async function opened(node: { readonly url: string }, api: string): Promise<EventReader> {
  let reader: EventReader | undefined
  await eventually(async () => {
    reader = await EventReader.open(node, { api }).catch(() => undefined)
    return reader !== undefined
  }, 'a stream')
  assert.ok(reader !== undefined)
  return reader
}

test('an idle stream outlives the keep-alive timeout', async () => {
  await using service = await startService()
  await using node = await startNode({
    flags: { port: '0', data: service.data, 'database-url': service.databaseUrl || undefined },
    runtimeFlags: ['--import', FAST_TIME],
  })
  process.kill(node.pid, 'SIGUSR2')
  await eventually(() => node.log().includes('time is fast'))
  await using reader = await opened(node, service.domainKey)
  // A connection on which nothing goes to and fro does not stay: the time-outs are there.
  const idle = connect(node.port, '127.0.0.1')
  idle.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(idle, 'data')
  const closed = once(idle, 'close')

  const event = reader.next()
  await eventually(() => reader.comments >= HEARTBEATS)
  await closed
  await stored(service, [record('por-fin')])
  assert.equal(Object(Object((await event)?.data).record).name, 'por-fin')
})
