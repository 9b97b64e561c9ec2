import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { ImageClient, noise } from '../support/images.ts'
import { RawConnection } from '../support/raw.ts'
import { startService, type TestService } from '../support/service.ts'

/** Far longer than any of these tests takes. */
const TIMEOUT = { timeout: 100_000 }

/** Keeps connections that nothing closes, however long the machine takes: only the shutdown ends them. */
function keepConnections(t: TestContext, { app }: TestService): void {
  const { server } = app.server
  server.keepAliveTimeout = 0
  t.mock.method(server, 'closeAllConnections', () => {})
}

test('responses to a slow reader complete although the service stops', TIMEOUT, async (t) => {
  await using service = await startService()
  keepConnections(t, service)
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

test('a connection closes with its last answer, not with its keep-alive time', TIMEOUT, async (t) => {
  await using service = await startService()
  keepConnections(t, service)
  const idle = await RawConnection.open(service)
  idle.send('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  assert.equal((await idle.reply())?.status, 200)
  await service.stop()
  await idle.closed()
})
