import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { ImageClient, noise } from '../support/images.ts'
import { RawConnection } from '../support/raw.ts'
import { startService } from '../support/service.ts'

test('responses to a slow reader complete although the service stops', async () => {
  await using service = await startService()
  const images = new ImageClient(service.url, service.imageKey)
  const { body } = await images.upload(await noise(700, 700).png().toBuffer())
  const connection = await RawConnection.open(service)
  connection.socket.pause()
  // Some 23 MB: more than the buffers of both ends hold.
  const count = 16
  connection.send(`GET /i/${String(body['hash'])} HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(count))
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
