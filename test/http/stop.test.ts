import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { add, LIST, record } from '../support/domains.ts'
import { RawConnection } from '../support/raw.ts'
import { startService } from '../support/service.ts'

test('answers on their way to a slow reader arrive whole although the service stops', async () => {
  await using service = await startService()
  await add(
    service,
    Array.from({ length: 1_024 }, (_, i) => record(`dominio-bastante-largo-${i}`)),
  )
  const connection = await RawConnection.open(service)
  connection.socket.pause()
  // Some 20 MB: more than the buffers of both ends hold.
  const count = 100
  connection.send(`GET ${LIST}?api=${service.domainKey} HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(count))
  await once(service.app.server.server, 'request')
  const stopped = service.stop()
  connection.socket.resume()
  for (let i = 0; i < count; i++) assert.equal((await connection.reply())?.status, 200, `answer ${i}`)
  await connection.closed()
  await stopped
})

test('a connection closes with its last answer, not with its keep-alive time', async () => {
  await using service = await startService()
  const idle = await RawConnection.open(service)
  idle.send('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  assert.equal((await idle.reply())?.status, 200)
  const start = performance.now()
  await service.stop()
  await idle.closed()
  // Long before stuck connections would be cut.
  assert.ok(performance.now() - start < 6_000)
})
